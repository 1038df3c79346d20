"""Rough prompts, as people give them: a box, a scribble or some clicks instead of a mask."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from mobilevos.tracking.prompts import learned_radius


def draw_prompt(
    mask: np.ndarray, others: np.ndarray, rng: np.random.Generator, kind: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a prompt for an object.

    Args:
        mask: (H, W) bool, the object.
        others: (H, W) bool, other objects: likely places of negative clicks.
        kind: "box", "scribble" or "clicks"; random where it is None.
    Returns:
        (H, W) uint8 0/1, twice: what was marked as the object and what as not the object. Both are empty for an empty
        object.
    """
    if kind is None:
        kind = str(rng.choice(list(KINDS), p=SHARES))
    if kind not in KINDS:
        raise ValueError(f"expected a prompt of kind {', '.join(KINDS)}, got {kind!r}")
    mask, others = np.asarray(mask, bool).view(np.uint8), np.asarray(others, bool).view(np.uint8)
    positive, negative = np.zeros_like(mask), np.zeros_like(mask)
    if mask.any():
        KINDS[kind](mask, others, rng, positive, negative)
    return positive, negative


def _box(
    mask: np.ndarray, others: np.ndarray, rng: np.random.Generator, positive: np.ndarray, negative: np.ndarray
) -> None:
    """A filled box, each side off by some of the object's size; it says nothing about what is not the object."""
    x, y, width, height = cv2.boundingRect(mask)
    left, right = np.clip(rng.normal(0.02, 0.06, size=2), -0.12, 0.15) * width
    top, bottom = np.clip(rng.normal(0.02, 0.06, size=2), -0.12, 0.15) * height
    x0, y0 = max(0, round(x - left)), max(0, round(y - top))
    positive[y0 : max(y0 + 1, round(y + height + bottom)), x0 : max(x0 + 1, round(x + width + right))] = 1


def _scribble(
    mask: np.ndarray, others: np.ndarray, rng: np.random.Generator, positive: np.ndarray, negative: np.ndarray
) -> None:
    """A stroke along the object that keeps to it, and sometimes one over what is around it."""
    _stroke(mask, rng, positive)
    if rng.random() < 0.4:
        _stroke(_surroundings(mask, others), rng, negative)


def _clicks(
    mask: np.ndarray, others: np.ndarray, rng: np.random.Generator, positive: np.ndarray, negative: np.ndarray
) -> None:
    """Mostly one click on the object, as people begin; or up to three, and up to two beside it or on other objects."""
    radius = _thickness(mask)
    # People click well inside of an object.
    inside = cv2.distanceTransform(mask, cv2.DIST_L2, 3)
    core = (inside >= 0.4 * inside.max()).view(np.uint8)
    alone = rng.random() < 0.6
    for x, y in _points(core, rng, 1 if alone else int(rng.integers(1, 4))):
        cv2.circle(positive, (x, y), radius, 1, -1)
    for x, y in _points(_surroundings(mask, others), rng, 0 if alone else int(rng.integers(0, 3))):
        cv2.circle(negative, (x, y), radius, 1, -1)
    negative[mask > 0] = 0


def _thickness(mask: np.ndarray) -> int:
    return learned_radius(mask.shape[0])


def _surroundings(mask: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The other objects and a belt around the object."""
    reach = 4 * _thickness(mask)
    far = cv2.dilate(mask, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    near = cv2.dilate(mask, np.ones((2 * _thickness(mask) + 1,) * 2, np.uint8))
    return (far | others) & (1 - near)


def _points(area: np.ndarray, rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    """Random points (x, y) of an area."""
    ys, xs = np.nonzero(area)
    if len(xs) == 0:
        return []
    return [(int(xs[i]), int(ys[i])) for i in rng.integers(len(xs), size=count)]


def _stroke(area: np.ndarray, rng: np.random.Generator, canvas: np.ndarray) -> None:
    """A polyline through a few points of an area, in the order of their place along a random direction."""
    points = np.array(_points(area, rng, int(rng.integers(2, 6))), np.int32).reshape(-1, 2)
    if len(points) == 0:
        return
    angle = rng.uniform(0, np.pi)
    points = points[np.argsort(points @ [np.cos(angle), np.sin(angle)])]
    cv2.polylines(canvas, [points.reshape(-1, 1, 2)], False, 1, 2 * _thickness(area) - 1, cv2.LINE_8)
    canvas &= area


KINDS: dict[str, Callable[[np.ndarray, np.ndarray, np.random.Generator, np.ndarray, np.ndarray], None]] = {
    "box": _box,
    "scribble": _scribble,
    "clicks": _clicks,
}

SHARES = (0.3, 0.15, 0.55)
"""How often each of them is drawn: one click is what people try first, and what says least."""
