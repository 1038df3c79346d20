"""Shows that memory stays flat however long a video is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.media.video import VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.pipeline.marks import FrameMarks
from mobilevos.pipeline.run import segment
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker

RATE = 25


@dataclass(frozen=True)
class MemoryCurve:
    """Memory of this process while a long video was worked on."""

    frames: tuple[int, ...]
    """Finished when it was measured."""
    bytes: tuple[int, ...]
    rate: float
    """Frames a second, reading and writing included."""

    @property
    def growth(self) -> float:
        """Bytes a frame, from the middle of the work to its end: what comes before is buffers being filled."""
        half = len(self.frames) // 2
        return (self.bytes[-1] - self.bytes[half]) / max(1, self.frames[-1] - self.frames[half])


def measure_memory(
    tracker: Tracker,
    folder: Path,
    *,
    frames: int = 10_000,
    height: int = 480,
    width: int = 854,
    objects: int = 2,
    formats: tuple[str, ...] = ("masks", "overlay"),
    points: int = 50,
) -> MemoryCurve:
    """Make a video of so many frames in `folder`, follow its objects, and measure memory at so many points."""
    if not Path("/proc/self/statm").exists():
        raise InputError("the memory of a process can be measured on Linux only")
    pictures, masks = synthetic_clip(frames=24, height=height, width=width, objects=objects)
    info = VideoInfo(width, height, Fraction(RATE), Fraction(1, RATE), frames)
    folder.mkdir(parents=True, exist_ok=True)
    there_and_back = [*range(24), *range(22, 0, -1)]
    with VideoWriter(folder / "long.mp4", info) as writer:
        for index in range(frames):
            writer.write(pictures[there_and_back[index % len(there_and_back)]], Fraction(index, RATE))
    del pictures
    measured: list[tuple[int, int]] = []

    @contextlib.contextmanager
    def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
        def tell(done: int) -> None:
            if done % max(1, frames // points) == 0:
                measured.append((done, _resident()))

        yield tell

    marks = {0: FrameMarks(masks[0])}
    result = segment(tracker, folder / "long.mp4", marks, folder / "out", formats=formats, progress=progress)
    return MemoryCurve(tuple(f for f, _ in measured), tuple(b for _, b in measured), result.rate)


def _resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
