"""Choosing the part of a picture that a clip shows. Crops are (3, 3) maps from the clip's pixels to the picture's."""

from __future__ import annotations

import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.clip import ClipConfig
from mobilevos.clips.motion import linear, translation
from mobilevos.clips.window import side_in_use


def crop_around_objects(
    rng: np.random.Generator, config: ClipConfig, labels: np.ndarray, tries: int = 16
) -> np.ndarray | None:
    """Draw a crop that shows the objects of a picture, neither too small nor too large, and whole where possible.

    Args:
        labels: (H, W) uint8 with ids 1..N for what has to be seen.
    Returns:
        the crop, or None where none was found.
    """
    # Every second pixel is enough to measure areas.
    coarse = labels[::2, ::2]
    wanted = (coarse > 0) & (coarse < VOID)
    ys, xs = np.nonzero(wanted)
    if len(xs) == 0:
        return None
    as_in_use = bool(config.window and rng.random() < config.window)
    for attempt in range(tries):
        whole = (0.98 if as_in_use else 0.9) if attempt < 0.75 * tries else 0.4
        point = int(rng.integers(len(xs)))
        side = min(side_in_use(rng, config, 4.0 * len(xs)), 1.0 * min(labels.shape)) if as_in_use else None
        x, y, width, height = _window(rng, config, labels.shape, (2.0 * xs[point], 2.0 * ys[point]), side)
        seen = wanted[int(y / 2) : int((y + height) / 2) + 1, int(x / 2) : int((x + width) / 2) + 1]
        count = np.count_nonzero(seen)
        pixels = 4 * count * config.size**2 / (width * height)
        if pixels >= 1.2 * config.min_pixels and whole * len(xs) <= count <= config.max_fill * seen.size:
            return _crop(rng, config, (x, y, width, height))
    return None


def crop_anywhere(rng: np.random.Generator, config: ClipConfig, shape: tuple[int, ...]) -> np.ndarray:
    """Draw a crop of a picture of shape (H, W), whatever it shows."""
    point = rng.uniform(0, shape[1]), rng.uniform(0, shape[0])
    return _crop(rng, config, _window(rng, config, shape, point))


def _window(
    rng: np.random.Generator,
    config: ClipConfig,
    shape: tuple[int, ...],
    point: tuple[float, float],
    side: float | None = None,
) -> tuple[float, float, float, float]:
    """A random x, y, width, height inside of a picture of shape (H, W), around a point where possible."""
    if side is None:
        side = min(shape) * np.exp(rng.uniform(np.log(config.crop_min), np.log(config.crop_max)))
    stretch = np.exp(rng.uniform(-config.crop_aspect, config.crop_aspect) / 2)
    width, height = min(side * stretch, shape[1]), min(side / stretch, shape[0])
    x = np.clip(point[0] - width * rng.uniform(0.1, 0.9), 0, shape[1] - width)
    y = np.clip(point[1] - height * rng.uniform(0.1, 0.9), 0, shape[0] - height)
    return float(x), float(y), float(width), float(height)


def _crop(rng: np.random.Generator, config: ClipConfig, window: tuple[float, float, float, float]) -> np.ndarray:
    """Fit a window to the clip, sometimes mirrored and slightly rotated."""
    x, y, width, height = window
    middle = (config.size - 1) / 2
    flip = -1.0 if rng.random() < config.flip else 1.0
    turn = linear(
        angle=rng.uniform(-config.crop_rotation, config.crop_rotation),
        scale_x=flip * width / config.size,
        scale_y=height / config.size,
        about=(middle, middle),
    )
    return translation(x + (width - 1) / 2 - middle, y + (height - 1) / 2 - middle) @ turn
