"""Masks as a YOLO segmentation dataset: a picture and a text file of polygons a frame, and `data.yaml`.

    images/NAME.jpg
    labels/NAME.txt     a line an object: its class, then x and y of the outline, as parts of width and height
    data.yaml           what training reads

Object 1 is class 0. An object in several parts, or with holes, is one outline all the same: its parts are joined by
bridges without width, which is what the tools of this format do, too.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mobilevos.arrays import Bits, Ids
from mobilevos.files import replacing
from mobilevos.media.video import Frame

QUALITY = 95
"""Of the JPEGs, which are to be learned from."""
INSIDE = 0.25
"""Where in its pixel a corner is written: the same pixel comes back whether a reader rounds or cuts off."""


def outline(mask: Bits) -> NDArray[np.int32]:
    """One polygon (K, 2) of x, y around all parts of a mask (H, W) with at least one pixel, holes left out.

    Filled by the even-odd rule with its border, as `cv2.fillPoly` does, it is the mask and the bridges.
    """
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    first, *others = sorted((contour[:, 0] for contour in contours), key=len, reverse=True)
    joined = np.asarray(first, np.int32)
    for contour in others:
        distances = np.square(joined[:, None] - contour[None]).sum(-1)
        here, there = np.unravel_index(int(distances.argmin()), distances.shape)
        around = np.roll(contour, -int(there), axis=0)
        joined = np.concatenate([joined[: here + 1], around, around[:1], joined[here:]])
    return np.pad(joined, ((0, max(0, 3 - len(joined))), (0, 0)), mode="edge")  # a polygon has three corners


class YoloSink:
    """Writes the folder frame by frame; `data.yaml` is there after `close`."""

    notes: Sequence[str] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._most = 0
        for name in ("images", "labels"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def write(self, frame: Frame, ids: Ids, confidence: Mapping[int, float]) -> None:
        """Objects that are not in the frame get no line."""
        with replacing(self.folder / "images" / f"{frame.name}.jpg") as part:
            Image.fromarray(frame.rgb).save(part, format="JPEG", quality=QUALITY)
        lines = []
        for identity in np.unique(ids[ids > 0]).tolist():
            self._most = max(self._most, identity)
            places = (outline(ids == identity) + INSIDE) / ids.shape[::-1]
            lines.append(f"{identity - 1} {' '.join(f'{value:.6f}' for value in places.ravel())}\n")
        with replacing(self.folder / "labels" / f"{frame.name}.txt") as part:
            part.write_text("".join(lines), encoding="utf-8")

    def close(self) -> None:
        """Name the classes. Training and validation are the same frames here: which to keep apart, you know best."""
        names = {number: f"object {number + 1}" for number in range(self._most)}
        lines = [f"  {number}: {json.dumps(name)}\n" for number, name in names.items()]
        with replacing(self.folder / "data.yaml") as part:
            text = "path: .\ntrain: images\nval: images\nnames:" + ("\n" + "".join(lines) if lines else " {}\n")
            part.write_text(text, encoding="utf-8")

    def abort(self) -> None:
        """Pictures and labels that are in place stay: each is whole."""
        for name in ("images", "labels"):
            with contextlib.suppress(OSError):  # only an empty folder goes
                (self.folder / name).rmdir()
