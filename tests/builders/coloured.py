"""Pictures whose colours tell the labels, so that masks can be checked against frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.builders.photos import write_photos

RED, GREEN, BLUE = (220, 20, 20), (20, 220, 20), (20, 20, 220)


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


def photo_folder(root: Path, count: int = 3) -> Path:
    """Colour-coded photos with palette masks."""
    return write_photos(root, {f"photo{i}": color_coded(shift=3 * i) for i in range(count)})


def filmed(length: int = 8, annotated: int = 1) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """A clip in which the disc moves to the right, two pixels a frame, and the masks of one frame in so many."""
    shots = [color_coded(shift=2 * i - 10) for i in range(length)]
    frames = {i: image for i, (image, _) in enumerate(shots)}
    return frames, {i: labels for i, (_, labels) in enumerate(shots) if i % annotated == 0}
