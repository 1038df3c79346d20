"""Rough marks, as people make them, drawn the way the network learned to read them."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from mobilevos.arrays import Image

PROMPT_STRENGTH = 0.5
"""Marks enter the memory at half strength, so that the network can tell a rough mark from a mask."""


def mark_radius(height: int, width: int) -> int:
    """Radius of a click and half the width of a stroke in a frame.

    Such that a window shows it as large as it was when the network learned (`learned_radius`): larger ones it takes for
    the object.
    """
    return max(1, round(0.01 * min(height, width)))


def learned_radius(side: int) -> int:
    """The same in a square training clip, which shows objects as a window does."""
    return max(1, round(0.015 * side))


def draw_box(height: int, width: int, box: tuple[int, int, int, int]) -> Image:
    """A filled box x, y, w, h as a mark (H, W), 0 and 1."""
    x, y, w, h = box
    mark = np.zeros((height, width), np.uint8)
    mark[max(0, y) : max(0, y + h), max(0, x) : max(0, x + w)] = 1
    return mark


def draw_clicks(height: int, width: int, points: Sequence[tuple[int, int]]) -> Image:
    """Clicks (x, y) as a mark (H, W), 0 and 1."""
    mark = np.zeros((height, width), np.uint8)
    for point in points:
        cv2.circle(mark, point, mark_radius(height, width), 1, -1)
    return mark
