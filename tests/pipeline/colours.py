"""A stand-in for the network that follows plain colours, and clips of plain squares: quick, exact, and with a state."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.media.video import BrokenVideoError
from mobilevos.runtime.base import MemoryArrays, Step, written
from mobilevos.tracking import Tracker
from tests.builders.films import encode, steady

COLOURS = {1: (220, 30, 30), 2: (30, 60, 220), 3: (240, 220, 40)}
GROUND = (90, 120, 90)


class ColourRuntime:
    """An object is where the frame has its colour, which is learned from the memory: the state matters."""

    name = "colours"
    variant = "colours"
    slots: int | None = None

    def memorise(self, frame: Image, masks: Array, others: Array | None = None) -> tuple[Array, Array]:
        cells = lambda plane: cv2.resize(plane, None, fx=1 / 16, fy=1 / 16, interpolation=cv2.INTER_AREA)  # noqa: E731
        image = frame.astype(np.float32)
        key = cells(image).transpose(2, 0, 1)
        values = [np.stack([cells(m), *cells(image * m[..., None]).transpose(2, 0, 1)]) for m in masks]
        return np.ascontiguousarray(key), np.stack(values).astype(np.float32)

    def step(self, frame: Image, memory: MemoryArrays, slot: int) -> Step:
        image = frame.astype(np.float32)
        covered = memory.values[:, 0].sum((1, 2, 3))
        colours = memory.values[:, 1:].sum((2, 3, 4)) / np.maximum(covered, 1e-6)[:, None]
        distances = [((image - c) ** 2).mean(-1) if n > 1e-3 else np.full(image.shape[:2], 1e6) for c, n in
                     zip(colours, covered, strict=True)]  # fmt: skip
        logits = np.stack([np.full(image.shape[:2], -1200.0), *(-d for d in distances)]) / 300
        shares = np.exp(logits - logits.max(0))
        probabilities = (shares / shares.sum(0)).astype(np.float32)
        after = written(memory, slot, *self.memorise(frame, probabilities[1:]))
        return Step(probabilities, after, np.full(len(memory.values), np.nan, np.float32))


def tracker(size: int | None = 480, queue: int | None = 2) -> Tracker:
    return Tracker(ColourRuntime(), size=size, queue=queue)


def squares(count: int, height: int = 64, width: int = 96, enter: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Frames (H, W, 3) and ids (H, W): object 1 goes right, object 2 comes from the left from frame `enter` on."""
    rng = np.random.default_rng(0)
    for t in range(count):
        ids = np.zeros((height, width), np.uint8)
        ids[8:28, 4 + t : 24 + t] = 1
        if t >= enter:
            ids[36:58, width - 30 - t : width - 10 - t] = 2
        colours = np.array([GROUND, *COLOURS.values()], np.float32)
        picture = colours[ids] + rng.normal(0, 2, (height, width, 1))
        yield np.clip(picture, 0, 255).astype(np.uint8), ids


def write_clip(path: Path, count: int, rate: int = 25, **options: int) -> Path:
    """The squares as a lossless video."""
    pictures = (picture for picture, _ in squares(count, **options))
    return encode(path, pictures, steady(rate), "libx264rgb", "rgb24", options={"qp": "0", "g": "6"})


def breaking_at(opened: Callable[..., Any], index: int) -> Callable[..., Any]:
    """`open_source`, of a source that breaks at a frame."""

    def breaking(*args: Any) -> Any:
        source = opened(*args)
        frames = iter(source)

        def some() -> Iterator[Any]:
            for frame in frames:
                if frame.index == index:
                    raise BrokenVideoError("clip.mp4", index, "cut off")
                yield frame

        source._frames = some()
        return source

    return breaking
