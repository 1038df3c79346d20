"""The tracker: the only part that remembers frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array, Image
from mobilevos.errors import InputError
from mobilevos.runtime import load_runtime
from mobilevos.runtime.base import Runtime
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.prompts import PROMPT_STRENGTH
from mobilevos.tracking.queue import MemoryQueue, Seen
from mobilevos.tracking.result import TrackResult
from mobilevos.weights import WORKING_SIZE

MOST_OBJECTS = 255


@dataclass(frozen=True)
class TrackerState:
    """All a tracker knows, as arrays: keep it, pickle it, go on from it later or elsewhere."""

    geometry: Geometry
    ids: tuple[int, ...]
    queue: MemoryQueue
    current: Seen


class Tracker:
    """Follows objects from frame to frame.

        tracker = Tracker.load("mobilenetv2-lite")
        tracker.start(frame, mask)
        for frame in frames:
            result = tracker.step(frame)    # .mask, .probabilities, .confidence

    Args:
        runtime: what runs the network.
        queue: frames that are remembered: the annotated one and the most recent ones; None remembers without bound.
        size: the short side at which the network sees a frame; larger frames are reduced. None takes them as they are.
        every: in an unbounded memory, every so many-th frame stays.
    """

    def __init__(
        self, runtime: Runtime, *, queue: int | None = 2, size: int | None = WORKING_SIZE, every: int = 5
    ) -> None:
        if queue is not None and queue < 1:
            raise InputError(f"expected a queue of at least 1 frame, got {queue}")
        if size is not None and size < 16:
            raise InputError(f"expected a working size of at least 16 pixels, got {size}")
        self.runtime = runtime
        self.queue, self.size, self.every = queue, size, every
        self._state: TrackerState | None = None

    @classmethod
    def load(
        cls,
        model: str | Path,
        runtime: str = "auto",
        *,
        queue: int | None = 2,
        size: int | None = WORKING_SIZE,
        every: int = 5,
    ) -> Tracker:
        """A tracker with a shipped model or the model of a file."""
        return cls(load_runtime(model, runtime), queue=queue, size=size, every=every)

    @property
    def ids(self) -> tuple[int, ...]:
        """The objects that are being followed."""
        return self._state.ids if self._state else ()

    def start(self, frame: Image, mask: NDArray[np.integer]) -> TrackResult:
        """Begin anew with the objects of a mask (H, W): ids, 0 is background."""
        _check_frame(frame)
        ids = _check_mask(mask, frame.shape[:2])
        geometry = Geometry.fit(frame.shape[0], frame.shape[1], self.size)
        seen = Seen(0, geometry.frame(frame), geometry.masks(_one_hot(mask, ids)))
        key, values = self.runtime.memorise(seen.frame, seen.masks)
        queue = MemoryQueue.begin(seen, key, values, self.queue, self.every)
        self._state = TrackerState(geometry, ids, queue, seen)
        return _result(self._state)

    def step(self, frame: Image) -> TrackResult:
        """The objects in the next frame."""
        state = self.state()
        _check_frame(frame)
        if frame.shape[:2] != (state.geometry.height, state.geometry.width):
            raise InputError(
                f"expected a frame of {state.geometry.width} x {state.geometry.height} pixels like the first one, "
                f"got {frame.shape[1]} x {frame.shape[0]}"
            )
        now = state.current.time + 1
        image = state.geometry.frame(frame)
        slot = state.queue.slot(now)
        probabilities, memory = self.runtime.step(image, state.queue.at(now), 0 if slot is None else slot)
        seen = Seen(now, image, probabilities[1:])
        queue = state.queue if slot is None else state.queue.wrote(memory, slot, seen)
        self._state = replace(state, queue=queue, current=seen)
        return TrackResult(state.ids, probabilities, state.geometry)

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
        _check_frame(frame)
        if not marks:
            raise InputError("expected a mark for at least one object")
        height, width = frame.shape[:2]
        geometry = Geometry.fit(height, width, self.size)
        ids = tuple(marks)

        def drawn(chosen: Mapping[int, NDArray[np.integer]]) -> Array:
            layers = [chosen.get(i, np.zeros((height, width), np.uint8)) for i in ids]
            for layer in layers:
                _check_mask(layer != 0, (height, width), may_be_empty=True)
            return PROMPT_STRENGTH * geometry.masks(np.stack([(layer != 0).astype(np.float32) for layer in layers]))

        image = geometry.frame(frame)
        positive = drawn(marks)
        key, values = self.runtime.memorise(image, positive, drawn(not_marks or {}))
        queue = MemoryQueue.begin(Seen(0, image, positive), key, values, 2, 1)
        probabilities, _ = self.runtime.step(image, queue.at(1), 1)
        return TrackResult(ids, probabilities, geometry)

    def add(self, mask: NDArray[np.integer]) -> TrackResult:
        """Follow further objects, drawn on the current frame. Where they cover known objects, they win."""
        state = self.state()
        new = _check_mask(mask, (state.geometry.height, state.geometry.width))
        known = sorted(set(new) & set(state.ids))
        if known:
            raise InputError(f"object {known[0]} is being followed already; use correct() to change its mask")
        if len(state.ids) + len(new) > MOST_OBJECTS:
            raise InputError(f"expected at most {MOST_OBJECTS} objects, got {len(state.ids) + len(new)}")
        absent = [self._values_of_absent(seen, len(state.ids), len(new)) for seen in state.queue.seen]
        queue = state.queue.with_objects(np.stack(absent, 2))
        drawn = state.geometry.masks(_one_hot(mask, new))
        masks = np.concatenate([state.current.masks * (1 - drawn.sum(0).clip(0, 1)), drawn])
        return self._annotate(replace(state, ids=state.ids + new, queue=queue), masks)

    def correct(self, mask: NDArray[np.integer]) -> TrackResult:
        """Replace the masks of the current frame: all objects are as drawn here, missing ones are not visible."""
        state = self.state()
        given = _check_mask(mask, (state.geometry.height, state.geometry.width), may_be_empty=True)
        unknown = sorted(set(given) - set(state.ids))
        if unknown:
            raise InputError(f"object {unknown[0]} is not being followed; use add() for new objects")
        return self._annotate(state, state.geometry.masks(_one_hot(mask, state.ids)))

    def remove(self, identity: int) -> None:
        """Follow one object no longer."""
        state = self.state()
        if identity not in state.ids:
            raise InputError(f"object {identity} is not being followed; there are {list(state.ids)}")
        if len(state.ids) == 1:
            self._state = None
            return
        index = state.ids.index(identity)
        self._state = replace(
            state,
            ids=tuple(i for i in state.ids if i != identity),
            queue=state.queue.without_object(index),
            current=replace(state.current, masks=np.delete(state.current.masks, index, 0)),
        )

    def state(self) -> TrackerState:
        """What to hand to `restore` later. Later steps do not change it."""
        if self._state is None:
            raise InputError("nothing is being followed yet; call start() first")
        return self._state

    def restore(self, state: TrackerState) -> None:
        """Go on from a state, as if nothing had happened since."""
        self._state = state

    def _annotate(self, state: TrackerState, masks: Array) -> TrackResult:
        seen = replace(state.current, masks=masks)
        key, values = self.runtime.memorise(seen.frame, masks)
        self._state = replace(state, queue=state.queue.annotate(seen, key, values), current=seen)
        return _result(self._state)

    def _values_of_absent(self, seen: Seen, known: int, new: int) -> Array:
        """Values (M, Cv, h, w) of objects that were not there yet in a remembered frame."""
        masks = np.zeros((known + new, *seen.frame.shape[:2]), np.float32)
        masks[: len(seen.masks)] = seen.masks
        return self.runtime.memorise(seen.frame, masks)[1][known:]


def _result(state: TrackerState) -> TrackResult:
    """The current frame as it was annotated."""
    masks = state.current.masks
    background = 1 - masks.sum(0, keepdims=True).clip(0, 1)
    return TrackResult(state.ids, np.concatenate([background, masks]), state.geometry)


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


def _one_hot(mask: NDArray[np.integer], ids: tuple[int, ...]) -> Array:
    return (mask[None] == np.array(ids)[:, None, None]).astype(np.float32)
