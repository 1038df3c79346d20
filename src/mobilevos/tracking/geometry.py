"""Between the user's frame and the network's: cut a window out, scale it, pad to a multiple of 16, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """The part of a frame of `height` x `width` that goes through the network, and how."""

    height: int
    width: int
    scaled: tuple[int, int]
    """height, width that the network sees it at"""
    padding: tuple[int, int, int, int]
    """top, bottom, left, right"""
    box: tuple[int, int, int, int]
    """top, left, height, width of the part: the whole frame, or a window"""

    @classmethod
    def fit(cls, height: int, width: int, size: int | None) -> Geometry:
        """All of it, with a short side of at most `size`, and where that is possible of `SMALLEST`.

        None takes frames as they are.
        """
        short = min(height, width)
        factor = 1.0
        if size is not None:
            factor = min(size, max(short, min(SMALLEST, MOST_ENLARGED * short))) / short
        h, w = max(1, round(height * factor)), max(1, round(width * factor))
        vertical, horizontal = -h % STRIDE, -w % STRIDE
        top, left = vertical // 2, horizontal // 2
        return cls(height, width, (h, w), (top, vertical - top, left, horizontal - left), box=(0, 0, height, width))

    def window(self, x: float, y: float, zoom: float) -> Geometry:
        """A part of the frame around (x, y), seen `zoom` times as large, at the same cost: inside the frame."""
        box_height = min(self.height, max(1, round(self.height / zoom)))
        box_width = min(self.width, max(1, round(self.width / zoom)))
        top = min(max(0, round(y - box_height / 2)), self.height - box_height)
        left = min(max(0, round(x - box_width / 2)), self.width - box_width)
        return replace(self, box=(top, left, box_height, box_width))

    @property
    def whole(self) -> Geometry:
        """The same for the whole frame."""
        return replace(self, box=(0, 0, self.height, self.width))

    @property
    def is_whole(self) -> bool:
        return self.box[2:] == (self.height, self.width)

    @property
    def scale(self) -> float:
        """Pixels of the network for a pixel of the frame."""
        return float(np.sqrt(self.scaled[0] * self.scaled[1] / (self.box[2] * self.box[3])))

    def frame(self, frame: Image) -> Image:
        """(H, W, 3) to the network's size."""
        return self._pad(self._scale(self.cut(frame)))

    def masks(self, mask: np.ndarray, ids: Sequence[int]) -> Array:
        """The objects of ids (H, W), each a plane (N, h, w) of 0..1 at the network's size."""
        part = self.cut(mask)
        return self.planes([(part == i).astype(np.float32) for i in ids])

    def planes(self, parts: Sequence[np.ndarray]) -> Array:
        """Planes of the seen part, as `cut` gives them, at the network's size: (N, h, w)."""
        return np.stack([self._pad(self._scale(part)) for part in parts])

    def cut(self, image: np.ndarray) -> np.ndarray:
        """The seen part of (H, W, ...), a view of it."""
        top, left, height, width = self.box
        return image[top : top + height, left : left + width]

    def inner(self, channels: np.ndarray) -> np.ndarray:
        """(C, h, w) of the network without their padding."""
        top, _, left, _ = self.padding
        h, w = self.scaled
        return channels[:, top : top + h, left : left + w]

    def restore_part(self, channels: Array) -> Array:
        """(C, h, w) of the network as the seen part: (C, height, width of the box)."""
        inner, (_, _, height, width) = self.inner(channels), self.box
        if self.scaled == (height, width):
            return inner
        return np.stack([cv2.resize(c, (width, height), interpolation=cv2.INTER_LINEAR) for c in inner])

    def restore(self, channels: Array) -> Array:
        """(C, h, w) of the network in the frame: (C, H, W), 0 outside of the seen part."""
        part = self.restore_part(channels)
        if self.is_whole:
            return part
        return self.placed(part)

    def placed(self, part: np.ndarray) -> np.ndarray:
        """The seen part (..., height, width) in the frame: (..., H, W), 0 around it."""
        top, left, height, width = self.box
        whole = np.zeros((*part.shape[:-2], self.height, self.width), part.dtype)
        whole[..., top : top + height, left : left + width] = part
        return whole

    def _scale(self, image: np.ndarray) -> np.ndarray:
        if self.scaled == self.box[2:]:
            return image
        interpolation = cv2.INTER_AREA if self.scaled[0] < self.box[2] else cv2.INTER_LINEAR
        return cv2.resize(image, self.scaled[::-1], interpolation=interpolation)

    def _pad(self, image: np.ndarray) -> np.ndarray:
        top, bottom, left, right = self.padding
        if not any(self.padding):
            return np.ascontiguousarray(image)
        return cv2.copyMakeBorder(image, top, bottom, left, right, cv2.BORDER_REPLICATE)
