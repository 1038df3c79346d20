"""What a runtime does: the network's step on arrays. All that tracking knows of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from mobilevos.arrays import Array, Image


@dataclass(frozen=True)
class MemoryArrays:
    """What is remembered of T frames, each a slot."""

    keys: Array
    """(Ck, T, h, w), shared by all objects"""
    values: Array
    """(N, Cv, T, h, w)"""
    nearness: Array
    """(T,): 1 for the previous frame, 1/age^2 for older ones, 0 for annotated frames (see `model.memory`)"""

    @property
    def slots(self) -> int:
        return self.keys.shape[1]


class Step(NamedTuple):
    """What the network makes of a frame."""

    probabilities: Array
    """(1 + N, H, W), background and objects"""
    memory: MemoryArrays
    """With this frame"""
    rating: Array
    """(N,): how well each mask fits by the network's own judgement, 0..1; not a number where it has none"""


class Runtime(Protocol):
    """One frame at a time; sizes are multiples of 16."""

    name: str
    """How people call it: onnx, openvino, torch."""
    variant: str
    """The network it runs."""
    slots: int | None
    """Frames its memory has room for; None for any number."""

    def memorise(self, frame: Image, masks: Array, others: Array | None = None) -> tuple[Array, Array]:
        """Key (Ck, h, w) and values (N, Cv, h, w) of a frame (H, W, 3) with given masks (N, H, W), 0..1.

        `others` is what each object is not; by default it is all other objects.
        """
        ...

    def step(self, frame: Image, memory: MemoryArrays, slot: int) -> Step:
        """What is seen in a frame, and the memory with it written to `slot`.

        `slot` may be one past the last, which makes the memory longer. Nearness is passed on unchanged, with 1 for
        the slot that was written.
        """
        ...


def written(memory: MemoryArrays, slot: int, key: Array, values: Array) -> MemoryArrays:
    """The memory with a frame put into a slot, or behind the last one."""
    if slot == memory.slots:
        return MemoryArrays(
            np.concatenate([memory.keys, key[:, None]], 1),
            np.concatenate([memory.values, values[:, :, None]], 2),
            np.append(memory.nearness, np.float32(1)),
        )
    keys, stored, nearness = memory.keys.copy(), memory.values.copy(), memory.nearness.copy()
    keys[:, slot], stored[:, :, slot], nearness[slot] = key, values, 1
    return MemoryArrays(keys, stored, nearness)
