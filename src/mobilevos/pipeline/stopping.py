"""Following that stops by itself where an object is lost, and goes on when more has been marked.

What was followed is finished, with its videos; the record, a state from before the object was lost, and a note of the
marks stay for resuming. With other marks, what depends on them is forgotten then, and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.video import Frame
from mobilevos.pipeline.completion import difference
from mobilevos.pipeline.follow import MarkFollower
from mobilevos.pipeline.marks import Marks, digest, first_marks
from mobilevos.pipeline.output import CONFIDENCE, RESUME, SETTINGS, record_of
from mobilevos.pipeline.record import forget_rows, rounded
from mobilevos.tracking import TrackerState
from mobilevos.tracking.snapshot import load_state

LOST_FRAMES = 10
"""After so many frames in a row without an object the command stops, if it is told to."""

NOTE = "stopped.json"
"""In the folder for resuming."""

SNAPSHOT = "forward.npz"


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


def leave_stop_note(folder: Path, marks: Marks, begin: int, names: Sequence[str]) -> None:
    """folder: for resuming; names: of the frames that are recorded, in order, from number `begin` on."""
    content = {
        "marks": {str(frame): digest({frame: at}) for frame, at in sorted(marks.items())},
        "first": {str(identity): frame for identity, frame in sorted(first_marks(marks).items())},
        "begin": begin,
        "names": list(names),
    }
    with replacing(folder / NOTE) as part:
        part.write_text(json.dumps(content), encoding="utf-8")


def reopen(folder: str | os.PathLike[str], formats: Sequence[str], settings: Mapping[str, str], marks: Marks) -> bool:
    """Forget what other marks change of a run that stopped by itself, so that it can be resumed with them.

    Frames before the first mark that differs stay. Whether all has to begin anew is returned: where an object is new,
    or marked otherwise in its first frame, it is followed back through all that is there.
    """
    resume = Path(folder) / RESUME
    try:
        note = json.loads((resume / NOTE).read_text(encoding="utf-8"))
        before = json.loads((resume / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if before.get("marks") == settings["marks"]:
        return False
    differs = difference({**before, "marks": ""}, {**settings, "marks": ""})
    if differs:
        raise InputError(f"cannot resume in {folder}: {differs}")
    old = {int(frame): text for frame, text in note["marks"].items()}
    new = {frame: digest({frame: at}) for frame, at in marks.items()}
    differing = {frame for frame in old.keys() | new.keys() if old.get(frame) != new.get(frame)}
    first = {int(identity): frame for identity, frame in note["first"].items()}
    if first != first_marks(marks) or differing & set(first.values()):
        return True
    begin, kept = min(differing), min(differing) - note["begin"]
    if (resume / SNAPSHOT).exists() and load_state(resume / SNAPSHOT)[1] >= begin:
        (resume / SNAPSHOT).unlink()
    for name in note["names"][kept:]:
        (record_of(folder, formats, int(settings.get("smooth", 0))) / f"{name}.png").unlink(missing_ok=True)
    forget_rows(Path(folder) / CONFIDENCE, begin)
    with replacing(resume / SETTINGS) as part:
        part.write_text(json.dumps(dict(settings), indent=2), encoding="utf-8")
    leave_stop_note(resume, marks, note["begin"], note["names"][:kept])
    return False
