"""What the commands of the documentation find in their folder: a generated clip, masks, and tiny datasets."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from safetensors.torch import save_file

from mobilevos.media.masks import write_mask
from mobilevos.media.video import VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.model.backbones import MobileNetV2, resnet18
from mobilevos.synthetic.clip import synthetic_clip
from tests.model.test_backbones import with_batchnorm

WIDTH, HEIGHT, FRAMES = 480, 272, 10
RATE = 24
HELD_OUT = ("bmx-bumps", "dance-jump", "elephant", "horsejump-low", "mallard-fly", "scooter-gray")
"""The clips that the recipes in recipes/cpu leave out of training."""


def make_material(folder: Path) -> None:
    frames, ids = synthetic_clip(frames=FRAMES, height=HEIGHT, width=WIDTH, objects=3)
    one = (ids == 1).astype(np.uint8)
    write_clip(folder / "frames", folder / "masks", frames, one)
    write_mask(folder / "mask.png", one[0])
    write_mask(folder / "better.png", one[5])
    for name in ("clip.mp4", "a.mp4", "b.mp4"):
        write_video(folder / name, frames)

    small, labels = synthetic_clip(frames=6, height=96, width=160, objects=2, seed=1)
    single = (labels == 1).astype(np.uint8)
    write_clip(folder / "other-frames", folder / "other-masks", small, single)
    for name in ("photos", "DATA/duts", "DATA/ecssd", "DATA/voc-objects"):
        write_clip(folder / name / "images", folder / name / "masks", small, single)
    write_davis(folder / "DATA/davis-2016-train", {"train-clip": single}, small)
    write_davis(folder / "DATA/davis-2016-train", dict.fromkeys(HELD_OUT, single[:3]), small[:3])
    (folder / "DATA/held-out.txt").write_text("bmx-bumps\n")
    write_davis(folder / "DAVIS", {"swim": labels}, small, {"2016/val": "swim", "2017/val": "swim"})
    write_davis(folder / "my-data", {"first": single, "second": single}, small, {"train": "first", "val": "second"})
    write_youtube(folder / "YouTubeVOS/valid", small, labels[:1])
    write_youtube(folder / "YouTubeVOS/train", small, labels)
    (folder / "held-out.txt").write_text("swim\n")
    (folder / "seen.txt").write_text("fish\n")

    (folder / "WEIGHTS").mkdir()
    save_file(with_batchnorm(MobileNetV2()), folder / "WEIGHTS/mobilenet_v2.imagenet.features0-13.safetensors")
    save_file(with_batchnorm(resnet18()), folder / "WEIGHTS/resnet18.imagenet.to-layer3.safetensors")


def write_clip(pictures: Path, masks: Path, frames: np.ndarray, ids: np.ndarray) -> None:
    """frames (T, H, W, 3) and ids (T, H, W) as files 00000.jpg and 00000.png."""
    pictures.mkdir(parents=True)
    masks.mkdir(parents=True, exist_ok=True)
    for index, frame in enumerate(frames):
        cv2.imwrite(str(pictures / f"{index:05d}.jpg"), frame[..., ::-1])
    for index, mask in enumerate(ids):
        write_mask(masks / f"{index:05d}.png", mask)


def write_video(path: Path, frames: np.ndarray) -> None:
    info = VideoInfo(frames.shape[2], frames.shape[1], Fraction(RATE), Fraction(1, RATE), len(frames))
    with VideoWriter(path, info) as writer:
        for index, frame in enumerate(frames):
            writer.write(frame, Fraction(index, RATE))


def write_davis(
    root: Path, clips: dict[str, np.ndarray], frames: np.ndarray, splits: dict[str, str] | None = None
) -> None:
    for name, ids in clips.items():
        write_clip(root / "JPEGImages/480p" / name, root / "Annotations/480p" / name, frames, ids)
    for split, content in (splits or {}).items():
        path = root / "ImageSets" / f"{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")


def write_youtube(root: Path, frames: np.ndarray, ids: np.ndarray) -> None:
    """One clip with a fish and a turtle; where only the first mask is there, the rest is hidden."""
    write_clip(root / "JPEGImages/swim", root / "Annotations/swim", frames, ids)
    listed = [f"{index:05d}" for index in range(len(frames))]
    objects = {str(i): {"category": name, "frames": listed} for i, name in ((1, "fish"), (2, "turtle"))}
    (root / "meta.json").write_text(json.dumps({"videos": {"swim": {"objects": objects}}}))
