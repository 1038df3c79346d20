"""Which frames are remembered: annotated ones stay, the most recent ones take turns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.runtime.base import MemoryArrays, written
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.recall import cells, recalled

MOST_ANCHORS = 4
"""Annotated frames kept at once: the first, and the latest corrections. More only where each is the newest annotation
of an object, so that memory never grows with the length of a video."""


@dataclass(frozen=True)
class Seen:
    """A remembered frame, at the network's size."""

    time: int
    frame: Image
    """(H, W, 3)"""
    masks: Array
    """(N, H, W), as they were remembered; objects that were added later are missing, because they were not there"""
    geometry: Geometry
    """Which part of the frame it is"""

    @cached_property
    def covered(self) -> Array:
        """How much of each cell of the memory the masks cover: (N, h / 16, w / 16)."""
        return cells(self.masks)


@dataclass(frozen=True)
class MemoryQueue:
    """A memory with what its slots show. Immutable: each change gives a new one.

    Args:
        memory: the runtime's; annotated frames first.
        seen: what is in each slot.
        anchors: how many of the first slots are annotated frames.
        length: slots there are at most while there is one annotated frame; None is unbounded. Further annotated
            frames come on top of it.
        every: in an unbounded memory, one frame in so many stays; the previous frame is always there.
        given: for each annotated frame, the objects (by position) that were drawn in it; see `with_anchor`.
    """

    memory: MemoryArrays
    seen: tuple[Seen, ...]
    anchors: int
    length: int | None
    every: int
    given: tuple[frozenset[int], ...]

    @classmethod
    def begin(cls, seen: Seen, key: Array, values: Array, length: int | None, every: int) -> MemoryQueue:
        """The annotated frame, which in a bounded queue of several slots is the most recent one too."""
        slots = 1 if length in (1, None) else 2
        memory = MemoryArrays(
            np.repeat(key[:, None], slots, 1),
            np.repeat(values[:, :, None], slots, 2),
            np.zeros(slots, np.float32),
        )
        return cls(memory, (seen,) * slots, 1, length, every, (frozenset(range(len(values))),))

    def at(self, now: int) -> MemoryArrays:
        """The memory as a frame at time `now` reads it."""
        age = np.maximum(1, now - np.array([seen.time for seen in self.seen], np.float32))
        nearness = np.where(np.arange(len(self.seen)) < self.anchors, 0, 1 / age**2)
        return replace(self.memory, nearness=nearness.astype(np.float32))

    def slot(self, now: int) -> int | None:
        """Where a frame at time `now` belongs: the slot it replaces, or one past the last. None: nowhere."""
        recent = range(self.anchors, len(self.seen))
        for slot in recent:
            if self.seen[slot].time == now:
                return slot
        if self.length is None:
            keep = not recent or self.seen[-1].time % self.every == 0
            return len(self.seen) if keep else len(self.seen) - 1
        if self.length == 1:
            return None
        if len(recent) < self.length - 1:
            return len(self.seen)
        return min(recent, key=lambda slot: self.seen[slot].time)

    def with_frame(self, memory: MemoryArrays, slot: int, seen: Seen) -> MemoryQueue:
        """After the runtime has written a frame."""
        return replace(self, memory=memory, seen=(*self.seen[:slot], seen, *self.seen[slot + 1 :]))

    def with_anchor(self, seen: Seen, key: Array, values: Array) -> MemoryQueue:
        """A further annotated frame, which in a bounded queue of several slots is the most recent one too.

        Where it brings new objects, only these were drawn. The masks of the others are the network's own and must not
        be kept for good: in their place stands what their own annotations say of this frame, except where something
        was drawn, which they are not. Where it brings none, all were drawn.
        """
        known = max(len(s.masks) for s in self.seen)
        drawn = frozenset(range(known, len(values))) or frozenset(range(len(values)))
        queue, slot = self, self.slot(seen.time)
        if self.length is not None and slot is not None:
            queue = queue.with_frame(written(queue.memory, slot, key, values), slot, seen)
        for slot, before in enumerate(self.seen):
            if before.time == seen.time and slot < self.anchors:
                drawn |= self.given[slot]  # the same frame was annotated before
        queue = queue._forgetting(seen.time)
        kept, covered = values.copy(), cells(seen.masks[sorted(drawn)].max(0)[None])[0] > 0.5
        for index in range(len(values)):
            if index not in drawn and (slots := [n for n, given in enumerate(queue.given) if index in given]):
                read = recalled(key, queue.memory.keys[:, slots], queue.memory.values[index][:, slots])
                kept[index] = np.where(covered, values[index], read)
        return queue._insert_anchor(seen, key, kept, drawn)._bounded()

    def with_objects(self, values: Array) -> MemoryQueue:
        """Further objects: their values (M, Cv, T, h, w) in every slot."""
        return replace(self, memory=replace(self.memory, values=np.concatenate([self.memory.values, values])))

    def without_object(self, index: int) -> MemoryQueue:
        """One object less, and no frame in which it alone was drawn."""
        seen = tuple(replace(s, masks=np.delete(s.masks, index, 0)) if index < len(s.masks) else s for s in self.seen)
        values = np.delete(self.memory.values, index, 0)
        given = tuple(frozenset(i - (i > index) for i in drawn if i != index) for drawn in self.given)
        queue = replace(self, memory=replace(self.memory, values=values), seen=seen, given=given)
        for slot in reversed(range(self.anchors)):
            if not queue.given[slot] and queue.anchors > 1:
                queue = queue._without(slot)
        return queue

    def _forgetting(self, time: int) -> MemoryQueue:
        """Without the annotation of a frame; without the frame at all where the memory is unbounded."""
        queue = self
        for slot in reversed(range(len(self.seen))):
            if self.seen[slot].time == time and (slot < self.anchors or self.length is None):
                queue = queue._without(slot)
        return queue

    def _bounded(self) -> MemoryQueue:
        """Annotated frames whose objects were all drawn again later give way, the first one last of all."""
        queue = self
        while queue.anchors > MOST_ANCHORS:
            later = [frozenset().union(*queue.given[slot + 1 :]) for slot in range(queue.anchors)]
            outdated = [slot for slot in (*range(1, queue.anchors - 1), 0) if queue.given[slot] <= later[slot]]
            if not outdated:
                break
            queue = queue._without(outdated[0])
        return queue

    def _insert_anchor(self, seen: Seen, key: Array, values: Array, drawn: frozenset[int]) -> MemoryQueue:
        at = self.anchors
        memory = MemoryArrays(
            np.insert(self.memory.keys, at, key, 1),
            np.insert(self.memory.values, at, values, 2),
            np.insert(self.memory.nearness, at, 0),
        )
        return replace(
            self,
            memory=memory,
            seen=(*self.seen[:at], seen, *self.seen[at:]),
            anchors=at + 1,
            given=(*self.given, drawn),
        )

    def _without(self, slot: int) -> MemoryQueue:
        memory = MemoryArrays(
            np.delete(self.memory.keys, slot, 1),
            np.delete(self.memory.values, slot, 2),
            np.delete(self.memory.nearness, slot),
        )
        return replace(
            self,
            memory=memory,
            seen=self.seen[:slot] + self.seen[slot + 1 :],
            anchors=self.anchors - (slot < self.anchors),
            given=self.given[:slot] + self.given[slot + 1 :],
        )
