"""J and F, the two measures of video object segmentation, and what is said about a list of them.

J is the region similarity (intersection over union), F the boundary similarity: the harmonic mean of the precision and
the recall of boundary pixels, where a boundary pixel is right if the other mask has one within a small radius
(Perazzi et al., A Benchmark Dataset and Evaluation Methodology for Video Object Segmentation, CVPR 2016).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from mobilevos.errors import InputError

Mask = npt.NDArray[Any]
"""(H, W), a bool or integer array; whatever is not zero is the object."""

BOUNDARY_TOLERANCE = 0.008
"""How far boundaries may be apart and still match, as a share of the frame's diagonal."""

RECALL_THRESHOLD = 0.5
"""A frame counts for the recall when its value is above this."""

DECAY_BINS = 4
"""The decay is the mean over the first of so many parts of the sequence less the mean over the last."""


@dataclass(frozen=True)
class Statistics:
    """What DAVIS says about the values of one object over the frames."""

    mean: float
    recall: float
    """Share of the frames above 0.5."""
    decay: float
    """Mean of the first quarter less the mean of the last: how much is lost over time; lower is better."""


def jaccard(pred: Mask, truth: Mask) -> float:
    """Intersection over union of two masks (H, W); 1 where both are empty."""
    pred, truth = _as_bool(pred, truth)
    return _jaccard(pred, truth)


def boundary_f(pred: Mask, truth: Mask) -> float:
    """F measure of the boundaries of two masks (H, W); 1 where neither has a boundary."""
    pred, truth = _as_bool(pred, truth)
    box = joint_box(pred, truth)
    return _boundary_f(pred[box], truth[box], boundary_radius(*pred.shape))


def jaccard_and_f(
    pred: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_], radius: int | None = None
) -> tuple[float, float]:
    """Both measures of two boolean masks (H, W), the work done only where either mask is.

    radius: that of the whole frame, where these are parts of one that hold the object and a background pixel around.
    """
    radius = radius or boundary_radius(*pred.shape)
    box = joint_box(pred, truth)
    pred, truth = pred[box], truth[box]
    return _jaccard(pred, truth), _boundary_f(pred, truth, radius)


def joint_box(pred: Mask, truth: Mask) -> tuple[slice, slice]:
    """The rows and columns that hold whatever is not 0 in either mask (H, W), with the pixels around it.

    Those around are background, which the boundary map compares with. Two empty masks give an empty box.
    """
    boxes = [box for box in map(_bounding_box, (pred, truth)) if box]
    if not boxes:
        return slice(0), slice(0)
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return slice(max(min(tops) - 1, 0), max(bottoms) + 1), slice(max(min(lefts) - 1, 0), max(rights) + 1)


def boundary_radius(height: int, width: int) -> int:
    """The distance in pixels within which boundaries match in a frame of this size."""
    return math.ceil(BOUNDARY_TOLERANCE * math.hypot(height, width))


def boundary_map(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Boundary pixels of a mask (H, W): those unequal to the pixel to the right, below, or diagonally below.

    The boundary lies half a pixel towards the origin from the true one, and the frame's edge is no boundary.
    """
    # unequal within the 2 x 2 block that starts at the pixel; outside the frame nothing is compared
    block = np.ones((2, 2), np.uint8)
    return cv2.morphologyEx(mask.view(np.uint8), cv2.MORPH_GRADIENT, block, anchor=(0, 0)).view(np.bool_)


def statistics(values: Sequence[float] | npt.NDArray[np.float64]) -> Statistics:
    """Mean, recall and decay of the values of one object over its frames (at least one)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise InputError(f"expected the values of one object over at least one frame, got an array of {values.shape}")
    # Rounded half up. The public tool keeps these as 8-bit numbers, which wrap beyond 256 frames; here they do not.
    ends = (np.round(np.linspace(1, len(values), DECAY_BINS + 1) + 1e-10) - 1).astype(np.intp)
    first, last = values[ends[0] : ends[1] + 1], values[ends[-2] : ends[-1] + 1]
    return Statistics(
        mean=float(values.mean()),
        recall=float((values > RECALL_THRESHOLD).mean()),
        decay=float(first.mean() - last.mean()),
    )


def _as_bool(pred: Mask, truth: Mask) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    pred, truth = np.asarray(pred), np.asarray(truth)
    if pred.ndim != 2 or pred.shape != truth.shape or not pred.size:
        raise InputError(f"expected two masks (H, W) of one size, got {pred.shape} and {truth.shape}")
    return pred != 0, truth != 0


def _bounding_box(mask: Mask) -> tuple[int, int, int, int] | None:
    """Top, left, bottom and right (these two exclusive), or nothing for an empty mask."""
    if not mask.size:
        return None
    nonzero = (mask if mask.itemsize == 1 else mask != 0).view(np.uint8)
    left, top, width, height = cv2.boundingRect(nonzero)
    return (top, left, top + height, left + width) if width else None


def _jaccard(pred: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_]) -> float:
    union = np.count_nonzero(pred | truth)
    return float(np.count_nonzero(pred & truth) / union) if union else 1.0


def _boundary_f(pred: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_], radius: int) -> float:
    if not pred.size:
        return 1.0
    pred_edge, truth_edge = boundary_map(pred), boundary_map(truth)
    pred_count, truth_count = np.count_nonzero(pred_edge), np.count_nonzero(truth_edge)
    if not pred_count or not truth_count:
        return float(pred_count == truth_count)
    precision = (pred_count - _unmatched(pred_edge, truth_edge, radius)) / pred_count
    recall = (truth_count - _unmatched(truth_edge, pred_edge, radius)) / truth_count
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


def _unmatched(edge: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_], radius: int) -> int:
    """How many pixels of an edge (H, W) have no pixel of the other edge (H, W) within the radius.

    A dilation with a disk says it. The disk is made of rectangles, for which a dilation is separable and quick, and
    each is only applied where the larger ones before it have left something: mostly nothing.
    """
    left, near = edge.view(np.uint8), other.view(np.uint8)
    for rectangle in _disk_rectangles(radius):
        left = cv2.subtract(left, cv2.dilate(near, rectangle)).view(np.uint8)
        box = _bounding_box(left)
        if not box:
            return 0
        top, start, bottom, end = box
        reach = slice(max(top - radius, 0), bottom + radius), slice(max(start - radius, 0), end + radius)
        left, near = left[reach], near[reach]
    return cv2.countNonZero(left)


@cache
def _disk_rectangles(radius: int) -> list[npt.NDArray[np.uint8]]:
    """Centred rectangles of ones that together make the disk of pixels with x^2 + y^2 <= radius^2, largest first."""
    tallest = {math.isqrt(radius**2 - y**2): y for y in range(radius + 1)}  # of each width only the tallest is needed
    rectangles = [np.ones((2 * y + 1, 2 * x + 1), np.uint8) for x, y in tallest.items()]
    return sorted(rectangles, key=np.size, reverse=True)
