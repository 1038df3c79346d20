"""Frames with plain squares over a textured ground, for `tests.pipeline.colours.ColourRuntime` to follow."""

from collections.abc import Mapping

import numpy as np

from mobilevos.arrays import Ids, Image
from tests.pipeline.colours import COLOURS

HEIGHT, WIDTH = 240, 480
SHADES = np.array([(0, 0, 0), *COLOURS.values(), (200, 60, 220), (220, 75, 60)], np.uint8)
"""Of the squares by id. 5 looks so much like 1 that it is taken for it where nobody else claims it."""

Places = Mapping[int, tuple[int, int]]
"""Of squares by id: left and top."""


def ground(seed: int = 0, low: int = 60, high: int = 140) -> Image:
    """Gray blocks, which no square looks like."""
    blocks = np.random.default_rng(seed).integers(low, high, (HEIGHT // 8, WIDTH // 8, 1), np.uint8)
    return blocks.repeat(3, 2).repeat(8, 0).repeat(8, 1)


def ids_of(places: Places, side: int = 24) -> Ids:
    """(H, W), cut off by the frame's border; where they overlap, the higher id is in front."""
    ids = np.zeros((HEIGHT, WIDTH), np.uint8)
    for identity, (left, top) in sorted(places.items()):
        ids[max(0, top) : max(0, top + side), max(0, left) : max(0, left + side)] = identity
    return ids


def picture(places: Places, side: int = 24, behind: Image | None = None) -> Image:
    """(H, W, 3)"""
    ids = ids_of(places, side)
    return np.where(ids[..., None] > 0, SHADES[ids], ground() if behind is None else behind)


def overlap(mask: Ids, places: Places, identity: int, side: int = 24) -> float:
    """J of one object; 1 where it is rightly nowhere."""
    ours, theirs = mask == identity, ids_of(places, side) == identity
    return float((ours & theirs).sum() / max(1, (ours | theirs).sum())) if (ours | theirs).any() else 1.0
