"""What is behind objects, carried along from the frames in which it was seen.

The carrier holds one picture of the background. From frame to frame it follows the background's motion, takes over
what the new frame shows of it, and gives what it remembers of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Image
from mobilevos.removal.flow import Bits, background_flow, complete

NEVER = 255
"""The age of what was never seen."""

INVENTED = 254
"""The age of what was never seen either, but filled in before."""

OLDEST = 253

RING = 4
"""Width in pixels of the seam in which what is remembered is compared with what is seen."""


@dataclass(frozen=True)
class Remembered:
    """What a carrier knows of the hidden part of a frame."""

    picture: np.ndarray
    """(H, W, 3) uint8; means something inside the hole and where the age is less than NEVER."""
    age: np.ndarray
    """(H, W) uint8: how many frames ago it was seen; 0 outside the hole."""


class Carrier:
    """Goes through the frames in one direction."""

    def __init__(self) -> None:
        self._frame: Image | None = None
        self._hole: Bits | None = None
        self._known: Remembered | None = None

    def take(self, frame: Image, hole: Bits) -> Remembered:
        """The next frame (H, W, 3) and where objects hide the background in it (H, W)."""
        age = np.where(hole, np.uint8(NEVER), np.uint8(0))
        picture = frame.copy()
        if self._known is not None and self._frame is not None and self._hole is not None and hole.any():
            box = _around(hole, RING + 2)
            flow = background_flow(frame, self._frame, hole, self._hole)[box]
            y, x = np.mgrid[box].astype(np.float32)
            map_x, map_y = x + flow[..., 0], y + flow[..., 1]
            seen = cv2.remap(self._known.picture, map_x, map_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
            old = self._ages(map_x, map_y)
            inside = hole[box]
            seen = _fitted(seen, frame[box], old < NEVER, inside)
            picture[box][inside] = seen[inside]
            age[box][inside] = np.where(old < INVENTED, np.minimum(old, OLDEST - 1) + 1, old)[inside]
        self._frame, self._hole, self._known = frame, hole, Remembered(picture, age)
        return self._known

    def learn(self, picture: Image, age: np.ndarray) -> None:
        """Know better about the current frame: its background (H, W, 3), and how old that is (H, W)."""
        self._known = Remembered(picture, age)

    def _ages(self, map_x: np.ndarray, map_y: np.ndarray) -> np.ndarray:
        """The age of what is found there; NEVER if any of the four pixels around was never seen, or outside."""
        assert self._known is not None
        unknown = (self._known.age == NEVER).astype(np.float32)
        mixed = cv2.remap(unknown, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=1.0)
        age = cv2.remap(self._known.age, map_x, map_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
        return np.where(mixed > 1e-3, np.uint8(NEVER), age)


def _around(hole: Bits, margin: int) -> tuple[slice, slice]:
    """The rows and columns of a hole, and a margin."""
    x, y, w, h = cv2.boundingRect(hole.view(np.uint8))
    rows = slice(max(0, y - margin), min(hole.shape[0], y + h + margin))
    return rows, slice(max(0, x - margin), min(hole.shape[1], x + w + margin))


def _fitted(seen: np.ndarray, frame: np.ndarray, known: Bits, hole: Bits) -> NDArray[np.uint8]:
    """Seen colours (H, W, 3) corrected by how they differ from the frame around the hole, spread into it smoothly."""
    ring = (cv2.dilate(hole.view(np.uint8), np.ones((2 * RING + 1, 2 * RING + 1), np.uint8)) > 0) & ~hole & known
    if not ring.any():
        return seen
    difference = np.clip(frame.astype(np.float32) - seen, -24, 24)  # more is another thing, not another light
    correction = complete(difference, ring)
    return np.clip(np.round(seen + correction), 0, 255).astype(np.uint8)
