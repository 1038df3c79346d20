"""What a step gives: the one mask and the one confidence that library, command line and evaluation all use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from mobilevos.arrays import Array, Ids, Image
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.sharp import ids_of_part


class Confidence(float):
    """How far a mask is to be trusted, a guess of its overlap with the truth, 0..1; a number like any other."""

    alike: int
    """Another object that what is inside of the mask looks more like than like its own; 0 for none."""

    def __new__(cls, value: float, alike: int = 0) -> Confidence:
        made = super().__new__(cls, value)
        made.alike = alike
        return made


@dataclass(frozen=True)
class Sight:
    """The objects as a window shows them."""

    ids: tuple[int, ...]
    """The objects, in the order of the channels 1 .. N"""
    probabilities: Array
    """(1 + N, h, w), background first, padded, at the network's size"""
    geometry: Geometry
    """Which part of the frame it is"""
    rating: Array | None = None
    """(N,): how well the masks fit by the network's own judgement, 0..1; None where they were given"""
    alike: Array | None = None
    """(N, h / 32, w / 32): how much places look like the objects where they were annotated, 0..1; see `recall`.
    None where nothing was annotated before"""


@dataclass(frozen=True)
class TrackResult:
    """Where the objects are in one frame."""

    ids: tuple[int, ...]
    """The objects, in the order in which they came"""
    sight: Sight
    """What the network said, through its window"""
    frame: Image
    """(H, W, 3), the frame itself, whose edges the mask follows; not to be written to before `mask` is asked for"""
    confidence: Mapping[int, float]
    """For each object how far its mask is to be trusted: a guess of its overlap with the truth; 0 where it is gone.
    A `Confidence`, which also tells whether it was taken for another one, where the network looked for it"""
    drawn: Ids | None = None
    """(H, W), the mask as it was given, where the frame was annotated"""

    @cached_property
    def probabilities(self) -> Array:
        """(1 + N, H, W), background first, at the frame's size; 0 for objects outside of the window."""
        objects = self.sight.geometry.restore(self.sight.probabilities[1:])
        return np.concatenate([1 - objects.sum(0, keepdims=True), objects])

    @cached_property
    def mask(self) -> Ids:
        """(H, W), the ids of the objects, 0 where there is none; its edges follow those of the frame."""
        if self.drawn is not None:
            return self.drawn
        geometry = self.sight.geometry
        part = ids_of_part(geometry.inner(self.sight.probabilities), geometry.cut(self.frame))
        table = np.zeros(256, np.uint8)
        table[1 : 1 + len(self.ids)] = self.ids
        names = np.asarray(cv2.LUT(part, table), np.uint8)
        return names if geometry.is_whole else geometry.placed(names)
