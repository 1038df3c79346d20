"""Controls of a mask's edge, as editors know them: specks, holes, growing, and an outline that does not tremble.

Masks are ids (H, W) uint8. How soft an edge is, is no matter of masks: see `media.overlay.matte`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from mobilevos.arrays import Array, Bits, Ids
from mobilevos.errors import InputError

SPECK = 0.005
"""By default, parts of an object below this share of its largest part go."""

WIDEST = 8
"""Frames to either side that the outline may be smoothed over: so many pictures are held."""

REACH = 0.0075
"""Share of the short side. Outlines that are farther apart in two frames are no trembling, but motion."""


@dataclass(frozen=True)
class Edges:
    """What is done to the masks that were found; those that a person marked are only grown."""

    despeckle: int | None = None
    """Parts of an object with fewer pixels go, but never its largest; None: those that are small beside it."""
    fill_holes: int = 0
    """Holes in an object with fewer pixels are filled: none by default, as most are real, such as between legs."""
    grow: int = 0
    """Pixels by which objects grow; they shrink where it is negative."""
    smooth: int = 0
    """Frames to either side over which the outline is averaged."""

    def __post_init__(self) -> None:
        for name in ("despeckle", "fill_holes"):
            if (getattr(self, name) or 0) < 0:
                raise InputError(f"expected {name} of 0 or more pixels, got {getattr(self, name)}")
        if not 0 <= self.smooth <= WIDEST:
            raise InputError(f"expected to smooth over 0 to {WIDEST} frames to either side, got {self.smooth}")

    def settings(self) -> dict[str, str]:
        """What a run is resumed with only, as text."""
        values = {name.replace("_", "-"): getattr(self, name) for name in ("despeckle", "fill_holes", "grow", "smooth")}
        return {name: "auto" if value is None else str(value) for name, value in values.items()}

    def cleaned(self, ids: Ids, marked: bool = False) -> Ids:
        """The mask of one frame without what is too small, grown; marked: by a person, who has looked at it."""
        if not marked:
            ids = without_specks(ids, self.despeckle)
            ids = without_holes(ids, self.fill_holes)
        return regrown(ids, self.grow)


def check_grow(pixels: int, width: int, height: int) -> None:
    """An InputError where nothing would be left of an object, or of what is around it."""
    if abs(pixels) >= max(width, height):
        raise InputError(f"cannot grow masks by {pixels} pixels: the frame has {width} x {height}")


def without_specks(ids: Ids, smallest: int | None) -> Ids:
    """Each object without its parts of fewer than `smallest` pixels; its largest part stays."""
    found: Ids = ids.copy()
    for identity in np.unique(ids[ids > 0]).tolist():
        box, mask = _cropped(ids == identity, 0)
        _, parts, stats, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=8)
        areas = stats[1:, cv2.CC_STAT_AREA]
        least = SPECK * areas.max() if smallest is None else min(smallest, areas.max())
        small = np.flatnonzero(areas < least) + 1
        if len(small):
            found[box][np.isin(parts, small)] = 0
    return found


def without_holes(ids: Ids, smallest: int) -> Ids:
    """Each object with its holes of fewer than `smallest` pixels filled: background that it alone surrounds."""
    if not smallest:
        return ids
    found: Ids = ids.copy()
    for identity in np.unique(ids[ids > 0]).tolist():
        box, mask = _cropped(ids == identity, 1)
        _, parts, stats, _ = cv2.connectedComponentsWithStats((~mask).view(np.uint8), connectivity=4)
        areas = stats[1:, cv2.CC_STAT_AREA]
        rim = np.unique(np.concatenate([parts[0], parts[-1], parts[:, 0], parts[:, -1]]))
        other = np.unique(parts[(ids[box] > 0) & ~mask])
        small = np.setdiff1d(np.flatnonzero(areas < smallest) + 1, np.concatenate([rim, other]))
        if len(small):
            found[box][np.isin(parts, small)] = identity
    return found


def grown(mask: Bits, pixels: int) -> Bits:
    """Where (H, W) is at most so far from the mask; for a negative number, farther than that from what is not it."""
    if not mask.any() or not pixels:
        return mask
    if pixels > 0:
        return _distance(~mask) <= pixels
    return _distance(mask) > -pixels


def regrown(ids: Ids, pixels: int) -> Ids:
    """The ids with each object grown or shrunk. No object takes a pixel of another; of two, the nearer one grows."""
    if not pixels or not ids.any():
        return ids
    objects = np.unique(ids[ids > 0]).tolist()
    if pixels < 0:
        return np.where(np.any([grown(ids == identity, pixels) for identity in objects], axis=0), ids, np.uint8(0))
    nearest = np.full(ids.shape, pixels, np.float32)
    found: Ids = ids.copy()
    for identity in objects:
        distance = _distance(ids != identity)
        nearer = (ids == 0) & (distance <= nearest) & ((found == 0) | (distance < nearest))
        found[nearer], nearest[nearer] = identity, distance[nearer]
    return found


def smoothed(frames: Sequence[Ids], at: int) -> Ids:
    """The mask `frames[at]` with the outline averaged over all of the frames.

    What is averaged is the signed distance to the outline: an object that moves evenly keeps its shape, as what one
    neighbour has more, the other has less. Another frame counts the less, pixel by pixel, the farther its outline is
    from this one; so limbs that swing, and other shots, change nothing.
    """
    ids = frames[at]
    reach = max(3.0, REACH * min(ids.shape))
    best = np.zeros(ids.shape, np.float32)
    found = np.zeros_like(ids)
    for identity in np.unique(ids[ids > 0]).tolist():
        here = _signed(ids == identity)
        total, weights = here.copy(), np.ones_like(here)
        for index, other in enumerate(frames):
            if index != at and (other == identity).any():
                there = _signed(other == identity)
                weight = np.maximum(0, 1 - np.abs(there - here) / reach)
                total += weight * there
                weights += weight
        mean = total / weights
        mine = (mean > best) & ((ids == 0) | (ids == identity) | (here > -reach))
        found[mine], best[mine] = identity, mean[mine]
    return found


def _signed(mask: Bits) -> Array:
    """The distance (H, W) to the outline, negative outside."""
    return np.where(mask, _distance(mask) - 0.5, 0.5 - _distance(~mask)).astype(np.float32)


def _distance(mask: Bits) -> Array:
    """How far (H, W) each pixel of a mask is from what is not it; the border of the picture is no edge."""
    if mask.all():
        return np.full(mask.shape, math.hypot(*mask.shape), np.float32)
    inside = np.ascontiguousarray(mask).view(np.uint8)
    return np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE), np.float32)


def _cropped(mask: Bits, margin: int) -> tuple[tuple[slice, slice], Bits]:
    """Where a mask is, with a margin as far as the picture goes, and the mask there."""
    x, y, width, height = cv2.boundingRect(mask.view(np.uint8))
    box = slice(max(0, y - margin), y + height + margin), slice(max(0, x - margin), x + width + margin)
    return box, np.ascontiguousarray(mask[box])
