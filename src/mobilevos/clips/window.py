"""Clips as the tracker's window shows them: the same rule, on the true masks.

In use the network sees objects through a window that follows them (`tracking.window`): at about one size, in the
middle, a little late. Here the window is led by the ground truth of the frame before, and a square of it is cut out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mobilevos.arrays import VOID, Ids
from mobilevos.clips.clip import ClipConfig
from mobilevos.clips.motion import linear, translation
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.window import TARGET, Extent, LookAhead, extent_of_mask, first_look, next_look, whole_frame
from mobilevos.weights import WORKING_SIZE

SCALE_JITTER = 0.2
"""Standard deviation of the natural logarithm of the scale, once a clip: confidence and limits are not exact."""
OFF_CENTER = 0.1
"""How far the objects are from the middle at most, as a part of the clip's side, once a clip."""
SEARCHING = 0.12
"""Probability that the second frame is looked at as a whole, as after a cut, and the window closes in from there."""
LARGEST_PART = 0.75
"""Of the clip's side that the objects' box takes up at most in the first frame."""
LAG = 0.02
"""Standard deviation of the window's place from frame to frame, as a part of the clip's side."""


def window_views(
    rng: np.random.Generator, config: ClipConfig, labels: Sequence[Ids], *, far: bool = False
) -> np.ndarray | None:
    """What the window shows of the objects in frames with label maps (H, W).

    far: the first frame is of another moment; there the window begins anew.

    Returns:
        (T, 3, 3) maps from the clip to the frames; None where the first frame shows no object.
    """
    height, width = labels[0].shape
    whole = Geometry.fit(height, width, WORKING_SIZE, windowed=True)
    extents = [extent_of(label) for label in labels]
    if extents[0] is None:
        return None
    looks = [first_look(whole, extents[0])]
    searching = rng.random() < SEARCHING
    for number in range(1, len(labels)):
        if searching and number == 1:
            looks.append(whole_frame(whole))
        elif far and number == 1:
            looks.append(first_look(whole, extents[1]) if extents[1] is not None else looks[0])
        else:
            looks.append(next_look(whole, looks[-1], extents[number - 1]))
    scale = whole.unit * config.size / WORKING_SIZE * np.exp(np.clip(rng.normal(), -2, 2) * SCALE_JITTER)
    # The window is wider than it is high, the clip is square: wide objects are shown smaller, but whole.
    longest = max(extents[0].right - extents[0].left, extents[0].bottom - extents[0].top)
    scale = min(scale, LARGEST_PART * config.size / (longest * looks[0].zoom))
    offset = rng.uniform(-OFF_CENTER, OFF_CENTER, 2) * config.size
    angle = rng.uniform(-config.crop_rotation, config.crop_rotation)
    flip = -1.0 if rng.random() < config.flip else 1.0
    views = []
    for look in looks:
        place = offset + rng.normal(size=2) * LAG * config.size
        views.append(_view(config.size, look, scale, place, angle, flip, (width, height)))
    return np.stack(views)


def extent_of(labels: Ids) -> Extent | None:
    """Where the objects of a label map are; every second pixel tells."""
    coarse = labels[::2, ::2]
    found = extent_of_mask((coarse > 0) & (coarse < VOID))
    if found is None:
        return None
    return Extent(2 * found.left, 2 * found.top, 2 * found.right, 2 * found.bottom, 4 * found.area)


def side_in_use(rng: np.random.Generator, config: ClipConfig, area: float) -> float:
    """The side of a square of a picture that shows an object of `area` pixels at the size it has in use."""
    shown = TARGET * config.size / WORKING_SIZE * np.exp(np.clip(rng.normal(), -2, 2) * SCALE_JITTER)
    return float(config.size * np.sqrt(max(area, 1.0)) / shown)


def _view(
    size: int,
    look: LookAhead,
    scale: float,
    place: np.ndarray,
    angle: float,
    flip: float,
    frame: tuple[int, int],
) -> np.ndarray:
    """(3, 3): from the clip's pixels to the frame's."""
    per_pixel = 1 / (scale * look.zoom)
    half = size * per_pixel / 2
    middle = (size - 1) / 2
    center = [
        float(np.clip(at + shift * per_pixel, min(half, length / 2), max(length - half, length / 2)))
        for at, shift, length in zip((look.x, look.y), place, frame, strict=True)
    ]
    turn = linear(angle=angle, scale_x=flip * per_pixel, scale_y=per_pixel, about=(middle, middle))
    return translation(center[0] - middle, center[1] - middle) @ turn
