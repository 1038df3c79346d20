"""The whole thing on a clip that it makes itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from mobilevos.evaluation.davis import score_sequence, summarise
from mobilevos.media.video import Frame, VideoInfo
from mobilevos.pipeline.output import Output
from mobilevos.synthetic.clip import synthetic_frames
from mobilevos.tracking import Tracker

RATE = 24


@dataclass(frozen=True)
class DemoResult:
    """How the demo went."""

    folder: Path
    frames: int
    objects: int
    j: float
    f: float

    @property
    def j_and_f(self) -> float:
        return (self.j + self.f) / 2


def run_demo(
    tracker: Tracker,
    folder: Path,
    *,
    frames: int = 60,
    height: int = 480,
    width: int = 854,
    objects: int = 3,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[int], None] = lambda frame: None,
) -> DemoResult:
    """Make a clip with exact ground truth, follow its objects from the first mask, and score the result.

    Leaves `overlay.mp4`, `masks/` and a contact sheet in `folder`. `progress` is called with the number of each
    finished frame.
    """
    info = VideoInfo(width, height, Fraction(RATE), Fraction(1, RATE), frames, Fraction(frames, RATE))
    predictions, truths = [], []
    clip = synthetic_frames(frames=frames, height=height, width=width, objects=objects, seed=seed)
    with Output(folder, ["masks", "overlay", "sheet"], info, force=force) as output:
        for index, (image, truth) in enumerate(clip):
            result = tracker.start(image, truth) if index == 0 else tracker.step(image)
            frame = Frame(index, Fraction(index, RATE), image, f"{index:05d}")
            output.write(frame, result.mask, result.confidence)
            predictions.append(result.mask)
            truths.append(truth)
            progress(index + 1)
    scores = summarise([score_sequence(np.stack(predictions), np.stack(truths), "demo")])
    return DemoResult(folder, frames, objects, scores["J-Mean"], scores["F-Mean"])
