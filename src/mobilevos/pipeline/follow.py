"""A tracker led through the frames by marks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mobilevos.arrays import Ids, Image
from mobilevos.media.overlay import DOUBTFUL
from mobilevos.pipeline.marks import FrameMarks, Marks, check_size
from mobilevos.pipeline.refine import Refine
from mobilevos.tracking import Tracker, TrackResult
from mobilevos.tracking.constraints import obeyed


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


@dataclass(frozen=True)
class Drawing:
    """The marked objects of a frame."""

    ids: Ids
    """(H, W)."""
    confidence: Mapping[int, float]
    """1 of what was drawn or mended by hand; what the guess is worth elsewhere."""


class Watch(Protocol):
    """Is told how confident each frame is."""

    def see(self, index: int, confidence: Mapping[int, float]) -> None: ...


class MarkFollower:
    """Starts, corrects and adds objects where they are marked, and follows them elsewhere.

    Args:
        following: whether the tracker is in the middle of its work, with a state that was restored.
        watch: what is told the confidence of each frame.
    """

    def __init__(
        self, tracker: Tracker, marks: Marks, refine: Refine, following: bool = False, watch: Watch | None = None
    ) -> None:
        self.tracker, self.marks, self.refine, self.watch = tracker, marks, refine, watch
        self.following = following
        self.frames = 0
        self.seconds = 0.0
        """In the network alone, for so many frames."""
        self.notes: list[str] = []
        """Sentences on marks that did not do what they look like."""

    def take(self, index: int, frame: Image) -> FollowedFrame:
        """The next frame (H, W, 3), whose number is `index`."""
        outcome = self._take(index, frame)
        if self.watch:
            self.watch.see(index, outcome.confidence)
        return outcome

    def _take(self, index: int, frame: Image) -> FollowedFrame:
        at = self.marks.get(index)
        if not self.following:
            if at is None or not at.shown:
                return FollowedFrame({})
            drawn = self.draw(index, at, frame)
            self.tracker.start(frame, drawn.ids)
            self.following = True
            return FollowedFrame(drawn.confidence, drawn=drawn.ids)
        began = time.perf_counter()
        result = self.tracker.step(frame)
        self.seconds += time.perf_counter() - began
        self.frames += 1
        return FollowedFrame(result.confidence, result) if at is None else self._correct(index, at, frame, result)

    def draw(self, index: int, at: FrameMarks, frame: Image, found: Ids | None = None) -> Drawing:
        """The marked objects of a frame; found: all objects as the tracker finds them, if it does.

        A known object is mended: the clicks change what they point at, and no other object. An object that is not, or
        that has a box, is made anew.
        """
        ids = np.zeros(frame.shape[:2], np.uint8) if at.mask is None else at.mask.astype(np.uint8)
        found = np.zeros_like(ids) if found is None else found
        mended = frozenset(
            i for i, p in at.prompts.items() if not p.box and (i in at.drawn or not p.on or (found == i).any())
        )
        others = np.where(np.isin(found, list(at.shown | at.gone)), np.uint8(0), found)
        ids = np.where((ids == 0) & np.isin(found, list(mended - at.drawn)), found, ids)
        confidence = dict.fromkeys(sorted(at.shown), 1.0)
        for identity, prompt in sorted(at.prompts.items()):
            known = ids == identity
            mask = known
            if identity not in mended:
                guess = self.refine(frame, prompt)
                mask, confidence[identity] = guess.mask, guess.confidence
                if guess.confidence < DOUBTFUL:
                    self.notes.append(
                        f"Object {identity} in frame {index} is a doubtful guess (confidence {guess.confidence:.2f}): "
                        "look at its mask; a box or more clicks tell more."
                    )
            ids = np.where(known, np.uint8(0), ids)
            # What is clicked as another object is not this one; where it is now, that object takes it itself.
            elsewhere = [point for i, p in at.prompts.items() if i != identity for point in p.on]
            if identity in mended:
                elsewhere = [(x, y) for x, y in elsewhere if not mask[y, x]]
            mask = obeyed(frame, mask, prompt.on, (*prompt.off, *elsewhere), np.where(ids > 0, ids, others))
            ids[mask] = identity
        check_size(ids, at.shown - (mended - at.drawn), index, self.tracker.size)
        return Drawing(ids, confidence)

    def _correct(self, index: int, at: FrameMarks, frame: Image, found: TrackResult) -> FollowedFrame:
        """The marks of a frame in which objects are followed already."""
        ids = found.mask
        drawing = self.draw(index, at, frame, ids)
        drawn = drawing.ids
        known = set(self.tracker.ids)
        spoken = at.shown | at.gone
        merged = np.where(np.isin(ids, list(spoken)), np.uint8(0), ids)
        merged = np.where(drawn > 0, drawn, merged)
        self._note(index, at, ids, merged)
        if spoken & known:
            self.tracker.correct(np.where(np.isin(merged, list(known)), merged, 0))
        new = at.shown - known
        if new:
            self.tracker.add(np.where(np.isin(merged, list(new)), merged, 0))
        return FollowedFrame({**found.confidence, **dict.fromkeys(at.gone, 1.0), **drawing.confidence}, drawn=merged)

    def _note(self, index: int, at: FrameMarks, before: Ids, after: Ids) -> None:
        """Say where a correction changed nothing, or left nothing of an object."""
        for identity in sorted(set(self.tracker.ids) - at.gone):
            was, now = before == identity, after == identity
            if identity in at.prompts and np.array_equal(was, now):
                why = "its mask agreed with them already" if now.any() else "it was not found there"
                self.notes.append(f"The marks of object {identity} in frame {index} changed nothing: {why}.")
            elif was.any() and not now.any():
                self.notes.append(
                    f"Nothing is left of object {identity} in frame {index} after the marks there: it counts as gone; "
                    "mark it again where it is to be seen."
                )
