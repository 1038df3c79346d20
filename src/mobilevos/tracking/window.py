"""Where to look: a window that follows the objects and shows them at the size the network knows best.

Only numbers are decided here, all in pixels of the frame. All windows have one shape, so that one compiled graph serves
them: that of the frame, though not wider than `geometry.WIDEST` where one object is followed; they lie inside it.
`LookAhead` says where the objects were, how they move and how large the window is; `next_look` makes the next one of
what a step has found. What the numbers below were chosen from is in docs/architecture.md; training draws its clips by
the same ones (`clips.crop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from mobilevos.arrays import Array, Bits, Image
from mobilevos.tracking.geometry import Geometry

TARGET = 130.0
"""Square root of an object's area, in pixels of the network, at which it is shown."""
MOST_ZOOM = 2.2
"""How much larger than in the whole frame objects are shown at most."""
LARGEST_SHARE = 0.5
"""Of the frame's sides, over the zoom, that the objects' box takes up at most, with the room for their motion."""
MOST_OF_VIEW = 0.9
"""The same of the window's own sides: where a frame is wider than that, it is looked at from farther away."""
ROOMY = 0.7
"""Of the window's own sides, at the start: an object that takes up more is followed through windows as wide as the
frame, and so are several."""
CLOSER = 1.1
"""Factor by which the zoom grows at most from frame to frame: the memory holds objects as they were."""
FARTHER = 1.1
"""Factor by which it shrinks at most while the objects are well inside of the window."""
GIVE_ROOM = 1.4
"""The same where they are not: they grow or move faster than the window."""
SEARCH = 2.2
"""The same where they are lost, until the window is as high as the frame; from there on it looks from side to side."""
TRUSTED = 0.35
"""Confidence below which a mask does not lead the window."""
SMOOTH = 0.25
"""Share of the newest motion in the speed that is expected."""
CUT = 0.6
"""Two frames whose colours have less than this in common (0..1) belong to different shots."""
STEP = 4
"""One pixel in so many of the network's, each way, is looked at."""


@dataclass(frozen=True)
class Extent:
    """Where objects are in the frame."""

    left: float
    top: float
    right: float
    bottom: float
    area: float

    @property
    def center(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(frozen=True)
class LookAhead:
    """Where to look in the next frame, and why."""

    x: float
    y: float
    zoom: float
    speed: tuple[float, float] = (0.0, 0.0)
    """Of the objects' centre, a frame"""
    growth: tuple[float, float] = (0.0, 0.0)
    """Of the objects' width and height, a frame"""
    extent: Extent | None = None
    """Where they were seen last"""

    def geometry(self, whole: Geometry) -> Geometry:
        """The window itself."""
        return whole.window(self.x, self.y, self.zoom)


def closest_zoom(whole: Geometry, extent: Extent, room: tuple[float, float] = (0.0, 0.0)) -> float:
    """How close to look at objects that need this much room, each way, around their box."""
    wanted = TARGET / (np.sqrt(max(extent.area, 1.0)) * whole.unit)
    across = max(1.0, extent.right - extent.left + 2 * room[0])
    down = max(1.0, extent.bottom - extent.top + 2 * room[1])
    fits = LARGEST_SHARE * min(whole.width / across, whole.height / down)
    most = MOST_OF_VIEW * min(whole.sides[1] / across, whole.sides[0] / down)
    return float(max(whole.widest, min(max(1.0, min(wanted, fits, MOST_ZOOM)), most)))


def is_roomy(whole: Geometry, extents: Sequence[Extent | None]) -> bool:
    """Whether windows that are not as wide as the frame will do for objects that begin like this.

    Several may move apart, and would then all be seen smaller.
    """
    if len(extents) != 1 or extents[0] is None:
        return False
    (height, width), extent = whole.sides, extents[0]
    return extent.right - extent.left <= ROOMY * width and extent.bottom - extent.top <= ROOMY * height


def first_look(whole: Geometry, extent: Extent | None) -> LookAhead:
    """Around objects that have just been marked."""
    if extent is None:
        return whole_frame(whole)
    return LookAhead(*extent.center, closest_zoom(whole, extent), extent=extent)


def whole_frame(whole: Geometry) -> LookAhead:
    """When nothing is known: all of the frame, or the middle of one that is wider than the window."""
    return LookAhead(whole.width / 2, whole.height / 2, 1.0)


def look_around(whole: Geometry, extent: Extent | None) -> LookAhead:
    """At what is marked and has no size yet: with all around it that the window shows without coming close."""
    if extent is None:
        return whole_frame(whole)
    return LookAhead(*extent.center, min(1.0, closest_zoom(whole, extent)))


def next_look(whole: Geometry, last: LookAhead, found: Extent | None) -> LookAhead:
    """After a step that has found the objects there, or nothing that can be trusted."""
    if found is None:
        return _search(whole, last)
    speed, growth = last.speed, last.growth
    if last.extent is not None:
        before, center = last.extent.center, found.center
        sizes = (found.right - found.left, found.bottom - found.top)
        old = (last.extent.right - last.extent.left, last.extent.bottom - last.extent.top)
        speed = _mixed(speed, (center[0] - before[0], center[1] - before[1]))
        growth = _mixed(growth, (sizes[0] - old[0], sizes[1] - old[1]))
    room = abs(speed[0]) + max(0.0, growth[0]), abs(speed[1]) + max(0.0, growth[1])
    wanted = closest_zoom(whole, found, room)
    farther = GIVE_ROOM if _is_tight(whole, last, found) else FARTHER
    zoom = max(whole.widest, min(max(wanted, last.zoom / farther), last.zoom * CLOSER))
    x, y = found.center
    return LookAhead(x + speed[0], y + speed[1], zoom, speed, growth, found)


def _search(whole: Geometry, last: LookAhead) -> LookAhead:
    """Where to look for objects that are lost: in ever more of the frame, then on either side of it in turns.

    All of a frame that is wider than the window could be seen at once only from farther away, and not known again.
    """
    if last.zoom > 1:
        return replace(last, zoom=max(1.0, last.zoom / SEARCH), speed=(0.0, 0.0), growth=(0.0, 0.0))
    x, y = (
        length - side / 2 if at <= length / 2 else side / 2
        for at, length, side in zip((last.x, last.y), (whole.width, whole.height), whole.sides[::-1], strict=True)
    )
    return replace(last, x=x, y=y, zoom=1.0, speed=(0.0, 0.0), growth=(0.0, 0.0))


def extent_of(inside: Bits, geometry: Geometry) -> Extent | None:
    """Of the cells (h / STEP, w / STEP) of the network in which objects win; None where there is none."""
    x, y, w, h = cv2.boundingRect(inside.view(np.uint8))
    if w == 0:
        return None
    pad_top, _, pad_left, _ = geometry.padding
    top, left, height, width = geometry.box
    fx, fy = width / geometry.scaled[1], height / geometry.scaled[0]
    area = int(np.count_nonzero(inside)) * (STEP / geometry.scale) ** 2

    def across(cell: float, pad: int, factor: float, start: int, length: int) -> float:
        return start + min(max(0.0, (cell * STEP - pad) * factor), length)

    return Extent(
        across(x, pad_left, fx, left, width),
        across(y, pad_top, fy, top, height),
        across(x + w, pad_left, fx, left, width),
        across(y + h, pad_top, fy, top, height),
        area,
    )


def extent_of_mask(mask: Bits) -> Extent | None:
    """Of what is drawn in a frame (H, W); None where nothing is."""
    x, y, w, h = cv2.boundingRect(mask.view(np.uint8))
    return Extent(x, y, x + w, y + h, int(np.count_nonzero(mask))) if w else None


def joined(extents: Sequence[Extent]) -> Extent:
    """One extent of several; the area is the mean, because it stands for how large objects are."""
    return Extent(
        min(extent.left for extent in extents),
        min(extent.top for extent in extents),
        max(extent.right for extent in extents),
        max(extent.bottom for extent in extents),
        sum(extent.area for extent in extents) / len(extents),
    )


def winners(probabilities: Array) -> np.ndarray:
    """Which channel of (1 + N, h, w) has each cell: (h / STEP, w / STEP)."""
    return probabilities[:, ::STEP, ::STEP].argmax(0)


def palette_of(frame: Image) -> Array:
    """How often colours occur in a frame (H, W, 3): (512,), sums to 1. Some thousand pixels tell it."""
    step = max(1, min(frame.shape[:2]) // 48)
    coarse = frame[::step, ::step] >> 5
    index = (coarse[..., 0].astype(np.int32) << 6) | (coarse[..., 1].astype(np.int32) << 3) | coarse[..., 2]
    counts = np.bincount(index.ravel(), minlength=512).astype(np.float32)
    return counts / counts.sum()


def is_cut(before: Array, now: Array) -> bool:
    """Whether the film has cut to another shot, by the palettes of two frames."""
    return float(np.minimum(before, now).sum()) < CUT


def _mixed(old: tuple[float, float], new: tuple[float, float]) -> tuple[float, float]:
    return tuple((1 - SMOOTH) * a + SMOOTH * b for a, b in zip(old, new, strict=True))  # type: ignore[return-value]


def _is_tight(whole: Geometry, last: LookAhead, found: Extent) -> bool:
    """Whether objects come close to a border of the window that is not the frame's."""
    top, left, height, width = last.geometry(whole).box
    margin_x, margin_y = 0.06 * width, 0.06 * height
    return (
        (left > 0 and found.left < left + margin_x)
        or (top > 0 and found.top < top + margin_y)
        or (left + width < whole.width and found.right > left + width - margin_x)
        or (top + height < whole.height and found.bottom > top + height - margin_y)
    )
