"""What is behind the things: photos, videos, and folders of frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import Image
from mobilevos.datasets.pictures import read_image
from mobilevos.datasets.video import PICTURES
from mobilevos.errors import InputError
from mobilevos.media.video import read_frames

VIDEOS = (".mp4", ".mov", ".mkv", ".webm", ".avi")
FOOTAGE = 5
"""Pictures of one folder, named by numbers only, from which on they are a film."""


@dataclass(frozen=True)
class Background:
    """One film, of a single picture where it is a photo."""

    files: tuple[Path, ...]
    """Pictures in order, or one video."""

    def frames(self, count: int, rng: np.random.Generator) -> Iterator[Image]:
        """So many pictures; a film begins anywhere, and goes back and forth where it is too short."""
        if self.files[0].suffix.lower() in VIDEOS:
            shots = [frame.rgb for frame in islice(read_frames(self.files[0]), count)]
            yield from (shots[i] for i in _back_and_forth(len(shots), 0, count))
            return
        begin = int(rng.integers(max(1, len(self.files) - count + 1)))
        last: tuple[int, Image] | None = None
        for i in _back_and_forth(len(self.files), begin, count):
            if last is None or last[0] != i:
                last = i, read_image(self.files[i])
            yield last[1]


def _back_and_forth(length: int, begin: int, count: int) -> Iterator[int]:
    there = [*range(length), *range(length - 2, 0, -1)]
    return (there[(begin + i) % len(there)] for i in range(count))


def list_backgrounds(folder: Path) -> list[Background]:
    """All photos, videos and folders of numbered frames below a folder, in order."""
    if not folder.is_dir():
        raise InputError(f"expected a folder of photos or footage, but {folder} is none")
    found: list[Background] = []
    for place in [folder, *sorted(path for path in folder.rglob("*") if path.is_dir())]:
        files = sorted(path for path in place.iterdir() if path.is_file())
        found += [Background((path,)) for path in files if path.suffix.lower() in VIDEOS]
        pictures = [path for path in files if path.suffix.lower() in PICTURES]
        if len(pictures) >= FOOTAGE and all(path.stem.isdecimal() for path in pictures):
            found.append(Background(tuple(pictures)))
        else:
            found += [Background((path,)) for path in pictures]
    if not found:
        raise InputError(f"expected photos or footage below {folder}, found none")
    return found


def show(picture: Image, place: np.ndarray, height: int, width: int) -> Image:
    """The part of a picture that a view of this shape sees; place: x, y in [0, 1] of the room there is, and zoom."""
    scale = max(height / picture.shape[0], width / picture.shape[1]) * float(max(1.0, place[2]))
    room = np.array([picture.shape[1] * scale - width, picture.shape[0] * scale - height])
    shift = np.clip(place[:2], 0, 1) * np.maximum(room, 0)
    matrix = np.array([[scale, 0, 0.5 * scale - 0.5 - shift[0]], [0, scale, 0.5 * scale - 0.5 - shift[1]]])
    if scale < 0.6:  # too fine for interpolation: shrink it first
        half = max(1, round(1 / scale))
        small = cv2.resize(picture, (picture.shape[1] // half, picture.shape[0] // half), interpolation=cv2.INTER_AREA)
        return show(np.asarray(small, np.uint8), place, height, width)
    warped = cv2.warpAffine(picture, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(warped, np.uint8)
