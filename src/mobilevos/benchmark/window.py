"""What the window costs: videos of several sizes, with it and without it, frame by frame in turns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import cv2
import numpy as np

from mobilevos.arrays import Image
from mobilevos.benchmark.tables import Report, Say
from mobilevos.runtime import load_runtime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.window import MOST_ZOOM, palette_of
from mobilevos.weights import WORKING_SIZE

SIZES = ((480, 854), (1080, 1920), (2160, 3840))
WARM_UP = 12
"""Frames after which a runtime has made itself ready for a memory that is full (OpenVINO waits for 10)."""
INCLUDES = "frame: all of a step and the mask at the frame's size; network: the runtime alone; not reading the video"


class _Timed:
    """A runtime that counts the time it takes."""

    def __init__(self, runtime: Any) -> None:
        self.runtime, self.seconds = runtime, 0.0
        self.name, self.variant, self.slots = runtime.name, runtime.variant, runtime.slots

    def memorise(self, *arguments: Any) -> Any:
        return self.runtime.memorise(*arguments)

    def step(self, *arguments: Any) -> Any:
        began = time.perf_counter()
        out = self.runtime.step(*arguments)
        self.seconds += time.perf_counter() - began
        return out


def benchmark_window(
    model: str,
    *,
    runtime: str = "auto",
    sizes: Sequence[tuple[int, int]] = SIZES,
    frames: int = 30,
    queue: int | Literal["auto"] | None = "auto",
    progress: Say = lambda line: None,
) -> Report:
    """Follow a small object in videos of several sizes; with and without the window in turns, in one run."""
    engine = load_runtime(model, runtime)
    rows = []
    for height, width in sizes:
        clip, mask = _clip(height, width)
        timed = {window: _Timed(engine) for window in ("off", "auto")}
        trackers = {window: Tracker(timed[window], queue=queue, window=window) for window in timed}
        seconds: dict[str, list[float]] = {window: [] for window in timed}
        for tracker in trackers.values():
            tracker.start(clip[0], mask)
        for index in range(WARM_UP + frames):
            if index == WARM_UP:
                for one in timed.values():
                    one.seconds = 0.0
            for window, tracker in trackers.items():
                began = time.perf_counter()
                _ = tracker.step(clip[1 + index % (len(clip) - 1)]).mask
                if index >= WARM_UP:
                    seconds[window].append(time.perf_counter() - began)
        for window in timed:
            row = {
                "size": f"{width} x {height}",
                "window": window,
                "frame_ms": 1000 * float(np.median(seconds[window])),
                "network_ms": 1000 * timed[window].seconds / frames,
                "against_off": float(np.median(seconds[window]) / np.median(seconds["off"])),
            }
            rows.append(row)
            progress(
                f"{row['size']}, window {window}: {row['frame_ms']:.1f} ms a frame, {row['network_ms']:.1f} in the "
                f"network, {row['against_off']:.2f} times as long as without"
            )
        progress(f"{width} x {height}: {_around(clip[0])}")
    return Report("window", rows, includes=INCLUDES)


def _clip(height: int, width: int) -> tuple[list[Image], np.ndarray]:
    """A painted clip with one object, enlarged: to and fro, so that it can go on."""
    small, masks = synthetic_clip(frames=8, height=480, width=854, objects=1, seed=4)
    frames = [cv2.resize(frame, (width, height), interpolation=cv2.INTER_LINEAR) for frame in small]
    mask = cv2.resize(masks[0], (width, height), interpolation=cv2.INTER_NEAREST)
    return [*frames, *frames[-2:0:-1]], mask


def _around(frame: Image) -> str:
    """What is done beside the network, in milliseconds: the fastest of ten."""
    whole = Geometry.fit(frame.shape[0], frame.shape[1], WORKING_SIZE, windowed=True)
    window = whole.window(frame.shape[1] / 2, frame.shape[0] / 2, MOST_ZOOM)
    parts = {
        "reducing the whole frame": lambda: whole.frame(frame),
        "cutting a window out": lambda: window.frame(frame),
        "colours for cuts": lambda: palette_of(frame),
    }
    times = []
    for name, act in parts.items():
        best = min(_seconds(act) for _ in range(10))
        times.append(f"{name} {1000 * best:.1f} ms")
    return ", ".join(times)


def _seconds(act: Any) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
