"""Frames in reverse order, with a bounded amount of memory.

A video can be decoded forwards only. So it is read in stretches, the last one first, each from the key frame before it.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction

from mobilevos.errors import InputError
from mobilevos.media.video import BEGINNING, Frame, Place, open_source

HELD_BYTES = 192 << 20
"""Pictures held at once."""


class Timeline:
    """The times of the frames of a source from its start on, and where decoding can begin."""

    def __init__(self) -> None:
        self._times: list[Fraction] = []
        self._keys: list[int] = []

    def __len__(self) -> int:
        return len(self._times)

    def add(self, frame: Frame) -> None:
        """Take the next frame."""
        if frame.index != len(self):
            raise InputError(f"expected frame {len(self)} of the source, got frame {frame.index}")
        if frame.key:
            self._keys.append(frame.index)
        self._times.append(frame.time)

    def place_before(self, index: int) -> Place:
        """The last key frame that is not after frame `index`."""
        at = bisect_right(self._keys, index) - 1
        key = self._keys[at] if at >= 0 else 0
        return Place(key, self._times[key])

    def fits(self, frame: Frame) -> bool:
        return self._times[frame.index] == frame.time


def read_backwards(
    source: str | os.PathLike[str], timeline: Timeline, stop: int, held_bytes: int = HELD_BYTES
) -> Iterator[Frame]:
    """The frames stop - 1, stop - 2, ... 0 of a source that can be read again.

    timeline: of at least these frames, from an earlier reading.
    """
    held = 1
    while stop > 0:
        start = max(0, stop - held)
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
