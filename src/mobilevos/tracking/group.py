"""Objects that share a window: one memory, one look a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mobilevos.arrays import Array, Ids, Image
from mobilevos.runtime.base import Runtime
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.queue import MemoryQueue, Seen
from mobilevos.tracking.recall import EVERY, alike
from mobilevos.tracking.result import Sight
from mobilevos.tracking.window import TRUSTED, Extent, LookAhead, extent_of, joined, winners


@dataclass(frozen=True)
class Group:
    """Immutable: each change gives a new one."""

    ids: tuple[int, ...]
    """The objects, in the order in which they came"""
    look: LookAhead
    """Where it looks in the next frame"""
    queue: MemoryQueue
    current: Seen

    @classmethod
    def begin(
        cls,
        runtime: Runtime,
        frame: Image,
        mask: Ids,
        ids: tuple[int, ...],
        whole: Geometry,
        look: LookAhead,
        *,
        length: int | None,
        every: int,
    ) -> Group:
        """Objects of a mask (H, W) in the first frame (H, W, 3); length, every: of the memory."""
        geometry = look.geometry(whole)
        seen = Seen(0, geometry.frame(frame), geometry.masks(mask, ids), geometry)
        key, values = runtime.memorise(seen.frame, seen.masks)
        return cls(ids, look, MemoryQueue.begin(seen, key, values, length, every), seen)

    def step(self, runtime: Runtime, frame: Image, geometry: Geometry, time: int) -> tuple[Group, Sight]:
        """The objects in the next frame, through a window."""
        image = geometry.frame(frame)
        slot = self.queue.slot(time)
        probabilities, memory, rating = runtime.step(image, self.queue.at(time), 0 if slot is None else slot)
        seen = Seen(time, image, probabilities[1:], geometry)
        queue = self.queue if slot is None else self.queue.with_frame(memory, slot, seen)
        sight = Sight(self.ids, probabilities, geometry, rating, self._alike(memory.keys[:, slot or 0]))
        return replace(self, queue=queue, current=seen), sight

    def annotated(self, runtime: Runtime, image: Image, masks: Array, geometry: Geometry) -> Group:
        """With masks (N, h, w), drawn on the current frame, which is seen as `image` through a window."""
        seen = replace(self.current, frame=image, masks=masks, geometry=geometry)
        key, values = runtime.memorise(image, masks)
        return replace(self, queue=self.queue.with_anchor(seen, key, values), current=seen)

    def as_annotated(self) -> Sight:
        """The current frame as its masks have it."""
        masks = self.current.masks
        planes = np.concatenate([1 - masks.sum(0, keepdims=True).clip(0, 1), masks])
        return Sight(self.ids, planes, self.current.geometry)

    def with_objects(self, runtime: Runtime, new: tuple[int, ...]) -> Group:
        """Further objects, which were nowhere so far."""

        def absent(seen: Seen) -> Array:
            """Values (M, Cv, h, w) of the new objects in a remembered frame."""
            known = len(self.ids)
            masks = np.zeros((known + len(new), *seen.frame.shape[:2]), np.float32)
            masks[: len(seen.masks)] = seen.masks
            return runtime.memorise(seen.frame, masks)[1][known:]

        values = np.stack([absent(seen) for seen in self.queue.seen], 2)
        empty = np.zeros((len(new), *self.current.masks.shape[1:]), np.float32)
        return replace(
            self,
            ids=self.ids + new,
            queue=self.queue.with_objects(values),
            current=replace(self.current, masks=np.concatenate([self.current.masks, empty])),
        )

    def without(self, identity: int) -> Group:
        """One object less."""
        index = self.ids.index(identity)
        return replace(
            self,
            ids=tuple(i for i in self.ids if i != identity),
            queue=self.queue.without_object(index),
            current=replace(self.current, masks=np.delete(self.current.masks, index, 0)),
        )

    def extent(self, sight: Sight, trust: Mapping[int, float]) -> Extent | None:
        """Where its objects are; None where one of them is lost or doubtful: then it is looked for."""
        winner = winners(sight.probabilities)
        channels = [channel for channel, i in enumerate(self.ids, start=1) if trust[i] >= TRUSTED]
        extents = [extent_of(winner == channel, sight.geometry) for channel in channels]
        found = [extent for extent in extents if extent is not None]
        return joined(found) if len(found) == len(self.ids) else None

    def _alike(self, key: Array) -> Array:
        """How much cells of a frame look like the objects where they were annotated last: (N, h / 2, w / 2)."""
        by_slot: dict[int, list[int]] = {}
        for index in range(len(self.ids)):
            by_slot.setdefault(self._annotated_in(index), []).append(index)
        keys = self.queue.memory.keys
        planes: dict[int, Array] = {}
        for slot, objects in by_slot.items():
            covered = self.queue.seen[slot].covered
            known = [index for index in objects if index < len(covered)]
            planes |= dict(zip(known, alike(key, keys[:, slot], covered[known]), strict=True))
        nothing = np.zeros(key[0, ::EVERY, ::EVERY].shape, np.float32)
        return np.stack([planes.get(index, nothing) for index in range(len(self.ids))])

    def _annotated_in(self, index: int) -> int:
        """The slot of the last annotated frame in which an object is to be seen; the first one where there is none."""
        for slot in reversed(range(self.queue.anchors)):
            covered = self.queue.seen[slot].covered
            if index < len(covered) and covered[index].any():
                return slot
        return 0
