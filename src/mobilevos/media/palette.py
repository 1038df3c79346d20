"""The colours of objects: the colour map of PASCAL VOC, which the mask files of DAVIS and YouTube-VOS carry."""

import functools

import numpy as np


@functools.cache
def davis_palette() -> np.ndarray:
    """The colour of each id: (256, 3) uint8, read-only.

    Bits 0, 3, 6 ... of the id go to red, 1, 4, 7 ... to green, 2, 5 ... to blue, each channel filled from its
    highest bit down, so that small ids get the strongest colours: 1 is (128, 0, 0), 2 is (0, 128, 0).

    >>> davis_palette()[:4].tolist()
    [[0, 0, 0], [128, 0, 0], [0, 128, 0], [128, 128, 0]]
    """
    bits = (np.arange(256)[:, None] >> np.arange(9)) & 1  # (id, bit); the ninth bit is always 0
    weights = 128 >> np.arange(3)
    palette = (bits.reshape(256, 3, 3) * weights[:, None]).sum(axis=1).astype(np.uint8)
    palette.setflags(write=False)
    return palette
