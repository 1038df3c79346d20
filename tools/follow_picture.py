"""Makes the picture of the README from a clip that the package draws itself.

python tools/follow_picture.py docs/pictures/follow.png
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import typer
from PIL import Image

from mobilevos import Tracker
from mobilevos.files import replacing
from mobilevos.media.overlay import cutout, draw_overlay
from mobilevos.synthetic.clip import synthetic_frames

WHITE = (255, 255, 255)
SHOWN = (0, 20, 40, 59)
"""Frames of the clip, one a column."""
TILE = (288, 162)
GAP = 6
COLOURS = 128
"""A palette is a quarter of the bytes and looks the same."""


def make_picture(path: Path) -> None:
    """Write three rows: the clip with its objects outlined in the first frame, what is followed, what is cut out."""
    tracker = Tracker.load("mobilenetv2-lite")
    rows: list[list[np.ndarray]] = [[], [], []]
    for index, (frame, truth) in enumerate(synthetic_frames(frames=SHOWN[-1] + 1)):
        result = tracker.step(frame) if index else tracker.start(frame, truth)
        if index in SHOWN:
            given = frame if index else outlined(frame, truth)
            drawn = (given, draw_overlay(frame, result.mask), cutout(frame, result.mask, WHITE))
            for row, picture in zip(rows, drawn, strict=True):
                row.append(cv2.resize(picture, TILE, interpolation=cv2.INTER_AREA))
    whole = joined([joined(row, 1) for row in rows], 0)
    image = Image.fromarray(whole).quantize(COLOURS, dither=Image.Dither.FLOYDSTEINBERG)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        image.save(part, format="PNG", optimize=True)


def outlined(frame: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The frame (H, W, 3) with a white line around each object."""
    picture = frame.copy()
    for identity in range(1, int(ids.max()) + 1):
        lines, _ = cv2.findContours((ids == identity).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(picture, lines, -1, WHITE, 6)
    return picture


def joined(pictures: list[np.ndarray], axis: int) -> np.ndarray:
    """Pictures beside (1) or below (0) one another, with white between them."""
    shape = list(pictures[0].shape)
    shape[axis] = GAP
    between = np.full(shape, 255, np.uint8)
    parts = [part for picture in pictures for part in (picture, between)]
    return np.concatenate(parts[:-1], axis)


if __name__ == "__main__":
    typer.run(make_picture)
