"""One pass over frames: the network in front, writing behind, and snapshots to go on from after a kill."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from pathlib import Path

from mobilevos.media.video import Frame
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.threads import WorkBehind
from mobilevos.tracking import TrackerState
from mobilevos.tracking.snapshot import load_state, save_state

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


def resume_pass(follower: MarkFollower, snapshot: Path) -> int | None:
    """Set the follower back to where a pass was interrupted; the number of the frame that was its last."""
    if not snapshot.exists():
        return None
    state, frame = load_state(snapshot)
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
) -> None:
    """Follow the objects through the frames; those up to number `recorded` are only written.

    A snapshot is the state after a frame that is recorded, so that after a kill each frame is either recorded or
    follows the snapshot. Frames that are recorded and follow it are computed again, to the same result.
    """
    snapshots = _Snapshots(snapshot)

    def finish(item: tuple[Frame, FollowedFrame | None, TrackerState | None]) -> None:
        frame, outcome, state = item
        write(frame, outcome)
        if state:
            snapshots.save(state, frame.index)

    with contextlib.closing(frames), WorkBehind(finish, depth) as behind:
        for frame in frames:
            known = recorded is not None and frame.index <= recorded
            if known or (frame.damaged and frame.index not in follower.marks):
                behind.put((frame, None, None))
                continue
            outcome = follower.take(frame.index, frame.rgb)
            state = follower.tracker.state() if follower.following and snapshots.due() else None
            behind.put((frame, outcome, state))
