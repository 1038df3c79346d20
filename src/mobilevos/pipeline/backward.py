"""Objects that are marked first in the middle, followed back to the start.

One sweep from the last of these marks to the first frame that needs it, in which each object joins where it is marked
first. What comes of it is kept beside the output until the pass forwards has used it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping

import numpy as np

from mobilevos.errors import InputError
from mobilevos.media.backwards import Timeline, read_backwards
from mobilevos.media.video import Frame, open_source
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.pipeline.marks import FrameMarks, Marks
from mobilevos.pipeline.passes import resume_pass, run_pass
from mobilevos.pipeline.record import Record, rounded
from mobilevos.pipeline.refine import Refine
from mobilevos.pipeline.revision import Revision
from mobilevos.threads import read_ahead
from mobilevos.tracking import Tracker

SNAPSHOT = "backward.npz"
DONE = "backward.done"
DEPTH = 2
"""Frames that wait to be computed or written, besides those that reading backwards holds."""


class Backward:
    """The masks of objects before their first mark."""

    def __init__(self, record: Record, late: Mapping[int, int], revision: Revision | None = None) -> None:
        """revision: where this adds to an earlier run, whose frames have the other objects already."""
        self.record, self.late, self.revision = record, late, revision

    def merge(
        self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float], marks: Marks
    ) -> tuple[np.ndarray, dict[int, float]]:
        """Ids (H, W) and confidence of a frame with the objects that are marked later.

        Where two objects claim a pixel, the one with the nearer mark has it.
        """
        late = dict(self.late)
        if self.revision and frame.index < self.revision.begin:
            late = {identity: first for identity, first in late.items() if identity in self.revision.anew}
        if frame.index >= max(late.values(), default=-1):
            return ids, dict(confidence)
        stored = self.record.stored(frame)
        if stored is None:
            raise InputError(f"cannot resume: the backward mask of frame {frame.index} is missing; force to begin anew")
        claimed = np.where(np.isin(stored.ids, list(late)), stored.ids, np.uint8(0))
        trusted = {identity: value for identity, value in stored.confidence.items() if identity in late}
        distance = np.full(256, np.iinfo(np.int32).max, np.int32)
        for identity, first in late.items():
            if first > frame.index:
                distance[identity] = first - frame.index
        for index, at in sorted(marks.items()):
            if index <= frame.index:
                distance[list(at.shown)] = frame.index - index
        later = (claimed > 0) & ((ids == 0) | (distance[claimed] < distance[ids]))
        return np.where(later, claimed, ids), {**confidence, **trusted}


def sweep_back(
    tracker: Tracker,
    source: str | os.PathLike[str],
    marks: Marks,
    late: Mapping[int, int],
    refine: Refine,
    record: Record,
    until: int,
    tell: Callable[[int], None],
) -> tuple[int, float]:
    """Follow the objects of `late`, {object: frame of its first mark}, back to frame `until`; goes on after a kill.

    record: for what comes of it; what is needed to go on lies beside it.
    Returns how many frames went through the network, and in how many seconds.
    """
    folder = record.folder.parent
    if (folder / DONE).exists():
        return 0, 0.0
    timeline, drawn = _scan(tracker, source, marks, late, refine)
    follower = MarkFollower(tracker, drawn, refine)
    at = resume_pass(follower, folder / SNAPSHOT)
    done = 0

    def write(frame: Frame, outcome: FollowedFrame | None) -> None:
        nonlocal done
        if outcome is not None and not record.has(frame):
            early = [identity for identity, first in late.items() if first > frame.index]
            ids = outcome.mask(frame.rgb)
            ids = np.where(np.isin(ids, early), ids, np.uint8(0))
            record.store(frame, ids, rounded({i: v for i, v in outcome.confidence.items() if i in early}))
        done += 1
        tell(done)

    frames = read_backwards(source, timeline, timeline.stop if at is None else at)
    needed = itertools.takewhile(lambda frame: frame.index >= until, frames)
    run_pass(read_ahead(needed, DEPTH), follower, write, folder / SNAPSHOT, DEPTH)
    (folder / DONE).touch()
    return follower.frames, follower.seconds


def _scan(
    tracker: Tracker, source: str | os.PathLike[str], marks: Marks, late: Mapping[int, int], refine: Refine
) -> tuple[Timeline, dict[int, FrameMarks]]:
    """Read up to the last of the first marks: the times of frames, and the objects that join, as masks."""
    timeline, drawn = Timeline(), {}
    last = max(late.values())
    artist = MarkFollower(tracker, {}, refine)
    with open_source(source) as opened:
        for frame in opened:
            timeline.add(frame)
            joining = frozenset(identity for identity, first in late.items() if first == frame.index)
            if joining:
                drawing = artist.draw(frame.index, marks[frame.index].only(joining), frame.rgb)
                drawn[frame.index] = FrameMarks(drawing.ids)
            if frame.index == last:
                return timeline, drawn
    raise InputError(f"frame {last} is marked, but {source} has {timeline.stop} frames only")
