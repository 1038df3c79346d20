"""Clicks are obeyed: a point on the object is in its mask, a point that is not on it is out of it.

Whatever made the mask, a click that it does not obey claims the part of the picture around it, up to where edges say
that something else begins. All else stays as it was. A plus and a minus are one rule: a minus claims of what the mask
has, a plus of what it has not.

How far a claim goes is decided by distances along the picture (as in Bai and Sapiro, ICCV 2007): a step from a cell to
its neighbour costs the more, the more their colours differ. A cell goes to the click where that is nearer than all that
stays: clicks of the other kind, and the region itself from some distance on. How far that is, is told by the click:
people click in the middle of what is wrong, so that is about as wide as the click is deep. Cells and distances are
whole numbers, so that other implementations can give the same masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Bits, Ids, Image
from mobilevos.errors import InputError

Point = tuple[int, int]
"""x, y"""
Whole = NDArray[np.int32]

WORKING_SIDE = 256
"""The picture is looked at in cells, at most so many along its long side."""

REACH = 0.2
"""Nothing changes farther from a click than this share of the long side."""

ROOM = 2.5
"""What stays begins so many times as far from a click as the nearest border of the region it is in."""

SIZE = 0.4
"""It begins at most so far from a click, as a share of the square root of the object's area."""

STRAIGHT, DIAGONAL = 5, 7
"""What a step costs in a plain picture."""

CONTRAST = 2
"""What a step costs more for each level by which the colours differ, summed over red, green and blue."""

BARRIER = 2000
"""What a step costs more where it is not inside the region."""

FAR = 1 << 28
"""No way is that long; twice as much is still a number of 32 bits."""

CERTAIN = 1000
"""A lead of so much counts as no more, so that an outline lies where the distances are equal."""


def obeyed(
    frame: Image, mask: Bits, on: Sequence[Point] = (), off: Sequence[Point] = (), others: Ids | None = None
) -> Bits:
    """The mask (H, W) with which all clicks agree: the same one where they do already.

    A minus never adds a pixel and a plus never removes one.

    Args:
        frame: (H, W, 3).
        mask: (H, W), the object as it is known so far.
        on: points x, y on the object.
        off: points that are not on it.
        others: (H, W), the ids of other objects, 0 elsewhere. A plus takes pixels of the object it is on, and otherwise
            none of any object.
    """
    _check(frame, mask, on, off)
    area = int(mask.sum())
    after = mask.copy()
    cut = [(x, y) for x, y in off if mask[y, x]]
    if cut:
        after &= ~_claimed(frame, mask, cut, on, area)
    owner = np.zeros(mask.shape, np.uint8) if others is None else others
    add = [(x, y) for x, y in on if not mask[y, x]]
    for identity in sorted({int(owner[y, x]) for x, y in add}):
        clicks = [(x, y) for x, y in add if owner[y, x] == identity]
        after |= _claimed(frame, ~mask & (owner == identity), clicks, off, area)
    for x, y in on:  # of clicks that share a cell one may have lost
        after[y, x] = True
    for x, y in off:
        after[y, x] = False
    return after


def _claimed(frame: Image, region: Bits, clicks: Sequence[Point], against: Sequence[Point], area: int) -> Bits:
    """What clicks claim of a region (H, W) that they are in; area: of the object, in pixels."""
    height, width = region.shape
    cell = -(-max(height, width) // WORKING_SIDE)
    inside = _any(region, cell)
    seeds, stays = np.zeros_like(inside), np.zeros_like(inside)
    for x, y in clicks:
        seeds[y // cell, x // cell] = True
    for x, y in against:
        stays[y // cell, x // cell] = True
    near = _near(inside, seeds, area / cell**2)
    stays = (stays | (inside & ~near)) & ~seeds
    costs = _costs(_mean(frame, cell), inside)
    lead = np.clip(distances(costs, stays) - distances(costs, seeds), -CERTAIN, CERTAIN)
    won = _enlarged(lead, cell)[:height, :width] > 0
    return won & region & np.repeat(np.repeat(near, cell, 0), cell, 1)[:height, :width]


def _near(inside: Bits, seeds: Bits, area: float) -> Bits:
    """Which cells (h, w) may change: those around a seed, in the part of the region that it is in.

    A part other than the largest may go as a whole: it is a false piece, or a hole.
    """
    h, w = inside.shape
    reach = REACH * max(h, w)
    most = min(reach, SIZE * area**0.5) if area else reach / 2
    _, parts, stats, _ = cv2.connectedComponentsWithStats(inside.view(np.uint8), connectivity=8)
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    rows, columns = np.mgrid[:h, :w]
    near = np.zeros_like(inside)
    for y, x in np.argwhere(seeds):
        away = (rows - y) ** 2 + (columns - x) ** 2
        border = min(y, x, h - 1 - y, w - 1 - x) + 1
        depth = min(border, int(away[~inside].min(initial=border**2)) ** 0.5)
        room = min(most, ROOM * depth + 1) if parts[y, x] == largest else reach
        near |= (parts == parts[y, x]) & (away <= room**2)
    return near


def distances(costs: Whole, seeds: Bits) -> Whole:
    """How far each cell (h, w) is from the nearest seed along the cheapest way; costs as `_costs` gives them.

    Sweeps in four directions until nothing changes: the distances are those that Dijkstra's algorithm finds.
    """
    far = np.full((seeds.shape[0] + 2, seeds.shape[1] + 2), FAR, np.int32)
    far[1:-1, 1:-1][seeds] = 0
    right, down, fall, rise = (np.pad(plane, 1, constant_values=FAR) for plane in costs)
    h, w = seeds.shape
    before = None
    while before is None or not np.array_equal(far, before):
        before = far.copy()
        for y in range(1, h + 1):
            above, row = far[y - 1], far[y, 1:-1]
            np.minimum(row, above[1:-1] + down[y - 1, 1:-1], out=row)
            np.minimum(row, above[:-2] + fall[y - 1, :-2], out=row)
            np.minimum(row, above[2:] + rise[y, 1:-1], out=row)
        for y in range(h, 0, -1):
            below, row = far[y + 1], far[y, 1:-1]
            np.minimum(row, below[1:-1] + down[y, 1:-1], out=row)
            np.minimum(row, below[2:] + fall[y, 1:-1], out=row)
            np.minimum(row, below[:-2] + rise[y + 1, :-2], out=row)
        for x in range(1, w + 1):
            np.minimum(far[:, x], far[:, x - 1] + right[:, x - 1], out=far[:, x])
        for x in range(w, 0, -1):
            np.minimum(far[:, x], far[:, x + 1] + right[:, x], out=far[:, x])
    return far[1:-1, 1:-1]


def _costs(picture: Whole, inside: Bits) -> Whole:
    """(4, h, w): what a step costs from each cell to its neighbour right, down, right and down, right and up."""
    h, w = inside.shape
    costs = np.full((4, h, w), FAR, np.int32)
    for plane, (dy, dx) in zip(costs, ((0, 1), (1, 0), (1, 1), (-1, 1)), strict=True):
        here = np.s_[max(0, -dy) : h - max(0, dy), : w - dx]
        there = np.s_[max(0, dy) : h + min(0, dy), dx:]
        length = DIAGONAL if dy and dx else STRAIGHT
        contrast = np.abs(picture[here] - picture[there]).sum(-1)
        plane[here] = length + CONTRAST * contrast + np.where(inside[here] & inside[there], 0, BARRIER)
    return costs


def _any(region: Bits, cell: int) -> Bits:
    """(H, W) -> (h, w): whether a cell has a pixel of the region."""
    h, w = region.shape
    return np.logical_or.reduceat(np.logical_or.reduceat(region, np.arange(0, h, cell), 0), np.arange(0, w, cell), 1)


def _mean(frame: Image, cell: int) -> Whole:
    """(H, W, 3) -> (h, w, 3): the mean of each cell, rounded down."""
    rows, columns = np.arange(0, frame.shape[0], cell), np.arange(0, frame.shape[1], cell)
    sums = np.add.reduceat(np.add.reduceat(frame, rows, 0, dtype=np.int32), columns, 1)
    high, wide = np.minimum(cell, frame.shape[0] - rows), np.minimum(cell, frame.shape[1] - columns)
    return sums // (high[:, None] * wide)[..., None]


def _enlarged(plane: Whole, cell: int) -> Whole:
    """(h, w) -> (h * cell, w * cell), linear between the middles of cells, times (2 * cell)^2 to stay whole."""
    for axis in (0, 1):
        size = plane.shape[axis]
        place = 2 * np.arange(size * cell) + 1 - cell  # from the middle of the first cell, 2 * cell to each
        first = place // (2 * cell)
        part = (place % (2 * cell)).reshape((-1, 1) if axis == 0 else (1, -1))
        low, high = (np.take(plane, np.clip(at, 0, size - 1), axis) for at in (first, first + 1))
        plane = (low * (2 * cell - part) + high * part).astype(np.int32)
    return plane


def _check(frame: Image, mask: Bits, on: Sequence[Point], off: Sequence[Point]) -> None:
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or 0 in frame.shape:
        raise InputError(f"expected an RGB frame (H, W, 3) uint8, got {frame.shape} {frame.dtype}")
    if mask.shape != frame.shape[:2] or mask.dtype != bool:
        raise InputError(f"expected a mask of shape {frame.shape[:2]} bool, got {mask.shape} {mask.dtype}")
    height, width = mask.shape
    for x, y in (*on, *off):
        if not (0 <= x < width and 0 <= y < height):
            raise InputError(f"the click {x},{y} is outside the frame of {width} x {height}")
    for x, y in on:
        if (x, y) in off:
            raise InputError(f"the pixel {x},{y} is clicked both as on the object and as not on it")
