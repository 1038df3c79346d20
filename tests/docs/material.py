"""What the commands of the documentation find in their folder: a generated clip, masks, and tiny datasets."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from safetensors.torch import save_file

from mobilevos.media.video import VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.model.backbones import MobileNetV2, resnet18
from mobilevos.synthetic.clip import synthetic_clip
from tests.builders.davis import write_davis
from tests.builders.photos import write_photos
from tests.builders.pictures import write_frames, write_labels, write_masks
from tests.builders.youtube import objects_of, write_youtube
from tests.model.test_backbones import with_batchnorm

WIDTH, HEIGHT, FRAMES = 480, 272, 10
HELD_OUT = ("bmx-bumps", "dance-jump", "elephant", "horsejump-low", "mallard-fly", "scooter-gray")
"""The clips that the recipes in recipes/cpu leave out of training."""


def make_material(folder: Path) -> None:
    frames, ids = synthetic_clip(frames=FRAMES, height=HEIGHT, width=WIDTH, objects=3)
    one = (ids == 1).astype(np.uint8)
    write_frames(folder / "frames", frames, "jpg")
    write_masks(folder / "masks", one)
    write_labels(folder / "mask.png", one[0])
    write_labels(folder / "better.png", one[5])
    for name in ("clip.mp4", "a.mp4", "b.mp4"):
        write_video(folder / name, frames)

    small, labels = synthetic_clip(frames=6, height=96, width=160, objects=2, seed=1)
    single = (labels == 1).astype(np.uint8)
    write_frames(folder / "other-frames", small, "jpg")
    write_masks(folder / "other-masks", single)
    for name in ("photos", "DATA/duts", "DATA/ecssd", "DATA/voc-objects"):
        photos = {f"{index:05d}": pair for index, pair in enumerate(zip(small, single, strict=True))}
        write_photos(folder / name, photos, ending="jpg")
    clip = (small, single)
    shorter = dict.fromkeys(HELD_OUT, (small[:3], single[:3]))
    write_davis(folder / "DATA/davis-2016-train", {"train-clip": clip} | shorter)
    (folder / "DATA/held-out.txt").write_text("bmx-bumps\n")
    write_davis(folder / "DAVIS", {"swim": (small, labels)}, {"2016/val": ["swim"], "2017/val": ["swim"]})
    write_davis(folder / "my-data", {"first": clip, "second": clip}, {"train": ["first"], "val": ["second"]})
    listed = {"swim": objects_of({1: "fish", 2: "turtle"}, range(len(small)))}
    write_youtube(folder / "YouTubeVOS/valid", {"swim": (small, labels[:1])}, listed, ending="jpg")
    write_youtube(folder / "YouTubeVOS/train", {"swim": (small, labels)}, listed, ending="jpg")
    (folder / "held-out.txt").write_text("swim\n")
    (folder / "seen.txt").write_text("fish\n")

    (folder / "WEIGHTS").mkdir()
    save_file(with_batchnorm(MobileNetV2()), folder / "WEIGHTS/mobilenet_v2.imagenet.features0-13.safetensors")
    save_file(with_batchnorm(resnet18()), folder / "WEIGHTS/resnet18.imagenet.to-layer3.safetensors")


def write_video(path: Path, frames: np.ndarray) -> None:
    """As the package writes videos: with the index in front, so that they can be read from a pipe."""
    rate = Fraction(24)
    info = VideoInfo(WIDTH, HEIGHT, rate, 1 / rate, len(frames), len(frames) / rate)
    with VideoWriter(path, info) as writer:
        for index, frame in enumerate(frames):
            writer.write(frame, index / rate)
