"""The tracker: the only part that remembers frames."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Concatenate, Literal, NoReturn, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array, Ids, Image
from mobilevos.errors import InputError
from mobilevos.runtime import Runtime, load_runtime
from mobilevos.runtime.base import written
from mobilevos.tracking.confidence import confidence
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.group import Group
from mobilevos.tracking.parts import strays
from mobilevos.tracking.prompts import PROMPT_STRENGTH
from mobilevos.tracking.queue import MemoryQueue, Seen
from mobilevos.tracking.result import Sight, TrackResult
from mobilevos.tracking.window import (
    Extent,
    LookAhead,
    extent_of_mask,
    first_look,
    is_cut,
    is_roomy,
    joined,
    look_around,
    next_look,
    palette_of,
    whole_frame,
)
from mobilevos.weights import QUEUE, WORKING_SIZE

MOST_OBJECTS = 255
WINDOWS = ("auto", "off")
ORDERS = ("rgb", "bgr")

Given = ParamSpec("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class TrackerState:
    """All a tracker knows, as arrays: keep it, pickle it, go on from it later or elsewhere."""

    geometry: Geometry
    """Of whole frames"""
    ids: tuple[int, ...]
    group: Group
    time: int
    palette: Array | None
    """Colours of the current frame, by which cuts are told; None without windows"""


def _one_at_a_time(
    method: Callable[Concatenate[Tracker, Given], Result],
) -> Callable[Concatenate[Tracker, Given], Result]:
    """An error, and not a mixture of two videos, where two threads use one tracker."""

    @functools.wraps(method)
    def alone(self: Tracker, /, *args: Given.args, **options: Given.kwargs) -> Result:
        if not self._lock.acquire(blocking=False):
            raise InputError("this tracker is at work in another thread: give each thread one of its own")
        try:
            return method(self, *args, **options)
        finally:
            self._lock.release()

    return alone


class _Closed:
    """What a tracker has instead of a runtime when it is closed."""

    def __getattr__(self, name: str) -> NoReturn:
        raise InputError("this tracker is closed")


class Tracker:
    """Follows objects from frame to frame.

        tracker = Tracker.load("mobilenetv2-lite")
        tracker.start(frame, mask)
        for frame in frames:
            result = tracker.step(frame)    # .mask, .probabilities, .confidence

    It lets go of the network and of what it remembers by `close`, or at the end of a `with`.

    Args:
        runtime: what runs the network.
        queue: frames that are remembered: the annotated one and the most recent ones; None remembers without bound.
            "auto" takes `weights.QUEUE`, or fewer where the model has room for fewer.
        size: the short side at which the network sees a frame; larger frames are reduced. None takes them as they are.
        every: in an unbounded memory, one frame in so many stays.
        order: of the colours in frames: "rgb", or "bgr" as OpenCV reads them.
        window: "auto" follows objects with a window that shows them at the size the network knows best; "off" always
            shows it the whole frame. Frames that are taken as they are have no window.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        queue: int | Literal["auto"] | None = "auto",
        size: int | None = WORKING_SIZE,
        every: int = 5,
        window: str = "auto",
        order: str = "rgb",
    ) -> None:
        if queue == "auto":
            queue = min(QUEUE, runtime.slots or QUEUE)
        if queue is not None and queue < 1:
            raise InputError(f"expected a queue of at least 1 frame, got {queue}")
        if size is not None and size < 16:
            raise InputError(f"expected a working size of at least 16 pixels, got {size}")
        if window not in WINDOWS:
            raise InputError(f"expected {' or '.join(WINDOWS)} for the window, got {window!r}")
        if order not in ORDERS:
            raise InputError(f"expected {' or '.join(ORDERS)} for the order of colours, got {order!r}")
        self.runtime, self.order = runtime, order
        self._lock = threading.RLock()
        self.queue, self.size, self.every, self.window = queue, size, every, window
        self._state: TrackerState | None = None
        self._frame: Image | None = None

    @classmethod
    def load(
        cls,
        model: str | Path,
        runtime: str = "auto",
        *,
        queue: int | Literal["auto"] | None = "auto",
        size: int | None = WORKING_SIZE,
        every: int = 5,
        window: str = "auto",
        order: str = "rgb",
        threads: int | None = None,
    ) -> Tracker:
        """A tracker with a shipped model or the model of a file.

        threads: to compute with; None takes as many as OMP_NUM_THREADS says, or all cores.
        """
        if threads is not None and threads < 1:
            raise InputError(f"expected 1 or more threads, got {threads}")
        opened = load_runtime(model, runtime, threads)
        return cls(opened, queue=queue, size=size, every=every, window=window, order=order)

    @_one_at_a_time
    def close(self) -> None:
        """Let go of the network and of what is remembered. The tracker cannot be used after it."""
        self._state = self._frame = None
        self.runtime = cast(Runtime, _Closed())

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def ids(self) -> tuple[int, ...]:
        """The objects that are being followed."""
        return self._state.ids if self._state else ()

    @_one_at_a_time
    def start(self, frame: Image, mask: NDArray[np.integer]) -> TrackResult:
        """Begin anew with the objects of a mask (H, W): ids, 0 is background."""
        frame = self._taken(frame)
        ids = _check_mask(mask, frame.shape[:2])
        palette = palette_of(frame) if self._windows else None
        drawn = mask.astype(np.uint8)
        extents = [extent_of_mask(drawn == i) if self._windows else None for i in ids]
        whole = self._whole(frame, extents)
        look = self._look_at(whole, extents)
        group = Group.begin(self.runtime, frame, drawn, ids, whole, look, length=self.queue, every=self.every)
        self._state, self._frame = TrackerState(whole, ids, group, 0, palette), frame
        return self._as_drawn(drawn)

    @_one_at_a_time
    def step(self, frame: Image) -> TrackResult:
        """The objects in the next frame."""
        state = self.state()
        frame = self._taken(frame)
        whole = state.geometry
        if frame.shape[:2] != (whole.height, whole.width):
            raise InputError(
                f"expected a frame of {whole.width} x {whole.height} pixels like the first one, "
                f"got {frame.shape[1]} x {frame.shape[0]}"
            )
        time = state.time + 1
        palette = None if state.palette is None else palette_of(frame)
        cut = palette is not None and state.palette is not None and is_cut(state.palette, palette)
        look = whole_frame(whole) if cut else state.group.look
        group, sight = state.group.step(self.runtime, frame, look.geometry(whole), time)
        trust = confidence(sight)
        if self._windows:
            look = next_look(whole, look, group.extent(sight, trust))
        self._state = TrackerState(whole, state.ids, replace(group, look=look), time, palette)
        self._frame = frame
        return TrackResult(state.ids, sight, frame, trust)

    @_one_at_a_time
    def propose(
        self,
        frame: Image,
        marks: Mapping[int, NDArray[np.integer]],
        not_marks: Mapping[int, NDArray[np.integer]] | None = None,
    ) -> TrackResult:
        """Masks from rough marks: a box, a scribble or clicks per object. Changes nothing; hand the mask to `start`.

        Args:
            frame: (H, W, 3).
            marks: for each object id what was marked (H, W), non-zero where it is (see `tracking.prompts`).
            not_marks: for some of them what was marked as not the object.
        """
        frame = self._taken(frame)
        if not marks:
            raise InputError("expected a mark for at least one object")
        shape = (frame.shape[0], frame.shape[1])
        ids, off = tuple(marks), not_marks or {}
        nothing = np.zeros(shape, np.uint8)
        for layer in (*marks.values(), *off.values()):
            _check_mask(layer != 0, shape, may_be_empty=True)
        whole = Geometry.fit(*shape, self.size, windowed=self._windows)

        def through(geometry: Geometry, before: Sight | None) -> Sight:
            def drawn(chosen: Mapping[int, NDArray[np.integer]]) -> Array:
                cuts = [geometry.cut(chosen.get(i, nothing)) != 0 for i in ids]
                return PROMPT_STRENGTH * geometry.planes([part.astype(np.float32) for part in cuts])

            image, positive = geometry.frame(frame), drawn(marks)
            key, values = self.runtime.memorise(image, positive, drawn(off))
            memory = MemoryQueue.begin(Seen(0, image, positive, geometry), key, values, 2, 1).at(1)
            if before is not None:
                masks = before.probabilities[1:]
                if geometry != before.geometry:
                    masks = geometry.planes([geometry.cut(plane) for plane in before.geometry.restore(masks)])
                memory = written(memory, 1, *self.runtime.memorise(image, masks))
            probabilities, _, rating = self.runtime.step(image, memory, 1)
            for plane, mark in zip(probabilities[1:], positive, strict=True):
                astray = strays(plane > 0.5, mark > 0)
                probabilities[0, astray] += plane[astray]
                plane[astray] = 0
            return Sight(ids, probabilities, geometry, rating=rating)

        look = whole_frame(whole)
        if self._windows:
            marked = np.zeros(shape, bool)
            for layer in (*marks.values(), *off.values()):
                marked |= layer != 0
            look = look_around(whole, extent_of_mask(marked))
        sight = through(look.geometry(whole), None)
        if self._windows:
            # The second look is through a window around what was found and what was marked: small objects are seen at
            # their own size.
            covered = TrackResult(ids, sight, frame, {}).mask > 0
            for layer in marks.values():
                covered |= layer != 0
            look = first_look(whole, extent_of_mask(covered))
        sight = through(look.geometry(whole), sight)
        return TrackResult(ids, sight, frame, confidence(sight))

    @_one_at_a_time
    def add(self, mask: NDArray[np.integer]) -> TrackResult:
        """Follow further objects, drawn on the current frame. Where they cover known objects, they win."""
        state = self.state()
        new = _check_mask(mask, (state.geometry.height, state.geometry.width))
        known = sorted(set(new) & set(state.ids))
        if known:
            raise InputError(f"object {known[0]} is being followed already; use correct() to change its mask")
        if len(state.ids) + len(new) > MOST_OBJECTS:
            raise InputError(f"expected at most {MOST_OBJECTS} objects, got {len(state.ids) + len(new)}")
        covered = mask > 0
        layers = {i: np.where(covered, np.float32(0), plane) for i, plane in _layers(state).items()}
        layers |= {i: (mask == i).astype(np.float32) for i in new}
        group = state.group.with_objects(self.runtime, new)
        return self._annotate(replace(state, ids=state.ids + new, group=group), layers)

    @_one_at_a_time
    def correct(self, mask: NDArray[np.integer]) -> TrackResult:
        """Replace the masks of the current frame: all objects are as drawn here, missing ones are not visible."""
        state = self.state()
        given = _check_mask(mask, (state.geometry.height, state.geometry.width), may_be_empty=True)
        unknown = sorted(set(given) - set(state.ids))
        if unknown:
            raise InputError(f"object {unknown[0]} is not being followed; use add() for new objects")
        return self._annotate(state, {i: (mask == i).astype(np.float32) for i in state.ids})

    @_one_at_a_time
    def remove(self, identity: int) -> None:
        """Follow one object no longer."""
        state = self.state()
        if identity not in state.ids:
            raise InputError(f"object {identity} is not being followed; there are {list(state.ids)}")
        ids = tuple(i for i in state.ids if i != identity)
        if not ids:
            self._state = self._frame = None
            return
        self._state = replace(state, ids=ids, group=state.group.without(identity))

    def state(self) -> TrackerState:
        """What to hand to `restore` later. Later steps do not change it."""
        if self._state is None:
            raise InputError("nothing is being followed yet; call start() first")
        return self._state

    def restore(self, state: TrackerState, frame: Image | None = None) -> None:
        """Go on from a state, as if nothing had happened since.

        frame: the one it is after (H, W, 3). Without it, what is drawn next must be in the window that was kept.
        """
        self._state, self._frame = state, frame

    def _taken(self, frame: Image) -> Image:
        """A frame that was given, in RGB."""
        _check_frame(frame)
        return frame if self.order == "rgb" else np.ascontiguousarray(frame[..., ::-1])

    @property
    def _windows(self) -> bool:
        return self.window == "auto" and self.size is not None

    def _whole(self, frame: Image, extents: Iterable[Extent | None]) -> Geometry:
        """Of frames through which objects are followed that begin like this."""
        narrow = Geometry.fit(frame.shape[0], frame.shape[1], self.size, windowed=self._windows)
        return narrow if is_roomy(narrow, list(extents)) else Geometry.fit(frame.shape[0], frame.shape[1], self.size)

    def _look_at(self, whole: Geometry, extents: Iterable[Extent | None]) -> LookAhead:
        """The window for objects that have just been marked; those that are not to be seen do not count."""
        seen = [extent for extent in extents if extent is not None]
        return first_look(whole, joined(seen)) if seen and self._windows else whole_frame(whole)

    def _annotate(self, state: TrackerState, layers: Mapping[int, Array]) -> TrackResult:
        """The current frame as drawn: each object (H, W), 0..1."""
        whole, group = state.geometry, state.group
        look, geometry, image = group.look, group.current.geometry, group.current.frame
        if self._frame is not None:
            look = self._look_at(whole, [extent_of_mask(layer > 0.5) for layer in layers.values()])
            geometry = look.geometry(whole)
            image = geometry.frame(self._frame)
        elif any((layer > 0.5).any() and not (geometry.cut(layer) > 0.5).any() for layer in layers.values()):
            raise InputError("what is drawn is outside of the window that was kept; hand the frame to restore()")
        masks = geometry.planes([geometry.cut(layers[i]) for i in group.ids])
        self._state = replace(state, group=replace(group.annotated(self.runtime, image, masks, geometry), look=look))
        drawn = np.zeros((whole.height, whole.width), np.uint8)
        for identity, layer in layers.items():
            drawn[layer > 0.5] = identity
        return self._as_drawn(drawn)

    def _as_drawn(self, mask: Ids) -> TrackResult:
        """The current frame as it was annotated."""
        state = self.state()
        frame = np.zeros((*mask.shape, 3), np.uint8) if self._frame is None else self._frame
        return TrackResult(state.ids, state.group.as_annotated(), frame, dict.fromkeys(state.ids, 1.0), drawn=mask)


def _layers(state: TrackerState) -> dict[int, Array]:
    """Each object in the current frame (H, W), 0..1, as the window shows it."""
    group = state.group
    return dict(zip(group.ids, group.current.geometry.restore(group.current.masks), strict=True))


def _check_frame(frame: Image) -> None:
    if not isinstance(frame, np.ndarray) or frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8:
        what = f"{frame.shape} {frame.dtype}" if isinstance(frame, np.ndarray) else type(frame).__name__
        raise InputError(f"expected an RGB frame (H, W, 3) uint8, got {what}")
    if 0 in frame.shape:
        raise InputError(f"expected a frame with pixels, got {frame.shape}")


def _check_mask(mask: NDArray[np.integer], shape: tuple[int, ...], *, may_be_empty: bool = False) -> tuple[int, ...]:
    """The ids of a mask."""
    if not isinstance(mask, np.ndarray) or mask.ndim != 2 or mask.dtype.kind not in "iub":
        what = f"{mask.shape} {mask.dtype}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise InputError(f"expected a mask (H, W) of integer ids, got {what}")
    if mask.shape != tuple(shape):
        raise InputError(
            f"expected a mask of {shape[1]} x {shape[0]} pixels like the frame, got {mask.shape[1]} x {mask.shape[0]}"
        )
    ids = [int(i) for i in np.unique(mask) if i != 0]
    if not ids and not may_be_empty:
        raise InputError("there is no object in the mask: all of it is background")
    if len(ids) > MOST_OBJECTS:
        raise InputError(f"expected at most {MOST_OBJECTS} objects, got {len(ids)}")
    if ids and (ids[0] < 0 or ids[-1] > MOST_OBJECTS):
        raise InputError(f"expected ids from 1 to {MOST_OBJECTS}, got {ids[0] if ids[0] < 0 else ids[-1]}")
    return tuple(ids)
