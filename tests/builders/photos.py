"""Photos with masks: `images/<name>.png` goes with `masks/<name>.png`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.builders.pictures import write_labels, write_picture


def write_photos(
    root: Path, photos: Mapping[str, tuple[np.ndarray, np.ndarray]], *, ending: str = "png", mode: str = "P"
) -> Path:
    """A folder with these photos (H, W, 3) and label maps (H, W), by name."""
    for name, (image, labels) in photos.items():
        write_picture(root / "images" / f"{name}.{ending}", image)
        write_labels(root / "masks" / f"{name}.png", labels, mode)
    return root
