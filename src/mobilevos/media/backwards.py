"""Frames in reverse order, with a bounded amount of memory.

A video can be decoded forwards only. So it is read in stretches, the last one first, each from the key frame before it.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction

from mobilevos.errors import InputError
from mobilevos.media.excerpt import BEGINNING, Place
from mobilevos.media.video import Frame, open_source

HELD_BYTES = 192 << 20
"""Pictures held at once."""


class Timeline:
    """The times of the frames of a source from its start on, and where decoding can begin."""

    def __init__(self) -> None:
        self.first = 0
        """The number of the first frame."""
        self._times: list[Fraction] = []
        self._keys: list[int] = []

    def __len__(self) -> int:
        return len(self._times)

    @property
    def stop(self) -> int:
        """The number after that of the last frame."""
        return self.first + len(self)

    def add(self, frame: Frame) -> None:
        """Take the next frame."""
        if not self._times:
            self.first = frame.index
        if frame.index != self.stop:
            raise InputError(f"expected frame {self.stop} of the source, got frame {frame.index}")
        if frame.key:
            self._keys.append(frame.index)
        self._times.append(frame.time)

    def place_before(self, index: int) -> Place:
        """The last key frame that is not after frame `index`."""
        at = bisect_right(self._keys, index) - 1
        if at < 0:
            return BEGINNING
        return Place(self._keys[at], self._times[self._keys[at] - self.first])

    def fits(self, frame: Frame) -> bool:
        return self._times[frame.index - self.first] == frame.time


def read_backwards(
    source: str | os.PathLike[str], timeline: Timeline, stop: int, held_bytes: int = HELD_BYTES
) -> Iterator[Frame]:
    """The frames stop - 1, stop - 2, ... down to the first of a source that can be read again.

    timeline: of at least these frames, from an earlier reading.
    """
    held = 1
    while stop > timeline.first:
        start = max(timeline.first, stop - held)
        frames = _stretch(source, timeline, start, stop)
        held = max(1, held_bytes // frames[0].rgb.nbytes)
        stop = start
        while frames:
            yield frames.pop()


def _stretch(source: str | os.PathLike[str], timeline: Timeline, start: int, stop: int) -> list[Frame]:
    """Frames start .. stop - 1."""
    for place in (timeline.place_before(start), BEGINNING):  # from the very start where seeking misleads
        frames = []
        with open_source(source, begin=place) as opened:
            for frame in opened:
                if frame.index >= stop or not timeline.fits(frame):
                    break
                if frame.index >= start:
                    frames.append(frame)
                if frame.index == stop - 1:
                    return frames
    raise InputError(f"{source} has changed while it was read: frame {stop - 1} is not where it was")
