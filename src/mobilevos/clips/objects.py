"""Which objects of a label map a clip is about, and what they are called."""

from __future__ import annotations

import cv2
import numpy as np

from mobilevos.arrays import VOID


def count_pixels(labels: np.ndarray) -> np.ndarray:
    """(256,) int: pixels of every label of an (H, W) uint8 map."""
    return cv2.calcHist([labels], [0], None, [256], [0, 256]).ravel().astype(np.int64)


def count_objects(labels: np.ndarray) -> int:
    """The largest id of an (H, W) uint8 map; void does not count."""
    ids = np.flatnonzero(count_pixels(labels)[:VOID])
    return int(ids[-1]) if len(ids) else 0


def choose_objects(rng: np.random.Generator, labels: np.ndarray, objects: int) -> np.ndarray:
    """Choose up to `objects` of the ids in a label map at random; tiny ones beside large ones are not chosen.

    Returns:
        (256,) uint8 table of new labels: 1..n for the chosen, 0 for the others, void for void.
    """
    counts = count_pixels(labels)
    counts[[0, VOID]] = 0
    ids = np.flatnonzero(counts > counts.max() / 25)
    return _table(rng.permutation(ids)[:objects].tolist())


def keep_visible(masks: np.ndarray, min_pixels: int, max_fill: float) -> bool:
    """Renumber the objects that frame 0 shows to 1..n and forget the others, in place.

    Args:
        masks: (T, H, W) uint8.
        min_pixels: an object is seen if it has this many pixels in frame 0.
        max_fill: the largest part of frame 0 that objects may cover.
    Returns:
        whether there are any, and they leave enough background.
    """
    counts = count_pixels(masks[0])
    seen = [i for i in range(1, VOID) if counts[i] >= min_pixels]
    if not seen or sum(counts[i] for i in seen) > max_fill * masks[0].size:
        return False
    masks[:] = cv2.LUT(masks.reshape(len(masks), -1), _table(seen)).reshape(masks.shape)
    return True


def _table(ids: list[int]) -> np.ndarray:
    """(256,) uint8: 1..n for the given labels, void for void, 0 for all others."""
    table = np.zeros(256, np.uint8)
    table[VOID] = VOID
    table[ids] = np.arange(1, len(ids) + 1)
    return table
