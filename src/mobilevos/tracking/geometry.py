"""Between the user's frame and the network's: scale down, pad to a multiple of 16, and back."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.weights import WORKING_SIZE

STRIDE = 16
SMALLEST = WORKING_SIZE
"""Short side to which smaller frames are enlarged: objects of a few of the memory's cells cannot be told apart."""
MOST_ENLARGED = 4.0


@dataclass(frozen=True)
class Geometry:
    """A frame of `height` x `width` as it goes through the network."""

    height: int
    width: int
    scaled: tuple[int, int]
    """height, width that the network sees of it"""
    padding: tuple[int, int, int, int]
    """top, bottom, left, right"""

    @classmethod
    def fit(cls, height: int, width: int, size: int | None) -> Geometry:
        """A short side of at most `size`, and where that is possible of `SMALLEST`. None takes frames as they are."""
        short = min(height, width)
        factor = 1.0
        if size is not None:
            factor = min(size, max(short, min(SMALLEST, MOST_ENLARGED * short))) / short
        h, w = max(1, round(height * factor)), max(1, round(width * factor))
        vertical, horizontal = -h % STRIDE, -w % STRIDE
        top, left = vertical // 2, horizontal // 2
        return cls(height, width, (h, w), (top, vertical - top, left, horizontal - left))

    def frame(self, frame: Image) -> Image:
        """(H, W, 3) to the network's size."""
        return self._pad(self._scale(frame))

    def masks(self, masks: Array) -> Array:
        """(N, H, W) to the network's size."""
        return np.stack([self._pad(self._scale(mask)) for mask in masks])

    def restore(self, channels: Array) -> Array:
        """(C, h, w) of the network, cut from their padding and resized to (C, H, W)."""
        top, _, left, _ = self.padding
        h, w = self.scaled
        inner = channels[:, top : top + h, left : left + w]
        if self.scaled == (self.height, self.width):
            return inner
        resized = [cv2.resize(c, (self.width, self.height), interpolation=cv2.INTER_LINEAR) for c in inner]
        return np.stack(resized)

    def _scale(self, image: np.ndarray) -> np.ndarray:
        if self.scaled == (self.height, self.width):
            return image
        interpolation = cv2.INTER_AREA if self.scaled[0] < self.height else cv2.INTER_LINEAR
        return cv2.resize(image, self.scaled[::-1], interpolation=interpolation)

    def _pad(self, image: np.ndarray) -> np.ndarray:
        top, bottom, left, right = self.padding
        if not any(self.padding):
            return np.ascontiguousarray(image)
        return cv2.copyMakeBorder(image, top, bottom, left, right, cv2.BORDER_REPLICATE)
