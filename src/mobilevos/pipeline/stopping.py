"""Following that stops by itself where an object is lost, and goes on when more has been marked.

What was followed is finished, with its videos; the record, and a state from before the object was lost, stay for
resuming, also with other marks: see `pipeline.revision`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from mobilevos.errors import InputError
from mobilevos.media.video import Frame
from mobilevos.pipeline.follow import MarkFollower
from mobilevos.pipeline.marks import Marks, first_marks
from mobilevos.pipeline.record import rounded
from mobilevos.tracking import TrackerState

LOST_FRAMES = 10
"""After so many frames in a row without an object the command stops, if it is told to."""


@dataclass(frozen=True)
class Lost:
    """Why following stopped."""

    identity: int
    first: int
    """The first frame in which the object was not found."""
    last: int
    """The frame after which following stopped."""

    def __str__(self) -> str:
        return (
            f"Stopped after frame {self.last}: object {self.identity} is lost since frame {self.first}. Mark it there, "
            f"or say that it has left (--gone {self.first}={self.identity}), and go on with --resume."
        )


class LostWatch:
    """Counts for how long objects have been lost; those that are said to be gone do not count."""

    def __init__(self, frames: int, marks: Marks) -> None:
        if frames < 1:
            raise InputError(f"expected to stop after 1 or more frames without an object, got {frames}")
        self.frames, self.marks, self.first = frames, marks, first_marks(marks)
        self.since: dict[int, int] = {}
        """For objects that are lost now: since which frame."""
        self.lost: Lost | None = None
        self.good: tuple[TrackerState, int] | None = None
        """The state after the last frame in which nothing was lost, and its number."""
        self._gone: frozenset[int] = frozenset()

    def see(self, index: int, confidence: Mapping[int, float]) -> None:
        """The next frame, with the confidence of the objects in it; 0 is lost."""
        at = self.marks.get(index)
        if at is not None:
            self._gone = (self._gone | at.gone) - at.shown
        for identity, value in rounded(confidence).items():
            found = value > 0 and not (at is not None and identity in at.gone)
            if found:
                self._gone -= {identity}
            if found or identity in self._gone or index < self.first[identity]:
                self.since.pop(identity, None)
                continue
            first = self.since.setdefault(identity, index)
            if index - first + 1 >= self.frames and self.lost is None:
                self.lost = Lost(identity, first, index)


def until_lost(
    frames: Generator[Frame, None, None], follower: MarkFollower, watch: LostWatch, recorded: int | None
) -> Generator[Frame, None, None]:
    """The frames up to that in which an object has been lost for too long; recorded: the last that is not followed."""
    with contextlib.closing(frames):
        for frame in frames:
            yield frame  # it has been followed when the next one is asked for
            if watch.lost and frame.index >= watch.lost.last:
                return
            if follower.following and not watch.since and (recorded is None or frame.index >= recorded):
                watch.good = follower.tracker.state(), frame.index
