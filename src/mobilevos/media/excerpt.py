"""A part of a source, from one frame to another, for long recordings. Frames keep the numbers they have in the whole.

    source = excerpt("long.mp4", "00:20:00", "00:20:30")

is read like any source. The part is found without decoding what comes before it, where the file says enough.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import av

from mobilevos.errors import InputError
from mobilevos.media.pictures import find_pictures


@dataclass(frozen=True)
class Place:
    """A frame to begin with: a key frame, its number and the time at which it was found before."""

    index: int
    time: Fraction


BEGINNING = Place(0, Fraction(0))


@dataclass(frozen=True)
class Excerpt(os.PathLike[str]):
    """A source, and which of its frames are to be read: `first` to `last`, both included."""

    path: str
    first: int
    last: int | None
    """None: up to the end."""
    place: Place = BEGINNING
    """Where reading may begin."""
    start: Fraction = Fraction(0)
    """The time of frame 0, by which it is known that frames are counted alike."""
    skip_damaged: bool = False
    """Whether reading goes on where frames are damaged: the picture before them stands in."""

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


def excerpt(
    source: str | os.PathLike[str], begin: str | None, end: str | None, rate: Fraction, skip_damaged: bool = False
) -> str | os.PathLike[str]:
    """The part of a source between two places, each the number of a frame, or a time such as 00:01:05.5 or 65.5s.

    Times count from the first frame. rate: frames a second of pictures. skip_damaged: see `Excerpt`.
    """
    name = os.fspath(source)
    if begin is None and end is None:
        return Excerpt(name, 0, None, skip_damaged=True) if skip_damaged else source
    if name == "-" or name.startswith("camera:") or "://" in name:
        raise InputError(f"cannot take a part of {name}: it can be read only once")
    pictures = find_pictures(name)
    if pictures is not None:
        times, keys = [index / rate for index in range(len(pictures))], list(range(len(pictures)))
    else:
        times, keys = _listed(name)
    first = 0 if begin is None else _number(begin, times, "--from")
    last = None if end is None else _number(end, times, "--to")
    if times and first >= len(times):
        raise InputError(f"--from {begin} is after the end of {name}, which has {len(times)} frames")
    if last is not None and last < first:
        raise InputError(f"expected --to after --from, but there is no frame from {begin} to {end}")
    at = bisect_right(keys, first) - 1
    if at < 1:
        return Excerpt(name, first, last, skip_damaged=skip_damaged)
    return Excerpt(name, first, last, Place(keys[at], times[keys[at]]), times[0], skip_damaged)


def _number(text: str, times: list[Fraction], option: str) -> int:
    """The number of a frame: the first that is not before a time, or the last that is not after it (--to)."""
    if re.fullmatch(r"[0-9]+", text):
        return int(text)
    match = re.fullmatch(r"(?:(?:([0-9]+):)?([0-9]+):)?([0-9]+(?:\.[0-9]+)?)s?", text)
    if not match:
        raise InputError(f"expected {option} the number of a frame or a time such as 00:01:05.5 or 65.5s, got {text}")
    seconds = 3600 * int(match[1] or 0) + 60 * int(match[2] or 0) + Fraction(match[3])
    moment = (times[0] if times else 0) + seconds
    return bisect_left(times, moment) if option == "--from" else bisect_right(times, moment) - 1


def _listed(name: str) -> tuple[list[Fraction], list[int]]:
    """The times of the frames of a video in order, and the numbers of its key frames; nothing is decoded."""
    try:
        with av.open(name) as container:
            if not container.streams.video:
                return [], []
            stream = container.streams.video[0]
            found: list[tuple[Any, bool]] = [
                (packet.pts, packet.is_keyframe)
                for packet in container.demux(stream)
                if packet.size and packet.pts is not None and not packet.is_discard
            ]
            tick = stream.time_base or Fraction(1)
    except (av.error.FFmpegError, OSError, ValueError):
        return [], []  # whoever reads it will say what is wrong
    found.sort()
    return [pts * tick for pts, _ in found], [index for index, (_, key) in enumerate(found) if key]
