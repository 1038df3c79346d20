"""How the background moves from one frame to another, also where objects hide it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Image

Bits = NDArray[np.bool_]

SIDE = 288
"""The short side at which motion is measured."""

SAMPLES = 2000
"""Points the camera's motion is fitted to."""


def background_flow(frame: Image, other: Image, hole: Bits, other_hole: Bits) -> np.ndarray:
    """Where each pixel of a frame (H, W, 3) is found in the other: (H, W, 2) float32, in pixels to the right and down.

    hole, other_hole: (H, W), the objects, whose own motion does not count. There the flow is the motion of the camera
    (a homography fitted to the rest) and what the surroundings have on top of it.
    """
    height, width = hole.shape
    factor = min(1.0, SIDE / min(height, width))
    size = (max(16, round(width * factor)), max(16, round(height * factor)))
    grays = [
        cv2.cvtColor(cv2.resize(f, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY) for f in (frame, other)
    ]
    start = np.zeros((*size[::-1], 2), np.float32)
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(grays[0], grays[1], start)
    grown = np.ones((9, 9), np.uint8)  # motion near an object's edge is mixed with the object's
    unknown = cv2.dilate(_small(hole | other_hole, size), grown) > 0
    camera = _camera(flow, ~unknown)
    rest = complete(flow - camera, ~unknown)
    whole = cv2.resize(camera + rest, (width, height), interpolation=cv2.INTER_LINEAR)
    return whole * np.array([width / size[0], height / size[1]], np.float32)


def _small(hole: Bits, size: tuple[int, int]) -> np.ndarray:
    return (cv2.resize(hole.view(np.uint8) * 255, size, interpolation=cv2.INTER_AREA) > 0).astype(np.uint8)


def _camera(flow: np.ndarray, known: Bits) -> np.ndarray:
    """The homography that most of the known flow (H, W, 2) follows, as a flow; no motion where it cannot be told."""
    height, width = known.shape
    y, x = np.nonzero(known)
    if len(x) < 16:
        return np.zeros_like(flow)
    chosen = np.linspace(0, len(x) - 1, min(SAMPLES, len(x))).astype(int)
    start = np.stack([x[chosen], y[chosen]], 1).astype(np.float32)
    cv2.setRNGSeed(0)
    matrix, _ = cv2.findHomography(start, start + flow[y[chosen], x[chosen]], cv2.RANSAC, 1.0)
    if matrix is None:
        return np.zeros_like(flow)
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(np.float32)
    return cv2.perspectiveTransform(grid.reshape(-1, 1, 2), matrix).reshape(height, width, 2) - grid


def complete(values: np.ndarray, known: Bits) -> np.ndarray:
    """Values (H, W, C) float32 with those that are not known (H, W) filled in smoothly from around.

    Down a pyramid, averaging what is known, and up again, filling what is not.
    """
    weight = known.astype(np.float32)
    if not known.any():
        return np.zeros_like(values)
    return _pull(values * weight[..., None], weight)


def _pull(weighted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sum of values (H, W, C) and of their weights (H, W) to values everywhere."""
    height, width = weight.shape
    mean = weighted / np.maximum(weight, 1e-6)[..., None]
    if (weight > 0.999).all() or min(height, width) == 1:
        return mean
    size = ((width + 1) // 2, (height + 1) // 2)
    coarse_weight = cv2.resize(weight, size, interpolation=cv2.INTER_AREA)
    coarse = cv2.resize(weighted, size, interpolation=cv2.INTER_AREA).reshape(*size[::-1], -1)
    scale = np.minimum(1, 4 * coarse_weight) / np.maximum(coarse_weight, 1e-6)  # a quarter known is known enough
    below = _pull(coarse * scale[..., None], coarse_weight * scale)
    above = cv2.resize(below, (width, height), interpolation=cv2.INTER_LINEAR).reshape(height, width, -1)
    share = np.minimum(weight, 1)[..., None]
    return mean * share + above * (1 - share)
