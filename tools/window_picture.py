"""Draws what the window shows: docs/pictures/window.png.

python tools/window_picture.py docs/pictures/window.png

Above: frames of a painted clip, with the window that followed the object. Below: what the network saw, and the mask it
gave.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from mobilevos.files import replacing
from mobilevos.media.overlay import draw_overlay
from mobilevos.synthetic.clip import synthetic_frames
from mobilevos.tracking import Tracker

SHOWN = (0, 8, 16, 24)
HEIGHT, WIDTH, OBJECTS, SCENE = 720, 1280, 1, 2
ORANGE = (255, 140, 0)
COLUMN = 426


def picture() -> np.ndarray:
    """(H, W, 3): a column for each frame that is shown."""
    tracker = Tracker.load("mobilenetv2-lite")
    columns = []
    clip = synthetic_frames(frames=SHOWN[-1] + 1, height=HEIGHT, width=WIDTH, objects=OBJECTS, seed=SCENE)
    for index, (frame, truth) in enumerate(clip):
        if index == 0:
            smallest = min(range(1, OBJECTS + 1), key=lambda i: int((truth == i).sum()))
            result = tracker.start(frame, np.where(truth == smallest, np.uint8(1), np.uint8(0)))
        else:
            result = tracker.step(frame)
        if index in SHOWN:
            columns.append(_column(frame, result.mask, tracker))
    return np.concatenate(columns, 1)


def _column(frame: np.ndarray, mask: np.ndarray, tracker: Tracker) -> np.ndarray:
    geometry = tracker.state().group.current.geometry
    top, left, height, width = geometry.box
    above = frame.copy()
    cv2.rectangle(above, (left, top), (left + width - 1, top + height - 1), ORANGE, 6)
    below = geometry.cut(draw_overlay(frame, mask))
    size = (COLUMN, COLUMN * HEIGHT // WIDTH)
    parts = [cv2.resize(part, size, interpolation=cv2.INTER_AREA) for part in (above, np.ascontiguousarray(below))]
    return cv2.copyMakeBorder(np.concatenate(parts), 4, 4, 4, 4, cv2.BORDER_CONSTANT, value=(255, 255, 255))


if __name__ == "__main__":
    drawn = Image.fromarray(picture()).quantize(128, dither=Image.Dither.FLOYDSTEINBERG)
    with replacing(Path(sys.argv[1])) as part:
        drawn.save(part, format="PNG", optimize=True)
