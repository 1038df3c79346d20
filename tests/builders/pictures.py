"""Single pictures, label maps, and folders of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

Frames = Iterable[np.ndarray] | Mapping[int, np.ndarray]
"""Pictures (H, W, 3) or label maps (H, W): in order, from frame 0 on, or by the numbers of their frames."""


def write_picture(path: Path, image: np.ndarray) -> None:
    """(H, W, 3) as its ending says; PNG keeps colours exactly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, quality=95)


def write_labels(path: Path, labels: np.ndarray, mode: str = "P") -> None:
    """A label map (H, W) as a palette image (P), as 1-bit (1), as white on black in gray (L) or in colour (RGB)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == "P":
        image = Image.fromarray(labels)
        image.putpalette(list(range(256)) * 3)
    else:
        image = Image.fromarray(labels > 0) if mode == "1" else Image.fromarray((labels > 0) * np.uint8(255))
        image = image if mode == "1" else image.convert(mode)
    image.save(path)


def write_frames(folder: Path, frames: Frames, ending: str = "png") -> Path:
    """Pictures as files 00000.png, 00001.png, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, frame in numbered(frames):
        write_picture(folder / f"{number:05d}.{ending}", frame)
    return folder


def write_masks(folder: Path, masks: Frames, mode: str = "P") -> Path:
    """Label maps as files 00000.png, 00001.png, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, labels in numbered(masks):
        write_labels(folder / f"{number:05d}.png", labels, mode)
    return folder


def numbered(frames: Frames) -> Iterable[tuple[int, np.ndarray]]:
    """With the numbers of the frames."""
    return frames.items() if isinstance(frames, Mapping) else enumerate(frames)
