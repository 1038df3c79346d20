"""What a step gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array
from mobilevos.tracking.geometry import Geometry


@dataclass(frozen=True)
class TrackResult:
    """Where the objects are in one frame."""

    ids: tuple[int, ...]
    """The objects, in the order of the channels 1 .. N"""
    network_probabilities: Array
    """(1 + N, h, w), padded, at the network's size"""
    geometry: Geometry

    @cached_property
    def probabilities(self) -> Array:
        """(1 + N, H, W), background first, at the frame's size."""
        return self.geometry.restore(self.network_probabilities)

    @cached_property
    def mask(self) -> NDArray[np.uint8]:
        """(H, W), the ids of the objects, 0 where there is none."""
        if len(self.ids) == 1:  # two probabilities that sum to one: half of the resizing suffices
            inside = self.geometry.restore(self.network_probabilities[1:])[0] > 0.5
            return np.where(inside, np.uint8(self.ids[0]), np.uint8(0))
        return np.array((0, *self.ids), np.uint8)[self.probabilities.argmax(0)]

    @cached_property
    def confidence(self) -> dict[int, float]:
        """For each object the mean probability of the pixels that were given to it; 0 where it is nowhere."""
        winner = self.network_probabilities.argmax(0)
        scores = {}
        for channel, identity in enumerate(self.ids, start=1):
            inside = self.network_probabilities[channel][winner == channel]
            scores[identity] = float(inside.mean()) if inside.size else 0.0
        return scores
