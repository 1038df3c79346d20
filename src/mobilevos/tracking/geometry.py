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
WIDEST = 4 / 3
"""Long side of windows against their short one, at most: what is farther from the objects costs time and tells little.
Only frames more than twice as wide have windows of half of their width."""


@dataclass(frozen=True)
class Geometry:
    """The part of a frame of `height` x `width` that goes through the network, and how."""

    height: int
    width: int
    view: tuple[int, int]
    """height, width that the network sees at a zoom of 1; all windows of a frame are padded to one size"""
    scaled: tuple[int, int]
    """height, width that the network sees this part at: the view, or less of it where the part is wider than that"""
    padding: tuple[int, int, int, int]
    """top, bottom, left, right"""
    box: tuple[int, int, int, int]
    """top, left, height, width of the part: the whole frame, or a window"""

    @classmethod
    def fit(cls, height: int, width: int, size: int | None, *, windowed: bool = False) -> Geometry:
        """All of it, with a short side of at most `size`, and where that is possible of `SMALLEST`.

        size: None takes frames as they are.
        windowed: the frame will be looked at through windows, which need not be as wide as it is (`WIDEST`); all of it
            is then seen smaller.
        """
        short = min(height, width)
        factor = 1.0
        if size is not None:
            factor = min(size, max(short, min(SMALLEST, MOST_ENLARGED * short))) / short
        h, w = max(1, round(height * factor)), max(1, round(width * factor))
        if windowed:
            longest = STRIDE * max(1, round(max(WIDEST * min(h, w), max(h, w) / 2) / STRIDE))
            h, w = min(h, longest), min(w, longest)
        whole = cls(height, width, (h, w), (h, w), (0, 0, 0, 0), (0, 0, height, width))
        return whole.window(width / 2, height / 2, whole.widest)

    def window(self, x: float, y: float, zoom: float) -> Geometry:
        """A part of the frame around (x, y), seen `zoom` times as large, at the same cost: inside the frame.

        Where a zoom below 1 shows more than there is of one side, the rest of the view is padding.
        """
        sides, scaled = [], []
        for length, seen, side in zip((self.height, self.width), self.view, self.sides, strict=True):
            shown = max(1, round(side / zoom))
            sides.append(min(length, shown))
            scaled.append(seen if shown <= length else max(1, round(seen * length * zoom / side)))
        top = min(max(0, round(y - sides[0] / 2)), self.height - sides[0])
        left = min(max(0, round(x - sides[1] / 2)), self.width - sides[1])
        gaps = [seen + -seen % STRIDE - part for seen, part in zip(self.view, scaled, strict=True)]
        above, before = gaps[0] // 2, gaps[1] // 2
        return replace(
            self,
            scaled=(scaled[0], scaled[1]),
            padding=(above, gaps[0] - above, before, gaps[1] - before),
            box=(top, left, sides[0], sides[1]),
        )

    @property
    def unit(self) -> float:
        """Pixels of the network for a pixel of the frame at a zoom of 1."""
        return max(self.view[0] / self.height, self.view[1] / self.width)

    @property
    def sides(self) -> tuple[float, float]:
        """height, width of what is seen at a zoom of 1, in pixels of the frame."""
        exact = [
            length if abs(seen - length * self.unit) <= 1 else seen / self.unit
            for length, seen in zip((self.height, self.width), self.view, strict=True)
        ]
        return exact[0], exact[1]

    @property
    def widest(self) -> float:
        """The zoom that shows all of the frame: 1, or less where the view is not as wide as the frame."""
        return min(self.sides[0] / self.height, self.sides[1] / self.width)

    @property
    def whole(self) -> Geometry:
        """The same for the whole frame."""
        return self.window(self.width / 2, self.height / 2, self.widest)

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
