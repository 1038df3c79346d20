"""Photos with masks on disk: `images/<name>.webp` (or jpg, png) goes with `masks/<name>.png`."""

from __future__ import annotations

from pathlib import Path

from mobilevos.datasets.pictures import PictureFile
from mobilevos.datasets.video import PICTURES
from mobilevos.errors import InputError


def list_photos(root: Path) -> list[PictureFile]:
    """The photos of a folder with `images/` and `masks/`, by name."""
    for part in ("images", "masks"):
        if not (root / part).is_dir():
            raise InputError(f"expected a folder of photos with images/ and masks/, but {root / part} is missing")
    images = sorted(path for path in (root / "images").iterdir() if path.suffix.lower() in PICTURES)
    if not images:
        raise InputError(f"expected photos ({', '.join(PICTURES)}) in {root / 'images'}, found none")
    files = [PictureFile(image, root / "masks" / f"{image.stem}.png") for image in images]
    masks = {path.name for path in (root / "masks").iterdir()}
    for file in files:
        if file.mask.name not in masks:
            raise InputError(f"the mask {file.mask} of the photo {file.image.name} is missing")
    return files
