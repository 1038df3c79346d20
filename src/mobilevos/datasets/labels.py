"""Label maps of datasets: one rule for all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mobilevos.arrays import Ids
from mobilevos.errors import InputError
from mobilevos.media.masks import open_image, stored_ids

WHITE = 128
"""Brightness from which a pixel of a drawing in white on black is the object."""


def read_labels(path: Path) -> Ids:
    """Read a label map as (H, W) uint8: 0 background, 1..N objects, 255 void.

    Files that hold ids (see `media.masks.stored_ids`) are taken as they are. Gray pictures of other values and pictures
    in colour are one object drawn in white, as salient-object datasets have it.
    """
    if not path.is_file():
        raise InputError(f"the mask {path} is missing")
    try:
        image = open_image(path)
    except InputError as error:
        raise InputError(f"expected a PNG mask, but {path} cannot be decoded ({error})") from error
    ids = stored_ids(image)
    if ids is not None:
        return ids
    return (np.asarray(image.convert("L")) >= WHITE).astype(np.uint8)
