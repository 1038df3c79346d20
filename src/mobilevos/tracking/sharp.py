"""Masks whose edges follow the picture at its full resolution.

The network sees a frame reduced, and decides on a grid of every fourth pixel of that. Here its probabilities are
upsampled with the full frame as a guide: around each pixel the probability is a linear function of the colour
(He et al., Guided Image Filtering, in its fast variant), fitted on the reduced frame and applied to the full one.
Only a band around the outlines is computed; elsewhere the network is sure.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array, Ids, Image

ENLARGED = 1.5
"""How much larger than the network's frame the full one must be; below, plain masks score a better F."""

BAND = 6
"""How far from an outline the mask may change, in pixels of the network."""

STEP = 4
"""One pixel in so many of the network's frame, each way, is used for the fit: its masks are no finer than that."""

RADIUS = 1
"""Of the window of a fit, in pixels after the step above."""

EPSILON = 1e-4
"""Variance of a colour (0..1) below which an edge in it counts for nothing."""

REMAP_WIDTH = 4096
"""OpenCV looks up points in pictures of less than 32768 columns."""


def ids_of_part(probabilities: Array, part: Image) -> Ids:
    """Which channel of probabilities (1 + N, h, w) has each pixel of the part of a frame (H, W, 3) they are of: (H, W).

    Edges follow the part's where it is much larger than the network saw it.
    """
    height, width = part.shape[:2]
    if height < ENLARGED * probabilities.shape[1]:
        return plain_ids(probabilities, height, width)
    labels = np.zeros((height, width), np.uint8)
    winner = probabilities.argmax(0).astype(np.uint8)
    outline = cv2.morphologyEx(winner, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    band = cv2.dilate(outline.view(np.uint8), np.ones((2 * BAND + 1, 2 * BAND + 1), np.uint8))
    # All that follows is done around the objects only: in a large frame they are a small part of it.
    rows, row_cells = _around(winner | band, 0, height)
    columns, column_cells = _around(winner | band, 1, width)
    labels[rows, columns] = winner.take(column_cells, 1).take(row_cells, 0)  # so that whole rows are copied
    points = cv2.findNonZero(band.take(column_cells, 1).take(row_cells, 0))
    if points is not None:
        x, y = points.reshape(-1, 2).T + np.array([[columns.start], [rows.start]], np.int32)
        labels[y, x] = _decide(probabilities, part, x, y, cv2.boundingRect(band))
    return labels


def _around(plane: Ids, axis: int, length: int) -> tuple[slice, NDArray[np.intp]]:
    """The pixels of an axis of `length` pixels in which a plane (h, w) is not 0, and the cell each of them is in."""
    cells = np.flatnonzero(plane.any(1 - axis))
    count = plane.shape[axis]
    if not len(cells):
        return slice(0, 0), cells
    begin, end = -(-int(cells[0]) * length // count), -(-(int(cells[-1]) + 1) * length // count)
    return slice(begin, end), np.arange(begin, end) * count // length


def plain_ids(probabilities: Array, height: int, width: int) -> Ids:
    """The same by resizing alone."""

    def resized(channel: Array) -> np.ndarray:
        if channel.shape == (height, width):
            return channel
        return cv2.resize(channel, (width, height), interpolation=cv2.INTER_LINEAR)

    if len(probabilities) == 2:  # two probabilities that sum to one: half of the resizing suffices
        return (resized(probabilities[1]) > 0.5).view(np.uint8)
    return np.stack([resized(channel) for channel in probabilities]).argmax(0).astype(np.uint8)


def _decide(
    probabilities: Array, frame: Image, x: NDArray[np.int32], y: NDArray[np.int32], box: Sequence[int]
) -> NDArray[np.uint8]:
    """Which channel of probabilities (1 + N, h, w) wins at the points x, y (P,) of the full frame (H, W, 3).

    box: x, y, width, height of the part of the network's frame in which the points lie.
    """
    _, h, w = probabilities.shape
    margin = 2 * STEP * RADIUS
    left, top = max(0, box[0] - margin), max(0, box[1] - margin)
    right, bottom = min(w, box[0] + box[2] + margin), min(h, box[1] + box[3] + margin)
    size = (max(1, (right - left) // STEP), max(1, (bottom - top) // STEP))
    height, width = frame.shape[:2]
    part = frame[top * height // h : -(-bottom * height // h), left * width // w : -(-right * width // w)]
    guide = cv2.resize(part, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    fit = _Fit(guide)

    # Where each point of the full frame lies between the centres of the fit's pixels.
    column = ((x + 0.5) * (w / width) - left) * (size[0] / (right - left)) - 0.5
    row = ((y + 0.5) * (h / height) - top) * (size[1] / (bottom - top)) - 0.5
    colours = frame[y, x].astype(np.float32) / 255
    best, labels = np.ones(len(x), np.float32), np.zeros(len(x), np.uint8)
    scores = []
    for channel in probabilities[1:, top:bottom, left:right]:
        coefficients = fit.coefficients(cv2.resize(channel, size, interpolation=cv2.INTER_AREA))
        at = _look_up(coefficients, column.astype(np.float32), row.astype(np.float32))
        scores.append(np.einsum("pc,pc->p", at[:, :3], colours) + at[:, 3])
        best -= scores[-1]  # what is left for the background
    for index, score in enumerate(scores, start=1):
        better = score > best
        labels[better], best[better] = index, score[better]
    return labels


class _Fit:
    """Linear functions of the colour, one around each pixel of a guide (h, w, 3), 0..1."""

    def __init__(self, guide: np.ndarray) -> None:
        self.guide = guide
        self.mean = _average(guide)
        r, g, b = cv2.split(guide)
        mr, mg, mb = cv2.split(self.mean)
        rr, rg, rb = _average(r * r) - mr * mr + EPSILON, _average(r * g) - mr * mg, _average(r * b) - mr * mb
        gg, gb, bb = _average(g * g) - mg * mg + EPSILON, _average(g * b) - mg * mb, _average(b * b) - mb * mb + EPSILON
        # The inverse of the covariance, a symmetric 3 x 3 matrix at each pixel, by its cofactors.
        cofactors = (gg * bb - gb * gb, gb * rb - rg * bb, rg * gb - gg * rb)
        scale = 1 / (rr * cofactors[0] + rg * cofactors[1] + rb * cofactors[2])
        self.inverse = [
            c * scale for c in (*cofactors, rr * bb - rb * rb, rg * rb - rr * gb, rr * gg - rg * rg)
        ]  # (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)

    def coefficients(self, probability: np.ndarray) -> np.ndarray:
        """(h, w, 4): the slope for each colour and the constant of each pixel, averaged over the windows it is in."""
        mean = _average(probability)
        products = _average(cv2.multiply(self.guide, cv2.cvtColor(probability, cv2.COLOR_GRAY2RGB)))
        cr, cg, cb = cv2.split(products - self.mean * mean[..., None])
        i00, i01, i02, i11, i12, i22 = self.inverse
        slopes = (i00 * cr + i01 * cg + i02 * cb, i01 * cr + i11 * cg + i12 * cb, i02 * cr + i12 * cg + i22 * cb)
        constant = mean - sum(s * m for s, m in zip(slopes, cv2.split(self.mean), strict=True))
        return _average(cv2.merge((*slopes, constant)))


def _average(plane: np.ndarray) -> np.ndarray:
    return cv2.blur(plane, (2 * RADIUS + 1, 2 * RADIUS + 1), borderType=cv2.BORDER_REPLICATE)


def _look_up(planes: np.ndarray, column: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Planes (h, w, C) at points (P,), linearly interpolated: (P, C)."""
    missing = -len(column) % REMAP_WIDTH
    x, y = (np.pad(axis, (0, missing)).reshape(-1, REMAP_WIDTH) for axis in (column, row))
    found = cv2.remap(planes, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return found.reshape(-1, planes.shape[2])[: len(column)]
