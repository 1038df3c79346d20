"""The hidden part of a frame, from what was seen before, what will be seen later, and invention."""

from __future__ import annotations

import cv2
import numpy as np

from mobilevos.arrays import Image
from mobilevos.removal.carry import INVENTED, NEVER, Remembered
from mobilevos.removal.flow import Bits

ALIKE = 30
"""Two colours so close, in every channel, are blended; of others the fresher one is taken."""

INVENTING_SIDE = 160
"""The long side at which what nobody saw is painted: it is smooth, and large holes take long."""


def fill(hole: Bits, past: Remembered, future: Remembered | None) -> Remembered:
    """The background of a frame whose hidden part is the hole (H, W), complete, and where it comes from."""
    picture, age = past.picture, past.age
    if future is not None:
        picture, age = _joined(past, future, hole)
    unknown = hole & (age == NEVER)
    if unknown.any():
        picture = np.where(unknown[..., None], _invented(picture, unknown), picture)
        age = np.where(unknown, np.uint8(INVENTED), age)
    return Remembered(picture, age)


def without_seam(frame: Image, hole: Bits, background: np.ndarray) -> np.ndarray:
    """The frame (H, W, 3) with the background in the hole (H, W), blended over its edge: what is there is the margin
    around an object."""
    soft = np.where(hole, cv2.GaussianBlur(hole.astype(np.float32), (5, 5), 1.0), 0)
    return cv2.blendLinear(background, frame, soft, 1 - soft)


def _joined(past: Remembered, future: Remembered, hole: Bits) -> tuple[np.ndarray, np.ndarray]:
    """Both memories: weighted by freshness where they agree, the fresher one where they do not."""
    older, newer = past.age.astype(np.float32), future.age.astype(np.float32)
    agree = np.abs(past.picture.astype(np.int16) - future.picture).max(2) <= ALIKE
    agree &= (past.age < INVENTED) & (future.age < INVENTED)
    share = np.where(agree, older / np.maximum(older + newer, 1), (newer < older).astype(np.float32))
    share = np.where(hole, share, 0).astype(np.float32)
    return cv2.blendLinear(future.picture, past.picture, share, 1 - share), np.minimum(past.age, future.age)


def _invented(picture: np.ndarray, unknown: Bits) -> np.ndarray:
    """The picture with its unknown part painted over from around (Telea's method, on a reduced picture)."""
    x, y, w, h = cv2.boundingRect(unknown.view(np.uint8))
    margin = max(8, max(w, h) // 4)
    height, width = unknown.shape
    box = slice(max(0, y - margin), min(height, y + h + margin)), slice(max(0, x - margin), min(width, x + w + margin))
    part, missing = picture[box], unknown[box]
    factor = min(1.0, INVENTING_SIDE / max(missing.shape))
    size = (max(1, round(missing.shape[1] * factor)), max(1, round(missing.shape[0] * factor)))
    gaps = (cv2.resize(missing.view(np.uint8) * 255, size, interpolation=cv2.INTER_AREA) > 0).astype(np.uint8)
    painted = cv2.inpaint(cv2.resize(part, size, interpolation=cv2.INTER_AREA), gaps, 4, cv2.INPAINT_TELEA)
    whole = picture.copy()
    whole[box] = cv2.resize(painted, missing.shape[::-1], interpolation=cv2.INTER_CUBIC)
    return whole
