"""How far a mask is to be trusted: a calibrated guess of its overlap with the truth (J, 0..1).

A network is sure of itself also where it is wrong. So its probabilities are looked at together with the form of the
mask: an object that is much larger or smaller than where it was annotated, or scattered over the frame, has probably
been lost. A logistic function of these cues gives the confidence. How the mask changed since the frame before (size,
place, overlap) was tried as well, and told nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array
from mobilevos.errors import InputError
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.result import Sight

Numbers = NDArray[np.float64]

STEP = 4
"""One pixel in so many, each way, is looked at: the network's masks are no finer."""

CUES = ("certainty", "softness", "change", "scatter", "rating")
"""What `cues` gives, in order: the mean probability inside the mask, the uncertainty per length of its outline, how
many times (as a logarithm) it is larger or smaller than where it was annotated, its spread, and the network's own
rating (as a logit)."""

MOST_RATING = 6.0
"""Logits of the rating are bounded by this."""

USUAL_RATING = 2.296
"""The logit that stands for a rating that says nothing: the mean of those that were fitted to."""

COEFFICIENTS = (3.952, -0.117, -0.022, 0.211, 0.539, -3.423)
"""For `CUES`, and the constant last: from `tools.calibrate` with the shipped mobilenetv2-lite, on nine validation clips
at 480p (all but `schoolgirls`), forwards and backwards, 2,237 masks."""


def confidence(sight: Sight, annotated: Sequence[float]) -> dict[int, float]:
    """{id: 0..1} for the objects of a window; 0 where an object is nowhere to be seen.

    annotated: how large each object was where it was annotated, in pixels of the frame.
    """
    values = predict(cues(sight, annotated), np.array(COEFFICIENTS))
    return {i: 0.0 if np.isnan(v) else float(v) for i, v in zip(sight.ids, values, strict=True)}


def cues(sight: Sight, annotated: Sequence[float]) -> Numbers:
    """(N, len(CUES)), a row for each object; not a number where the object is nowhere."""
    now = sight.probabilities[:, ::STEP, ::STEP]
    winner = now.argmax(0)
    cell = (STEP / sight.geometry.scale) ** 2
    ratings = _logits(np.full(len(sight.ids), 0.5) if sight.rating is None else sight.rating)
    rows = [(*_cues(now[c], winner == c, annotated[c - 1] / cell), ratings[c - 1]) for c in range(1, len(now))]
    return np.array(rows, np.float64).reshape(-1, len(CUES))


def size_of(mask: Array, geometry: Geometry) -> float:
    """How many pixels of the frame a mask (h, w) of the network covers."""
    return int((mask[::STEP, ::STEP] > 0.5).sum()) * (STEP / geometry.scale) ** 2


def _cues(probability: Array, inside: NDArray[np.bool_], annotated: float) -> tuple[float, ...]:
    """(h, w): the probability of an object and where it wins; annotated: how many pixels it had where it was marked."""
    y, x = np.nonzero(inside)
    area = len(y)
    if not area:
        return (np.nan,) * 4
    length = np.sqrt(area)
    return (
        float(probability[inside].mean()),
        float((probability * (1 - probability)).sum() / length),
        float(abs(np.log(area / max(annotated, 1.0)))),
        float(np.sqrt(y.var() + x.var()) / length),
    )


def _logits(rating: Array) -> Numbers:
    """Of ratings (N,), 0..1; the usual one where a network gives none, or has not learned to: that is a half."""
    known = np.nan_to_num(rating.astype(np.float64), nan=0.5)
    bounded = np.clip(known, 1e-6, 1 - 1e-6)
    logits = np.clip(np.log(bounded / (1 - bounded)), -MOST_RATING, MOST_RATING)
    return np.where(known == 0.5, USUAL_RATING, logits)


def predict(found: Numbers, coefficients: Numbers) -> Numbers:
    """Confidence (n,) of cues (n, K) with coefficients (K + 1,), the constant last."""
    return 1 / (1 + np.exp(-(found @ coefficients[:-1] + coefficients[-1])))


def fit(found: Numbers, truth: Numbers, ridge: float = 1e-2) -> Numbers:
    """Coefficients (K + 1,) that predict the overlap `truth` (n,), 0..1, from cues (n, K), by Newton's method.

    It maximises the logistic likelihood with fractions as targets; `ridge` keeps coefficients of standardised cues
    small. Rows that are not numbers (an object nowhere) are left out.
    """
    good = np.isfinite(found).all(1)
    found, truth = found[good], np.asarray(truth, np.float64)[good]
    if len(found) < 2:
        raise InputError(f"expected cues of several frames to fit, got {len(found)}")
    mean, scale = found.mean(0), np.maximum(found.std(0), 1e-9)
    x = np.column_stack([(found - mean) / scale, np.ones(len(found))])
    penalty = np.diag([ridge * len(x)] * (x.shape[1] - 1) + [0.0])
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (truth - p) - penalty @ w
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty + 1e-9 * np.eye(len(w)), gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    return np.append(w[:-1] / scale, w[-1] - (w[:-1] * mean / scale).sum())


@dataclass(frozen=True)
class Calibration:
    """What confidence meant in fact, from the least to the most confident bin; bins without frames are left out."""

    confidence: tuple[float, ...]
    """Mean in each bin."""
    truth: tuple[float, ...]
    """Mean overlap with the truth in each bin."""
    counts: tuple[int, ...]
    error: float
    """Mean distance of the two, weighted by the counts (the expected calibration error)."""


def calibration(predicted: Numbers, truth: Numbers, bins: int = 10) -> Calibration:
    """The calibration curve of confidences (n,) against overlaps (n,)."""
    predicted, truth = np.asarray(predicted, np.float64), np.asarray(truth, np.float64)
    if predicted.shape != truth.shape or predicted.ndim != 1 or not len(predicted):
        raise InputError(f"expected as many confidences as overlaps, got {predicted.shape} and {truth.shape}")
    which = np.minimum((predicted * bins).astype(int), bins - 1)
    used = [b for b in range(bins) if (which == b).any()]
    means = tuple(float(predicted[which == b].mean()) for b in used)
    truths = tuple(float(truth[which == b].mean()) for b in used)
    counts = tuple(int((which == b).sum()) for b in used)
    error = sum(n * abs(a - b) for a, b, n in zip(means, truths, counts, strict=True)) / len(predicted)
    return Calibration(means, truths, counts, error)
