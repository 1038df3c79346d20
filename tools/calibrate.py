"""Fits the confidence of masks to clips with known masks, and says how good the fit is.

python -m tools.calibrate mobilenetv2-lite DATA/clips-480p bmx-bumps dance-jump ...

fitted = calibrate(tracker, [synthetic_frames(seed=seed) for seed in range(6)])
fitted.coefficients     # to go into tracking/confidence.py
fitted.held_out         # the calibration curve on clips that were left out of the fit
fitted.alarm            # how well bad masks are told there
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mobilevos.arrays import VOID, Image
from mobilevos.datasets.davis import davis_videos
from mobilevos.datasets.video import Video
from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from mobilevos.tracking.confidence import ALONE, AMONG, CUES, Calibration, Numbers, calibration, cues, fit, predict

LabelledClip = Iterable[tuple[Image, np.ndarray]]
"""Frames (H, W, 3) with their ids (H, W), all objects in the first one."""


BAD = 0.7
"""Masks that overlap less with the truth should raise an alarm."""
FALSE_ALARMS = 0.03
"""Of the good masks that may raise one."""
MOSTLY_VOID = 0.3
"""Frames with a larger share of void pixels tell nothing."""


@dataclass(frozen=True)
class AlarmScore:
    """How well a confidence tells bad masks from good ones."""

    auroc: float
    """The chance that a bad mask has less confidence than a good one."""
    caught: float
    """Of the bad masks, at so many false alarms as are allowed."""
    bad: int
    good: int


@dataclass(frozen=True)
class Fitted:
    """Coefficients of the confidence, and what they are worth."""

    coefficients: tuple[float, ...]
    held_out: Calibration
    """Of each clip with coefficients from all others."""
    alarm: AlarmScore
    """Of the same."""
    frames: int
    """Masks it is based on, one for each object and frame."""


def calibrate(tracker: Tracker, clips: Iterable[LabelledClip], names: Sequence[str] = tuple(ALONE)[:-1]) -> Fitted:
    """Follow the objects of two or more clips from their first frame, and fit the confidence to the overlaps.

    names: the cues that are used.
    """
    return fitted_to([gather(tracker, clip) for clip in clips], names)


def fitted_to(gathered: list[tuple[Numbers, Numbers]], names: Sequence[str]) -> Fitted:
    """The fit of some cues to what `gather` gave of each clip."""
    columns = [CUES.index(name) for name in names]
    gathered = [(found[:, columns], truth) for found, truth in gathered]
    if len(gathered) < 2:
        raise InputError(f"expected at least two clips to calibrate on, got {len(gathered)}")
    predicted = []
    for left_out, (found, _) in enumerate(gathered):
        others = [pair for index, pair in enumerate(gathered) if index != left_out]
        predicted.append(predict(found, fit(*_joined(others))))
    found, truth = _joined(gathered)
    told = np.concatenate(predicted)
    coefficients = tuple(round(float(c), 3) for c in fit(found, truth))
    return Fitted(coefficients, calibration(told, truth), alarm_score(told, truth), len(truth))


def alarm_score(predicted: Numbers, truth: Numbers) -> AlarmScore:
    """Of confidences (n,) of masks with overlaps (n,); not a number without bad or without good masks."""
    bad, good = np.sort(predicted[truth < BAD]), np.sort(predicted[truth >= BAD])
    if not len(bad) or not len(good):
        return AlarmScore(float("nan"), float("nan"), len(bad), len(good))
    below = np.searchsorted(good, bad, "right") + np.searchsorted(good, bad, "left")  # ties count half
    auroc = 1 - below.mean() / (2 * len(good))
    limit = good[int(FALSE_ALARMS * len(good))]
    return AlarmScore(float(auroc), float((bad < limit).mean()), len(bad), len(good))


def gather(tracker: Tracker, clip: LabelledClip) -> tuple[Numbers, Numbers]:
    """Signs (n, K) and overlaps with the truth (n,) of all objects in all frames in which something was found."""
    rows, overlaps = [], []
    for index, (frame, truth) in enumerate(clip):
        known = truth != VOID
        if index == 0:
            tracker.start(frame, np.where(known, truth, 0))
            continue
        result = tracker.step(frame)
        if known.mean() < 1 - MOSTLY_VOID:
            continue
        sight = result.sight
        for identity, row in zip(sight.ids, cues(sight), strict=True):
            if np.isfinite(row).all():
                mask, object_ = (result.mask == identity) & known, truth == identity
                rows.append(row)
                overlaps.append((mask & object_).sum() / max(1, (mask | object_).sum()))
    return np.array(rows), np.array(overlaps)


def _joined(pairs: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    found, truth = zip(*pairs, strict=True)
    return np.concatenate(found), np.concatenate(truth)


def both_ways(video: Video) -> Iterator[LabelledClip]:
    """A clip forwards and backwards."""
    for frames in (list(video.truths), list(video.truths)[::-1]):
        yield ((video.picture(frame), video.labels(frame)) for frame in frames)


if __name__ == "__main__":
    import typer

    def main(model: str, root: Path, clips: list[str], runtime: str = "auto") -> None:
        tracker = Tracker.load(model, runtime)
        gathered: dict[bool, list[tuple[Numbers, Numbers]]] = {True: [], False: []}
        for video in davis_videos(root, clips):
            alone = len(set(np.unique(video.labels(next(iter(video.truths))))) - {0, VOID}) == 1
            gathered[alone].append(_joined([gather(tracker, way) for way in both_ways(video)]))
        usual = np.concatenate([found for group in gathered.values() for found, _ in group]).mean(0)
        print(f"usual: {dict(zip(CUES, usual.round(3).tolist(), strict=True))}")
        for table, group in ((ALONE, gathered[True]), (AMONG, gathered[False])):
            if len(group) > 1:
                fitted = fitted_to(group, tuple(table)[:-1])
                print(f"{dict(zip(table, fitted.coefficients, strict=True))} from {fitted.frames} masks")
                print(f"left out: mean error {fitted.held_out.error:.3f}, {fitted.alarm}")

    typer.run(main)
