"""The colours of objects: in mask files those of PASCAL VOC, as DAVIS has them; over pictures brighter ones."""

import colorsys
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


@functools.cache
def vivid_palette() -> np.ndarray:
    """Colours that stand out over a photograph: (256, 3) uint8, read-only; 0 is black.

    Hues a golden angle apart, so that neighbouring ids always differ; light and dark in turn.
    """
    palette = np.zeros((256, 3), np.uint8)
    for i in range(1, 256):
        hue = (0.02 + (i - 1) * 0.61803399) % 1
        rgb = colorsys.hsv_to_rgb(hue, (0.85, 0.65, 0.95)[i % 3], (1.0, 0.95, 0.85)[i % 3])
        palette[i] = np.round(255 * np.array(rgb))
    palette.setflags(write=False)
    return palette
