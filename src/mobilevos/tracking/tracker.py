"""The tracker: the only part that remembers frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array, Ids, Image
from mobilevos.errors import InputError
from mobilevos.runtime import Runtime, load_runtime
from mobilevos.runtime.base import written
from mobilevos.tracking import grouping
from mobilevos.tracking.confidence import confidence, size_of
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
    joined,
    next_look,
    palette_of,
    whole_frame,
)
from mobilevos.weights import QUEUE, WORKING_SIZE

MOST_OBJECTS = 255
WINDOWS = ("auto", "off")


@dataclass(frozen=True)
class TrackerState:
    """All a tracker knows, as arrays: keep it, pickle it, go on from it later or elsewhere."""

    geometry: Geometry
    """Of whole frames"""
    ids: tuple[int, ...]
    groups: tuple[Group, ...]
    time: int
    palette: Array | None
    """Colours of the current frame, by which cuts are told; None without windows"""


class Tracker:
    """Follows objects from frame to frame.

        tracker = Tracker.load("mobilenetv2-lite")
        tracker.start(frame, mask)
        for frame in frames:
            result = tracker.step(frame)    # .mask, .probabilities, .confidence

    Args:
        runtime: what runs the network.
        queue: frames that are remembered: the annotated one and the most recent ones; None remembers without bound.
            "auto" takes `weights.QUEUE`, or fewer where the model has room for fewer.
        size: the short side at which the network sees a frame; larger frames are reduced. None takes them as they are.
        every: in an unbounded memory, one frame in so many stays.
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
    ) -> None:
        if queue == "auto":
            queue = min(QUEUE, runtime.slots or QUEUE)
        if queue is not None and queue < 1:
            raise InputError(f"expected a queue of at least 1 frame, got {queue}")
        if size is not None and size < 16:
            raise InputError(f"expected a working size of at least 16 pixels, got {size}")
        if window not in WINDOWS:
            raise InputError(f"expected {' or '.join(WINDOWS)} for the window, got {window!r}")
        self.runtime = runtime
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
    ) -> Tracker:
        """A tracker with a shipped model or the model of a file."""
        return cls(load_runtime(model, runtime), queue=queue, size=size, every=every, window=window)

    @property
    def ids(self) -> tuple[int, ...]:
        """The objects that are being followed."""
        return self._state.ids if self._state else ()

    def start(self, frame: Image, mask: NDArray[np.integer]) -> TrackResult:
        """Begin anew with the objects of a mask (H, W): ids, 0 is background."""
        _check_frame(frame)
        ids = _check_mask(mask, frame.shape[:2])
        whole = Geometry.fit(frame.shape[0], frame.shape[1], self.size)
        palette = palette_of(frame) if self._windows else None
        drawn = mask.astype(np.uint8)
        extents = {i: extent_of_mask(drawn == i) if self._windows else None for i in ids}
        groups = []
        for own in grouping.partition(whole, extents):
            look = self._look_at(whole, [extents[i] for i in own])
            others = {i: extent for i, extent in extents.items() if i not in own}
            guests = frozenset(grouping.guests(look, whole, others))
            group = Group.begin(
                self.runtime, frame, drawn, own, guests, whole, look, length=self.queue, every=self.every
            )
            groups.append(group)
        self._state, self._frame = TrackerState(whole, ids, tuple(groups), 0, palette), frame
        return self._as_drawn(drawn)

    def step(self, frame: Image) -> TrackResult:
        """The objects in the next frame."""
        state = self.state()
        _check_frame(frame)
        whole = state.geometry
        if frame.shape[:2] != (whole.height, whole.width):
            raise InputError(
                f"expected a frame of {whole.width} x {whole.height} pixels like the first one, "
                f"got {frame.shape[1]} x {frame.shape[0]}"
            )
        time = state.time + 1
        palette = None if state.palette is None else palette_of(frame)
        cut = palette is not None and state.palette is not None and is_cut(state.palette, palette)
        groups, sights = [], []
        trusted: dict[int, float] = {}
        extents: dict[int, Extent | None] = {}
        for group in state.groups:
            look = whole_frame(whole) if cut else group.look
            group, sight = group.step(self.runtime, frame, look.geometry(whole), time)
            trust = group.confidence(sight)
            if self._windows:
                found = group.extents(sight, trust)
                all_found = [extent for extent in found.values() if extent is not None]
                # where one of them is lost, it is looked for, which is why all must be found
                look = next_look(whole, look, joined(all_found) if len(all_found) == len(found) else None)
                extents |= found
            groups.append(replace(group, look=look))
            sights.append(sight)
            trusted |= trust
        self._state, self._frame = TrackerState(whole, state.ids, tuple(groups), time, palette), frame
        if len(groups) > 1:
            self._meet(extents)
        ordered = {identity: trusted[identity] for identity in state.ids}
        return TrackResult(state.ids, tuple(sights), frame, ordered)

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
        shape = (frame.shape[0], frame.shape[1])
        ids, off = tuple(marks), not_marks or {}
        nothing = np.zeros(shape, np.uint8)
        for layer in (*marks.values(), *off.values()):
            _check_mask(layer != 0, shape, may_be_empty=True)
        whole = Geometry.fit(*shape, self.size)

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

        sight, look = through(whole, None), whole_frame(whole)
        if self._windows:
            # The second look is through a window around what was found and what was marked: small objects are seen at
            # their own size.
            covered = TrackResult(ids, (sight,), frame, {}).mask > 0
            for layer in marks.values():
                covered |= layer != 0
            look = first_look(whole, extent_of_mask(covered))
        sight = through(look.geometry(whole), sight)
        sizes = [size_of(mask, sight.geometry) for mask in sight.probabilities[1:]]
        return TrackResult(ids, (sight,), frame, confidence(sight, sizes))

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
        # They join the first window, which grows to show them.
        first, *rest = state.groups
        first = first.with_objects(self.runtime, new, as_guests=False)
        return self._annotate(replace(state, ids=state.ids + new, groups=(first, *rest)), layers)

    def correct(self, mask: NDArray[np.integer]) -> TrackResult:
        """Replace the masks of the current frame: all objects are as drawn here, missing ones are not visible."""
        state = self.state()
        given = _check_mask(mask, (state.geometry.height, state.geometry.width), may_be_empty=True)
        unknown = sorted(set(given) - set(state.ids))
        if unknown:
            raise InputError(f"object {unknown[0]} is not being followed; use add() for new objects")
        return self._annotate(state, {i: (mask == i).astype(np.float32) for i in state.ids})

    def remove(self, identity: int) -> None:
        """Follow one object no longer."""
        state = self.state()
        if identity not in state.ids:
            raise InputError(f"object {identity} is not being followed; there are {list(state.ids)}")
        ids = tuple(i for i in state.ids if i != identity)
        if not ids:
            self._state = self._frame = None
            return
        left = [group for group in state.groups if group.own != (identity,)]
        groups = [group.without(identity) if identity in group.ids else group for group in left]
        self._state = replace(state, ids=ids, groups=tuple(groups))

    def state(self) -> TrackerState:
        """What to hand to `restore` later. Later steps do not change it."""
        if self._state is None:
            raise InputError("nothing is being followed yet; call start() first")
        return self._state

    def restore(self, state: TrackerState) -> None:
        """Go on from a state, as if nothing had happened since."""
        self._state, self._frame = state, None

    @property
    def _windows(self) -> bool:
        return self.window == "auto" and self.size is not None

    def _look_at(self, whole: Geometry, extents: Iterable[Extent | None]) -> LookAhead:
        """The window for objects that have just been marked; those that are not to be seen do not count."""
        seen = [extent for extent in extents if extent is not None]
        return first_look(whole, joined(seen)) if seen and self._windows else whole_frame(whole)

    def _annotate(self, state: TrackerState, layers: Mapping[int, Array]) -> TrackResult:
        """The current frame as drawn: each object (H, W), 0..1."""
        whole, groups = state.geometry, []
        for group in state.groups:
            look, geometry, image = group.look, group.current.geometry, group.current.frame
            if self._frame is not None:  # after `restore` there is only what the window showed
                look = self._look_at(whole, [extent_of_mask(layers[i] > 0.5) for i in group.own])
                geometry = look.geometry(whole)
                image = geometry.frame(self._frame)
            masks = geometry.planes([geometry.cut(layers[i]) for i in group.ids])
            groups.append(replace(group.annotated(self.runtime, image, masks, geometry), look=look))
        self._state = replace(state, groups=tuple(groups))
        drawn = np.zeros((whole.height, whole.width), np.uint8)
        for identity, layer in layers.items():
            drawn[layer > 0.5] = identity
        return self._as_drawn(drawn)

    def _as_drawn(self, mask: Ids) -> TrackResult:
        """The current frame as it was annotated."""
        state = self.state()
        frame = np.zeros((*mask.shape, 3), np.uint8) if self._frame is None else self._frame
        sights = tuple(group.as_annotated() for group in state.groups)
        return TrackResult(state.ids, sights, frame, dict.fromkeys(state.ids, 1.0), drawn=mask)

    def _meet(self, extents: Mapping[int, Extent | None]) -> None:
        """Objects that come into the windows of others compete there, and leave again; see `grouping`."""
        state = self.state()
        whole, layers, groups = state.geometry, None, []
        for group in state.groups:
            others = {i: extents[i] for i in state.ids if i not in group.own}
            for identity in sorted(group.guests - grouping.guests(group.look, whole, others, margin=1.3)):
                group = group.without(identity)
            new = tuple(sorted(grouping.guests(group.look, whole, others) - group.guests))
            if new:
                layers = layers or _layers(state)
                group = group.with_objects(self.runtime, new, as_guests=True).refreshed(self.runtime, layers)
            groups.append(group)
        while len(groups) > 1 and grouping.cost([len(group.ids) for group in groups]) > grouping.LIMIT:
            layers = layers or _layers(state)
            host, leaving = grouping.closest_pair(whole, [[extents[i] for i in group.own] for group in groups])
            groups[host] = groups[host].adopting(self.runtime, groups[leaving].own, layers)
            del groups[leaving]
        self._state = replace(state, groups=tuple(groups))


def _layers(state: TrackerState) -> dict[int, Array]:
    """Each object in the current frame (H, W), 0..1, as its window shows it."""
    layers = {}
    for group in state.groups:
        for identity, mask in zip(group.ids, group.current.masks, strict=True):
            if identity not in group.guests:
                layers[identity] = group.current.geometry.restore(mask[None])[0]
    return {identity: layers[identity] for identity in state.ids}


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
