"""What annotated frames say of another one by their keys alone: the memory read (`model.memory`), without positions."""

from __future__ import annotations

import numpy as np

from mobilevos.arrays import Array
from mobilevos.tracking.geometry import STRIDE

EVERY = 2
"""One cell in so many, each way, is compared by `alike`: a quarter of both frames tells as much as all."""


def cells(masks: Array) -> Array:
    """How much masks (N, 16 h, 16 w) cover of each cell: (N, h, w)."""
    count, height, width = masks.shape
    return masks.reshape(count, height // STRIDE, STRIDE, width // STRIDE, STRIDE).mean((2, 4))


def recalled(key: Array, keys: Array, values: Array) -> Array:
    """The values of remembered frames, read by another frame.

    Args:
        key: (Ck, h, w), of that frame.
        keys, values: (Ck, T, h, w) and (C, T, h, w), of the remembered ones.

    Returns:
        (C, h, w)
    """
    query, stored = key.reshape(len(key), -1), keys.reshape(len(key), -1)
    scores = (2 * query.T @ stored - np.square(stored).sum(0)) / np.sqrt(np.float32(len(key)))
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return (values.reshape(len(values), -1) @ weights.T).reshape(len(values), *key.shape[1:])


def alike(key: Array, annotated: Array, covered: Array) -> Array:
    """How much some cells of a frame look like objects of an annotated one, 0..1: (N, h / EVERY, w / EVERY).

    Args:
        key: (Ck, h, w), of the frame.
        annotated: (Ck, h, w), of the annotated one.
        covered: (N, h, w), what the objects cover there; see `cells`.
    """
    some = np.s_[:, ::EVERY, ::EVERY]
    return recalled(key[some], annotated[some][:, None], covered[some][:, None])
