"""Pictures to look at: objects in colour over the frame, cut out on a colour, many frames on one sheet."""

import math
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from mobilevos.errors import InputError
from mobilevos.media.palette import vivid_palette

DOUBTFUL = 0.5
"""A confidence below this is shown with a question mark."""


def draw_overlay(
    frame: np.ndarray,
    ids: np.ndarray,
    alpha: float = 0.5,
    contours: bool = True,
    confidence: Mapping[int, float] | None = None,
    names: Mapping[int, str] | None = None,
) -> np.ndarray:
    """Colour each object of ids (H, W) over the frame (H, W, 3) uint8, with a crisp contour; a new picture.

    confidence: {id: 0..1}, written beside each object where given. names: {id: text}, written there instead.
    """
    ids = _checked(frame, ids)
    picture = frame.copy()
    if not ids.any():
        return picture
    colours = cv2.applyColorMap(ids, vivid_palette()[:, None])  # a plain look-up: the channels stay in our order
    cv2.copyTo(cv2.addWeighted(frame, 1 - alpha, colours, alpha, 0), ids, picture)
    if contours:
        width = max(1, round(min(ids.shape) / 240))
        square = np.ones((2 * width + 1, 2 * width + 1), np.uint8)
        # Repeated at the border of the picture, so that an object that leaves it gets no line there.
        low = cv2.erode(ids, square, borderType=cv2.BORDER_REPLICATE)
        high = cv2.dilate(ids, square, borderType=cv2.BORDER_REPLICATE)
        cv2.copyTo(colours, ((low != high) & (ids > 0)).view(np.uint8), picture)
    texts = {i: f"{100 * value:.0f}%" + ("" if value >= DOUBTFUL else " ?") for i, value in (confidence or {}).items()}
    for identity, text in {**texts, **(names or {})}.items():
        _write_above(picture, ids == identity, text)
    return picture


def _write_above(picture: np.ndarray, region: np.ndarray, text: str) -> None:
    """Write above an object, in place; nothing where the object is not to be seen."""
    rows = np.flatnonzero(region.any(axis=1))
    if not len(rows):
        return
    columns = np.flatnonzero(region.any(axis=0))
    scale = max(0.4, min(region.shape) / 900)
    thickness = max(1, round(1.5 * scale))
    (width, height), base = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, thickness)
    x = int(np.clip((columns[0] + columns[-1] - width) // 2, 2, max(2, region.shape[1] - width - 2)))
    y = int(np.clip(rows[0] - base - 2, height + 2, region.shape[0] - base - 1))
    _write(picture, text, (x, y), scale, thickness)


def _write(picture: np.ndarray, text: str, corner: tuple[int, int], scale: float, thickness: int = 1) -> None:
    """White with a black rim, to be read on anything; in place."""
    for ink, pen in (((0, 0, 0), thickness + 2), ((255, 255, 255), thickness)):
        cv2.putText(picture, text, corner, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, pen, cv2.LINE_AA)


def matte(ids: np.ndarray, feather: float = 1.0) -> np.ndarray:
    """How much of each pixel the objects cover: (H, W) float32 in 0..1.

    The ids decide pixel by pixel; their staircase is smoothed over about `feather` pixels to either side of the
    outline, not at all for 0.
    """
    inside = (np.asarray(ids) > 0).astype(np.float32)
    if not feather:
        return inside
    side = 2 * math.ceil(2 * feather) + 1
    return cv2.GaussianBlur(inside, (side, side), 0.9 * feather, borderType=cv2.BORDER_REPLICATE)


def draw_matte(ids: np.ndarray, feather: float = 1.0) -> np.ndarray:
    """The objects in white on black, with gray edges: (H, W, 3) uint8."""
    gray = np.round(255 * matte(ids, feather)).astype(np.uint8)
    return np.repeat(gray[..., None], 3, axis=2)


def cutout(
    frame: np.ndarray, ids_or_alpha: np.ndarray, color: tuple[int, int, int] = (0, 177, 64), feather: float = 1.0
) -> np.ndarray:
    """The objects on a plain colour (green unless told): ids (H, W) integers, or coverage (H, W) floats in 0..1."""
    alpha = ids_or_alpha.astype(np.float32)
    if ids_or_alpha.dtype.kind in "uib":
        alpha = matte(_checked(frame, ids_or_alpha), feather)
    elif alpha.shape != frame.shape[:2]:
        raise InputError(f"expected coverage of shape {frame.shape[:2]}, got {alpha.shape}")
    ground = np.empty_like(frame)
    ground[:] = color
    return cv2.blendLinear(frame, ground, alpha, 1 - alpha)


def with_alpha(frame: np.ndarray, ids: np.ndarray, feather: float = 1.0) -> np.ndarray:
    """The frame with everything but the objects transparent: (H, W, 4) of the frame's type, straight alpha.

    Far from the objects the colours are black, which takes almost no room in a file; near them they stay, or lossy
    compression would darken the edges. Frames are uint8, or uint16 for pictures of more depth.
    """
    most = np.iinfo(frame.dtype).max
    alpha = np.round(most * matte(_checked(frame, ids, (np.uint8, np.uint16)), feather)).astype(frame.dtype)
    near = cv2.dilate((alpha > 0).view(np.uint8), np.ones((17, 17), np.uint8))
    return np.dstack([cv2.copyTo(frame, near), alpha])


def contact_sheet(
    frames: Sequence[np.ndarray], columns: int = 4, width: int = 320, captions: Sequence[str] | None = None
) -> np.ndarray:
    """Many frames on one sheet, in rows, each `width` pixels wide: (H, W, 3) uint8."""
    if not frames or columns < 1:
        raise InputError(f"expected frames and columns for a sheet, got {len(frames)} frames in {columns} columns")
    height = max(1, round(frames[0].shape[0] * width / frames[0].shape[1]))
    columns = min(columns, len(frames))
    rows = -(-len(frames) // columns)
    gap = 6
    sheet = np.full((rows * (height + gap) + gap, columns * (width + gap) + gap, 3), 24, np.uint8)
    for i, frame in enumerate(frames):
        tile = cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA)
        if captions:
            _write(tile, captions[i], (6, height - 8), 0.42)
        top, left = gap + i // columns * (height + gap), gap + i % columns * (width + gap)
        sheet[top : top + height, left : left + width] = tile
    return sheet


def _checked(frame: np.ndarray, ids: np.ndarray, types: Sequence[type] = (np.uint8,)) -> np.ndarray:
    ids = np.asarray(ids)
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype not in types:
        raise InputError(f"expected a frame of shape (H, W, 3) uint8, got {frame.shape} {frame.dtype}")
    if ids.shape != frame.shape[:2] or ids.dtype.kind not in "uib":
        raise InputError(f"expected integer ids of shape {frame.shape[:2]}, got {ids.shape} {ids.dtype}")
    return ids.astype(np.uint8)
