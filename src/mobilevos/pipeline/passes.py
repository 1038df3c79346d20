"""One pass over frames: the network in front, writing behind, and snapshots to go on from after a kill."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.media.video import Frame
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.threads import WorkBehind
from mobilevos.tracking import TrackerState
from mobilevos.tracking.snapshot import load_state, save_state

SNAPSHOT = "forward.npz"
"""In the folder for resuming."""

STATES = "states"
MOST_STATES = 12
STATE_FRAMES = 25
"""Along the way states stay, so that marks can be added later: so many at most, and so many frames apart at least."""

SNAPSHOT_SECONDS = 2.0
"""Between two snapshots at least."""

SNAPSHOT_SHARE = 0.03
"""Of the time, at most, is spent on snapshots: an unbounded memory makes large ones."""

Write = Callable[[Frame, FollowedFrame | None], None]
"""Records a frame; the outcome is None for one that was recorded before the snapshot, or is damaged."""


class _Snapshots:
    """When to make one, and making it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last = time.monotonic()
        self._pause = SNAPSHOT_SECONDS

    def due(self) -> bool:
        if time.monotonic() - self._last < self._pause:
            return False
        self._last = time.monotonic()
        return True

    def save(self, state: TrackerState, frame: int) -> None:
        began = time.monotonic()
        save_state(self.path, state, frame)
        self._pause = max(SNAPSHOT_SECONDS, (time.monotonic() - began) / SNAPSHOT_SHARE)


class States:
    """States along the way, spread over all frames so far: where there would be too many, every other one goes.

    first: the number of the first frame of all.
    """

    def __init__(self, folder: Path, first: int) -> None:
        self.folder, self._first = folder, first
        self._apart = STATE_FRAMES
        folder.mkdir(parents=True, exist_ok=True)

    def due(self, frame: int) -> bool:
        """Whether the state after a frame is to stay."""
        while frame - self._first >= MOST_STATES * self._apart:
            self._apart *= 2
        return (frame - self._first) % self._apart == 0

    def save(self, state: TrackerState, frame: int) -> None:
        for path in self.folder.glob("*.npz"):
            if (int(path.stem) - self._first) % self._apart:
                path.unlink()
        save_state(self.folder / f"{frame}.npz", state, frame)


def read_state(path: Path) -> tuple[TrackerState, int] | None:
    """A state and the number of its frame; None where there is none that can be read."""
    try:
        return load_state(path) if path.exists() else None
    except (InputError, EOFError):  # the latter from numpy, for an empty file
        return None


def resume_pass(follower: MarkFollower, snapshot: Path) -> int | None:
    """Set the follower back to where a pass was interrupted; the number of the frame that was its last.

    Where that cannot be read, the pass begins anew; what is recorded stays.
    """
    found = read_state(snapshot)
    if found is None:
        return None
    state, frame = found
    follower.tracker.restore(state)
    follower.following = True
    return frame


def run_pass(
    frames: Generator[Frame, None, None],
    follower: MarkFollower,
    write: Write,
    snapshot: Path,
    depth: int,
    recorded: int | None = None,
    states: States | None = None,
) -> None:
    """Follow the objects through the frames; those up to number `recorded` are only written.

    A snapshot is the state after a frame that is recorded, so that after a kill each frame is either recorded or
    follows the snapshot. Frames that are recorded and follow it are computed again, to the same result.
    """
    snapshots = _Snapshots(snapshot)

    def finish(item: tuple[Frame, FollowedFrame | None, TrackerState | None, bool]) -> None:
        frame, outcome, state, stays = item
        write(frame, outcome)
        if state and stays and states:
            states.save(state, frame.index)
        elif state:
            snapshots.save(state, frame.index)

    with contextlib.closing(frames), WorkBehind(finish, depth) as behind:
        for frame in frames:
            known = recorded is not None and frame.index <= recorded
            if known or (frame.damaged and frame.index not in follower.marks):
                behind.put((frame, None, None, False))
                continue
            outcome = follower.take(frame.index, frame.rgb)
            stays = states is not None and follower.following and states.due(frame.index)
            state = follower.tracker.state() if stays or (follower.following and snapshots.due()) else None
            behind.put((frame, outcome, state, stays))
