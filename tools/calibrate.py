"""Fits the confidence of masks to clips with known masks, and says how good the fit is.

fitted = calibrate(tracker, [synthetic_frames(seed=seed) for seed in range(6)])
fitted.coefficients     # to go into tracking/confidence.py
fitted.held_out         # the calibration curve on clips that were left out of the fit
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mobilevos.arrays import Image
from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from mobilevos.tracking.confidence import Calibration, Numbers, calibration, cues, fit, predict

LabelledClip = Iterable[tuple[Image, np.ndarray]]
"""Frames (H, W, 3) with their ids (H, W), all objects in the first one."""


@dataclass(frozen=True)
class Fitted:
    """Coefficients of the confidence, and what they are worth."""

    coefficients: tuple[float, ...]
    held_out: Calibration
    """Of each clip with coefficients from all others."""
    frames: int
    """Masks it is based on, one for each object and frame."""


def calibrate(tracker: Tracker, clips: Iterable[LabelledClip]) -> Fitted:
    """Follow the objects of two or more clips from their first frame, and fit the confidence to the overlaps."""
    gathered = [gather(tracker, clip) for clip in clips]
    if len(gathered) < 2:
        raise InputError(f"expected at least two clips to calibrate on, got {len(gathered)}")
    predicted = []
    for left_out, (found, _) in enumerate(gathered):
        others = [pair for index, pair in enumerate(gathered) if index != left_out]
        predicted.append(predict(found, fit(*_joined(others))))
    found, truth = _joined(gathered)
    held_out = calibration(np.concatenate(predicted), truth)
    return Fitted(tuple(round(float(c), 3) for c in fit(found, truth)), held_out, len(truth))


def gather(tracker: Tracker, clip: LabelledClip) -> tuple[Numbers, Numbers]:
    """Signs (n, K) and overlaps with the truth (n,) of all objects in all frames in which something was found."""
    rows, overlaps = [], []
    for index, (frame, truth) in enumerate(clip):
        if index == 0:
            tracker.start(frame, truth)
            continue
        result = tracker.step(frame)
        for group, sight in zip(tracker.state().groups, result.sights, strict=True):
            for identity, row in zip(sight.ids, cues(sight, group.annotated_sizes()), strict=True):
                if identity not in sight.guests and np.isfinite(row).all():
                    mask, known = result.mask == identity, truth == identity
                    rows.append(row)
                    overlaps.append((mask & known).sum() / max(1, (mask | known).sum()))
    return np.array(rows), np.array(overlaps)


def _joined(pairs: list[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    found, truth = zip(*pairs, strict=True)
    return np.concatenate(found), np.concatenate(truth)
