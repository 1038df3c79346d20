"""A tracker led through the frames by marks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mobilevos.arrays import Ids, Image
from mobilevos.pipeline.marks import FrameMarks, Marks, check_size
from mobilevos.pipeline.refine import Refine
from mobilevos.tracking import Tracker, TrackResult


@dataclass(frozen=True)
class FollowedFrame:
    """The objects in one frame."""

    confidence: Mapping[int, float]
    result: TrackResult | None = None
    drawn: Ids | None = None
    """(H, W), where the frame was marked."""

    def mask(self, frame: Image) -> Ids:
        """The ids (H, W). The costly part, which need not be done where the network runs."""
        if self.drawn is not None:
            return self.drawn
        if self.result is None:
            return np.zeros(frame.shape[:2], np.uint8)
        return self.result.mask


class MarkFollower:
    """Starts, corrects and adds objects where they are marked, and follows them elsewhere.

    Args:
        following: whether the tracker is in the middle of its work, with a state that was restored.
    """

    def __init__(self, tracker: Tracker, marks: Marks, refine: Refine, following: bool = False) -> None:
        self.tracker, self.marks, self.refine = tracker, marks, refine
        self.following = following
        self.frames = 0
        self.seconds = 0.0
        """In the network alone, for so many frames."""

    def take(self, index: int, frame: Image) -> FollowedFrame:
        """The next frame (H, W, 3), whose number is `index`."""
        at = self.marks.get(index)
        if not self.following:
            if at is None or not at.shown:
                return FollowedFrame({})
            drawn = self.draw(index, at, frame)
            self.tracker.start(frame, drawn)
            self.following = True
            return FollowedFrame(dict.fromkeys(self.tracker.ids, 1.0), drawn=drawn)
        began = time.perf_counter()
        result = self.tracker.step(frame)
        self.seconds += time.perf_counter() - began
        self.frames += 1
        return FollowedFrame(result.confidence, result) if at is None else self._correct(index, at, frame, result)

    def draw(self, index: int, at: FrameMarks, frame: Image, found: Ids | None = None) -> Ids:
        """The marked objects of a frame as ids (H, W); found: all objects as the tracker finds them, if it does."""
        ids = np.zeros(frame.shape[:2], np.uint8) if at.mask is None else at.mask.astype(np.uint8)
        for identity, prompt in sorted(at.prompts.items()):
            known = ids if identity in at.drawn else found
            before = None if known is None or not (known == identity).any() else known == identity
            mask = self.refine(frame, prompt, before)
            ids = np.where(ids == identity, np.uint8(0), ids)
            ids[mask] = identity
        check_size(ids, at.shown, index, self.tracker.size)
        return ids

    def _correct(self, index: int, at: FrameMarks, frame: Image, found: TrackResult) -> FollowedFrame:
        """The marks of a frame in which objects are followed already."""
        ids = found.mask
        drawn = self.draw(index, at, frame, ids)
        known = set(self.tracker.ids)
        spoken = at.shown | at.gone
        merged = np.where(np.isin(ids, list(spoken)), np.uint8(0), ids)
        merged = np.where(drawn > 0, drawn, merged)
        if spoken & known:
            self.tracker.correct(np.where(np.isin(merged, list(known)), merged, 0))
        new = at.shown - known
        if new:
            self.tracker.add(np.where(np.isin(merged, list(new)), merged, 0))
        return FollowedFrame({**found.confidence, **dict.fromkeys(spoken, 1.0)}, drawn=merged)
