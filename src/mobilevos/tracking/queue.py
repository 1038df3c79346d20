"""Which frames are remembered: annotated ones stay, the most recent ones take turns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.runtime.base import MemoryArrays, written
from mobilevos.tracking.geometry import Geometry

MOST_ANCHORS = 4
"""Annotated frames kept at once: the first, and the latest corrections. A bound, so that memory never grows."""


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
    """

    memory: MemoryArrays
    seen: tuple[Seen, ...]
    anchors: int
    length: int | None
    every: int

    @classmethod
    def begin(cls, seen: Seen, key: Array, values: Array, length: int | None, every: int) -> MemoryQueue:
        """The annotated frame, which is also the most recent one: two slots, unless the queue has only one."""
        slots = 1 if length == 1 else 2
        memory = MemoryArrays(
            np.repeat(key[:, None], slots, 1),
            np.repeat(values[:, :, None], slots, 2),
            np.zeros(slots, np.float32),
        )
        return cls(memory, (seen,) * slots, 1, length, every)

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
            keep = self.seen[-1].time % self.every == 0
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
        """A further annotated frame, which is also the most recent one."""
        slot = self.slot(seen.time)
        queue = self if slot is None else self.with_frame(written(self.memory, slot, key, values), slot, seen)
        queue = queue._insert_anchor(seen, key, values)
        return queue._without(1) if queue.anchors > MOST_ANCHORS else queue

    def with_objects(self, values: Array) -> MemoryQueue:
        """Further objects: their values (M, Cv, T, h, w) in every slot."""
        return replace(self, memory=replace(self.memory, values=np.concatenate([self.memory.values, values])))

    def without_object(self, index: int) -> MemoryQueue:
        """One object less."""
        seen = tuple(replace(s, masks=np.delete(s.masks, index, 0)) if index < len(s.masks) else s for s in self.seen)
        values = np.delete(self.memory.values, index, 0)
        return replace(self, memory=replace(self.memory, values=values), seen=seen)

    def _insert_anchor(self, seen: Seen, key: Array, values: Array) -> MemoryQueue:
        at = self.anchors
        memory = MemoryArrays(
            np.insert(self.memory.keys, at, key, 1),
            np.insert(self.memory.values, at, values, 2),
            np.insert(self.memory.nearness, at, 0),
        )
        return replace(self, memory=memory, seen=(*self.seen[:at], seen, *self.seen[at:]), anchors=at + 1)

    def _without(self, slot: int) -> MemoryQueue:
        memory = MemoryArrays(
            np.delete(self.memory.keys, slot, 1),
            np.delete(self.memory.values, slot, 2),
            np.delete(self.memory.nearness, slot),
        )
        return replace(self, memory=memory, seen=self.seen[:slot] + self.seen[slot + 1 :], anchors=self.anchors - 1)
