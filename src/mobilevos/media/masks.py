"""Mask files: one picture of ids, 0 for the background, as palette PNG.

`read_mask` is exact and takes only files that hold ids; evaluation uses it. `load_mask` takes what people bring by
hand, repairs it and says how.
"""

import os
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from mobilevos.arrays import Ids
from mobilevos.errors import InputError
from mobilevos.files import is_file, replacing
from mobilevos.media.palette import davis_palette
from mobilevos.media.repair import Repaired, repair_mask, stored_ids

__all__ = ["Repaired", "load_mask", "open_image", "read_mask", "repair_mask", "stored_ids", "write_mask"]


MOST_PIXELS = 1 << 26
"""Of a picture file: twice those of a frame of 8K."""


def open_image(path: str | os.PathLike[str]) -> Image.Image:
    """Open and decode a picture file; a file that is none is an InputError."""
    if not is_file(path):
        raise InputError(f"no such file: {path}")
    try:
        with Path(path).open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # ours is an error
            image = Image.open(file)
            _check_size(image, path)
            image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"expected a picture, but {path} cannot be read as one{_reason(error)}") from error
    return image


def _check_size(image: Image.Image, path: str | os.PathLike[str]) -> None:
    """Before it is decoded: a file of some hundred bytes can say that it is gigabytes of one colour."""
    if image.width * image.height > MOST_PIXELS:
        raise InputError(
            f"expected a picture of at most {MOST_PIXELS} pixels, but {path} has {image.width} x {image.height}"
        )


def _reason(error: Exception) -> str:
    """What Pillow says of a file, unless it speaks of its own objects."""
    said = getattr(error, "strerror", None) or str(error)
    return f" ({said})" if said and "<" not in said else ""


def read_mask(path: str | os.PathLike[str]) -> Ids:
    """The ids of a mask file, exactly: (H, W) uint8. See `media.repair.stored_ids` for the rule.

    Gray files of other values give these values: whoever wrote them as ids meant them.
    """
    image = open_image(path)
    if image.mode not in ("1", "P", "L"):
        raise InputError(f"expected a palette or 8-bit gray mask, but {path} is a picture of mode {image.mode}")
    ids = stored_ids(image)
    return np.array(image) if ids is None else ids


def load_mask(path: str | os.PathLike[str]) -> Repaired:
    """The ids of any picture that means a mask, (H, W) uint8, and sentences on what was repaired."""
    try:
        return repair_mask(open_image(path))
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error


def write_mask(path: str | os.PathLike[str], ids: np.ndarray) -> None:
    """Write ids (H, W), integers 0..255, as an 8-bit palette PNG in the colours of DAVIS."""
    ids = np.asarray(ids)
    if ids.ndim != 2 or ids.dtype.kind not in "uib":
        raise InputError(f"expected a mask of shape (H, W) and integer type, got {ids.shape} {ids.dtype}")
    if ids.size and (ids.min() < 0 or ids.max() > 255):
        raise InputError(f"expected mask ids between 0 and 255, got {ids.min()}..{ids.max()}")
    image = Image.fromarray(ids.astype(np.uint8))
    image.putpalette(davis_palette().tobytes())
    with replacing(path) as part:
        image.save(part, format="PNG")
