"""Connected parts of a mask: which of them are what was marked, and which are strays."""

from __future__ import annotations

import cv2
import numpy as np

from mobilevos.arrays import Bits

NEAR = 0.5
"""A part farther from all that is marked than this share of its size (the square root of its area) is a stray."""


def strays(mask: Bits, marks: Bits) -> Bits:
    """The parts of a mask (H, W) that are far from those with a mark on them: something alike, elsewhere.

    Objects in pieces (behind a pole, say) keep their pieces: those near a marked one. Where no part has a mark on it,
    there is nothing to be far from. Boxes around parts and whole numbers, so that other implementations give the same.
    """
    _, parts, stats, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=8)
    boxes = stats[:, [cv2.CC_STAT_LEFT, cv2.CC_STAT_TOP]], stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]]
    first, last = boxes[0], boxes[0] + boxes[1]
    marked = np.unique(parts[mask & marks])
    if not len(marked):
        return np.zeros_like(mask)
    left_top, right_bottom = first[marked].min(0), last[marked].max(0)
    gap = np.maximum(first - right_bottom, left_top - last).max(1)
    reach = NEAR * stats[marked, cv2.CC_STAT_AREA].sum() ** 0.5
    return (gap > reach)[parts] & mask
