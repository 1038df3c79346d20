"""Timing of a tracker on random clips."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mobilevos.arrays import Image
from mobilevos.tracking import Tracker

INCLUDES = (
    "padding the frame, key encoder, memory read, decoder, aggregation, value encoder, memory write, "
    "and the mask at the frame's size; not reading the video"
)
WARM_UP = 3
DIFFERENT_FRAMES = 8
"""Random frames are expensive to make and all alike: a few are used in turn."""


@dataclass(frozen=True)
class Timing:
    """Seconds a frame takes, over a clip."""

    frames: int
    """Timed, after a warm-up"""
    total: float
    """Seconds for all of them"""
    fastest: float
    median: float

    @property
    def fps(self) -> float:
        """Frames a second over the whole clip."""
        return self.frames / self.total

    @property
    def best_fps(self) -> float:
        """Of the fastest frame: what a machine without noise would give."""
        return 1 / self.fastest


def random_frames(count: int, height: int, width: int, seed: int = 0) -> Iterator[Image]:
    """Noise, as the paper's speed table uses it."""
    rng = np.random.default_rng(seed)
    pool = [rng.integers(0, 256, (height, width, 3), np.uint8) for _ in range(min(count, DIFFERENT_FRAMES))]
    for i in range(count):
        yield pool[i % len(pool)]


def random_mask(height: int, width: int, objects: int) -> Image:
    """Objects side by side, of equal size."""
    mask = np.zeros((height, width), np.uint8)
    edges = np.linspace(width * 0.1, width * 0.9, objects + 1).astype(int)
    for i in range(objects):
        mask[height // 4 : 3 * height // 4, edges[i] : edges[i + 1]] = i + 1
    return mask


def time_tracking(
    tracker: Tracker, *, frames: int, height: int = 480, width: int = 910, objects: int = 1, warm_up: int = WARM_UP
) -> Timing:
    """Time each step on a random clip, but for the first frames."""
    seconds = []
    for index, frame in enumerate(random_frames(warm_up + frames, height, width)):
        if index == 0:
            tracker.start(frame, random_mask(height, width, objects))
            continue
        began = time.perf_counter()
        result = tracker.step(frame)
        _ = result.mask
        seconds.append(time.perf_counter() - began)
    timed = seconds[warm_up - 1 :]
    return Timing(len(timed), sum(timed), min(timed), float(np.median(timed)))
