"""Tiny datasets made on the spot, and a configuration without surprises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from mobilevos.clips import Clip, ClipConfig

RED, GREEN, BLUE = (220, 20, 20), (20, 220, 20), (20, 20, 220)


def calm(**changes: float) -> ClipConfig:
    """Motion and crops only: nothing pasted, colours as they are."""
    off = dict.fromkeys(
        (
            *("distractor", "occluder", "leave", "jitter", "gray", "flicker"),
            *("shrink", "motion_blur", "defocus", "compression", "noise", "other_background"),
        ),
        0.0,
    )
    return ClipConfig(**{"size": 64, "min_pixels": 20, **off, **changes})  # type: ignore[arg-type]


def color_coded(height: int = 96, width: int = 120, shift: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A red disc (1) and a green box (2) on blue, so that colours tell labels."""
    y, x = np.mgrid[:height, :width]
    labels = np.zeros((height, width), np.uint8)
    labels[(x - 40 - shift) ** 2 + (y - 45) ** 2 < 22**2] = 1
    labels[20:60, 75:105] = 2
    return np.array([BLUE, RED, GREEN], np.uint8)[labels], labels


def labels_of(frames: np.ndarray) -> np.ndarray:
    """Recover the labels of color-coded pictures (..., 3)."""
    return np.array([1, 2, 0], np.uint8)[frames.argmax(axis=-1)]


def agreement(clip: Clip) -> float:
    """How well the masks of a colour-coded clip fit its frames: the smallest intersection over union of an object.

    Ids are dealt at random, so an object's colour is what frame 0 shows most of under its mask.
    """
    colors, known = labels_of(clip.frames), clip.masks != 255
    scores = []
    for label in range(1, int(clip.masks.max(where=known, initial=0)) + 1):
        color = np.bincount(colors[0][clip.masks[0] == label]).argmax()
        ours, theirs = clip.masks == label, (colors == color) & known
        scores.append((ours & theirs).sum() / (ours | theirs).sum())
    return float(min(scores))


def save_mask(path: Path, labels: np.ndarray, mode: str = "P") -> None:
    """Write a label map as a palette image (P), as 1-bit (1), as white on black in gray (L) or in colour (RGB)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == "P":
        image = Image.fromarray(labels, "L").convert("P")
        image.putdata(labels.ravel().tolist())
        image.putpalette(list(range(256)) * 3)
    else:
        image = Image.fromarray(labels > 0) if mode == "1" else Image.fromarray((labels > 0) * np.uint8(255))
        image = image if mode == "1" else image.convert(mode)
    image.save(path)


def save_image(path: Path, image: np.ndarray) -> None:
    """Write a picture; PNG keeps colours exactly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)


def photo_folder(root: Path, count: int = 3) -> Path:
    """Colour-coded photos with palette masks and a ring of void around the disc."""
    for i in range(count):
        image, labels = color_coded(shift=3 * i)
        save_image(root / "images" / f"photo{i}.png", image)
        save_mask(root / "masks" / f"photo{i}.png", labels)
    return root


def video_folder(images: Path, masks: Path, name: str, length: int = 8, annotated: int = 1, mode: str = "P") -> None:
    """A video in which the disc moves to the right, two pixels a frame; frame i is image 0000i."""
    for i in range(length):
        image, labels = color_coded(shift=2 * i - 10)
        save_image(images / name / f"{i:05d}.png", image)
        if i % annotated == 0:
            save_mask(masks / name / f"{i:05d}.png", labels, mode)
