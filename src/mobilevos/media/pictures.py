"""Picture files as frames: finding them in natural order and reading them as RGB."""

import glob
import os
import re
from pathlib import Path

import numpy as np
from PIL import ImageOps

from mobilevos.errors import InputError
from mobilevos.media.masks import open_image

ENDINGS = frozenset((".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm"))


def natural_key(name: str) -> list[tuple[int, str]]:
    """Sorts as people count: frame2 before frame10.

    >>> sorted(["frame10", "frame2"], key=natural_key)
    ['frame2', 'frame10']
    """
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if i % 2 else (0, part.casefold()) for i, part in enumerate(parts)]


def find_pictures(source: str) -> list[Path] | None:
    """The pictures a folder, a pattern or a single picture file stands for, in natural order; None for anything else.

    The order is that of the names; pictures of several folders come folder by folder.
    """
    path = Path(source)
    if path.is_dir():
        found = [p for p in path.iterdir() if _is_picture(p) and not p.name.startswith(".")]
        if not found:
            raise InputError(f"no pictures in the folder {source}")
    elif path.is_file():
        return [path] if _is_picture(path) else None
    elif glob.has_magic(source):
        found = [p for p in map(Path, glob.glob(source, recursive=True)) if _is_picture(p)]
        if not found:
            raise InputError(f"no pictures match the pattern {source}")
    else:
        return None
    return sorted(found, key=lambda p: (natural_key(str(p.parent)), natural_key(p.name)))


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


def read_picture(path: str | os.PathLike[str]) -> np.ndarray:
    """A picture file as (H, W, 3) uint8 RGB, turned as its EXIF data says."""
    image = open_image(path)
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits; Pillow would clip instead of scaling
        gray = (np.asarray(image).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8)
        return np.repeat(gray[..., None], 3, axis=2)
    return np.array(image.convert("RGB"))
