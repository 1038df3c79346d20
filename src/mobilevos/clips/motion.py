"""Smooth random motion: affine trajectories and non-rigid deformations, and warping pictures by both at once.

Affine maps are 3 x 3 float arrays on (x, y, 1) in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.clip import ClipConfig

_STEP = 4  # dense maps are computed at every 4th pixel and interpolated: they are smooth
_FIELD = 33  # side of a deformation field
_MOST_BENT = 0.05  # of a layer's size: fields have nodes a sixth of it apart, so hardly anything folds over


def translation(x: float, y: float) -> np.ndarray:
    """The map (x', y') -> (x' + x, y' + y)."""
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]], np.float64)


def linear(
    *, angle: float = 0.0, scale_x: float = 1.0, scale_y: float = 1.0, shear: float = 0.0, about: tuple[float, float]
) -> np.ndarray:
    """Scale, shear and rotate (degrees) about a fixed point."""
    cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    rotation = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    shape = np.array([[scale_x, shear * scale_y, 0], [0, scale_y, 0], [0, 0, 1]])
    return translation(*about) @ rotation @ shape @ translation(-about[0], -about[1])


def random_trajectory(
    rng: np.random.Generator, config: ClipConfig, about: tuple[float, float], strength: float = 1.0
) -> np.ndarray:
    """A smooth random motion of something at the point `about` of the clip.

    Returns:
        (T, 3, 3) maps from positions in frame 0 to positions in frame t; the first is the identity.
    """
    sigma = np.array([config.move, config.move, config.rotate, config.zoom, 0.3 * config.zoom, config.shear])
    # Most clips are calm, some are wild; sharing the draw makes all parts of a motion fast or slow together.
    sigma = sigma * strength * rng.uniform(0.05, 1.6)
    velocity = rng.normal(size=6) * sigma
    steps = []
    for _ in range(config.frames - 1):
        steps.append(velocity)
        velocity = 0.8 * velocity + 0.6 * rng.normal(size=6) * sigma
    if steps and rng.random() < config.jump:
        steps[int(rng.integers(len(steps)))] *= rng.uniform(2.0, 4.0)
    poses = np.cumsum([np.zeros(6), *steps], axis=0)
    limit = np.array([0.7, 0.7, 75.0, 0.7, 0.3, 0.4]) * min(1.0, 3 * strength)
    poses = limit * np.tanh(poses / limit)
    return np.stack(
        [
            translation(x * config.size, y * config.size)
            @ linear(
                angle=angle, scale_x=np.exp(zoom + stretch), scale_y=np.exp(zoom - stretch), shear=shear, about=about
            )
            for x, y, angle, zoom, stretch, shear in poses
        ]
    )


def random_deformation(rng: np.random.Generator, config: ClipConfig) -> np.ndarray:
    """A deformation that grows and changes smoothly over the clip.

    Returns:
        (T, 33, 33, 2) float32 displacements over the layer it deforms, as parts of that layer's size; zero in frame 0.
    """
    strength = config.elastic_strength * rng.uniform(0.2, 1.8)
    shape = (int(rng.integers(4, 7)), int(rng.integers(4, 7)), 2)
    velocity = rng.normal(size=shape) * strength
    walk = np.zeros((config.frames, *shape), np.float32)
    for t in range(1, config.frames):
        walk[t] = walk[t - 1] + velocity
        velocity = 0.8 * velocity + 0.6 * rng.normal(size=shape) * strength
    walk = _MOST_BENT * np.tanh(walk / _MOST_BENT)
    return np.stack([cv2.resize(grid, (_FIELD, _FIELD), interpolation=cv2.INTER_CUBIC) for grid in walk])


def warp(
    picture: np.ndarray,
    to_source: np.ndarray,
    window: tuple[int, int, int, int],
    field: np.ndarray | None = None,
    *,
    interpolation: int = cv2.INTER_LINEAR,
    border: int = cv2.BORDER_CONSTANT,
    fill: int = 0,
) -> np.ndarray:
    """Draw a window of the clip from a picture, in one resampling.

    Args:
        picture: (H, W) or (H, W, C) uint8.
        to_source: map from clip positions to positions in the picture.
        window: x, y, width, height in the clip.
        field: (33, 33, 2) displacements spread over the picture, as parts of its size.
    Returns:
        (height, width[, C]) uint8.
    """
    x, y, width, height = window
    if field is None:
        local = (to_source @ translation(x, y))[:2]
        return cv2.warpAffine(
            picture,
            local,
            (width, height),
            flags=interpolation | cv2.WARP_INVERSE_MAP,
            borderMode=border,
            borderValue=(fill,) * 4,
        )
    xs, ys = _dense_map(picture.shape[:2], to_source, window, field)
    return cv2.remap(picture, xs, ys, interpolation, borderMode=border, borderValue=(fill,) * 4)


def show(
    shots: Sequence[tuple[np.ndarray, np.ndarray]], views: np.ndarray, size: int, fields: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The frames and masks of a clip; beyond their borders pictures are mirrored and masks void.

    Args:
        shots: T times picture (H, W, 3) and labels (H, W), uint8.
        views: (T, 3, 3) maps from the clip to the pictures.
        fields: (T, 33, 33, 2), see `random_deformation`.
    Returns:
        (T, size, size, 3) and (T, size, size) uint8.
    """
    window = (0, 0, size, size)
    frames = np.empty((len(shots), size, size, 3), np.uint8)
    masks = np.empty((len(shots), size, size), np.uint8)
    for t, ((picture, labels), view) in enumerate(zip(shots, views, strict=True)):
        field = None if fields is None or t == 0 else fields[t]  # frame 0 is never deformed
        frames[t] = warp(picture, view, window, field, border=cv2.BORDER_REFLECT_101)
        masks[t] = warp(labels, view, window, field, interpolation=cv2.INTER_NEAREST, fill=VOID)
    return frames, masks


def _dense_map(
    shape: tuple[int, ...], to_source: np.ndarray, window: tuple[int, int, int, int], field: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions x and y in the picture for every pixel of the window, (height, width) float32 each."""
    x, y, width, height = window
    # Centres of _STEP x _STEP blocks, one block beyond the window on all sides, as cv2.resize places them.
    columns = x + _STEP * np.arange(-1, width // _STEP + 2) + (_STEP - 1) / 2
    rows = (y + _STEP * np.arange(-1, height // _STEP + 2) + (_STEP - 1) / 2)[:, None]
    (a, b, c), (d, e, f) = to_source[:2]
    xs = (a * columns + b * rows + c).astype(np.float32)
    ys = (d * columns + e * rows + f).astype(np.float32)
    # Two maps of one channel: OpenCV 5.0 can hang on one map of two channels with an empty second one.
    across, down = xs * np.float32((_FIELD - 1) / shape[1]), ys * np.float32((_FIELD - 1) / shape[0])
    shift = cv2.remap(field, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    xs += shape[1] * shift[..., 0]
    ys += shape[0] * shift[..., 1]
    size = (len(columns) * _STEP, len(rows) * _STEP)
    inner = np.s_[_STEP : _STEP + height, _STEP : _STEP + width]
    return cv2.resize(xs, size)[inner], cv2.resize(ys, size)[inner]
