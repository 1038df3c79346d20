"""How far a mask is to be trusted: a calibrated guess of its overlap with the truth (J, 0..1).

A network is sure of itself also where it is wrong. So its probabilities are looked at together with what looks like the
object as it was annotated (`recall`), and with its own rating of the mask. Where one object is followed, and much of
what looks like it is outside of its mask, so is the object, probably. Where several are, they are what it is confused
with: there it tells whether what is inside of the mask looks like another one. A logistic function of these cues gives
the confidence. The mask's size, its spread, its mean probability, its colours, and how it changed since the frame
before were tried as well, and told nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mobilevos.arrays import Array, Bits
from mobilevos.errors import InputError
from mobilevos.tracking.geometry import STRIDE
from mobilevos.tracking.recall import EVERY
from mobilevos.tracking.result import Confidence, Sight

Numbers = NDArray[np.float64]

STEP = 4
"""One pixel in so many, each way, is looked at: the network's masks are no finer."""

CUES = ("softness", "astray", "rating", "confused")
"""What `cues` gives, in order: the uncertainty per length of the mask's outline, the share of what looks like the
object that is outside of the mask, the network's own rating (as a logit), and how much what is inside of the mask looks
like the other objects."""

LEAST_ALIKE = 0.05
"""Cells; where less than this looks like the object, that tells nothing."""

MOST_RATING = 6.0
"""Logits of the rating are bounded by this."""

USUAL_RATING = 1.969
"""The logit that stands for a rating that says nothing: the mean of those that were fitted to."""

USUAL_ASTRAY = 0.597
"""The share that stands for one that says nothing, because nothing looks like the object: the mean of the same."""

ALONE = {"softness": -0.016, "astray": -0.838, "rating": 0.525, "constant": 0.94}
"""Coefficients where one object is followed: from `tools.calibrate` with the shipped mobilenetv2-lite on the six
validation clips of one object at 480p, forwards and backwards, 832 masks."""

AMONG = {"rating": 1.197, "confused": -0.932, "constant": -1.148}
"""The same where several are: on `dogs-jump`, `schoolgirls`, `gold-fish` and `walking`, 2,414 masks."""

PROPOSED = {"rating": 1.048, "constant": -0.443}
"""The same where masks were made from clicks and boxes: on 405 of them in the ten clips, with the weights of mobile-d.
Nothing was annotated before them that anything could look like; what is left is the network's rating (0.85 of the pairs
of a bad and a good mask are told right, on clips left out of the fit)."""


def confidence(sight: Sight) -> dict[int, Confidence]:
    """{id: 0..1} for the objects of a window; 0 where an object is nowhere to be seen."""
    table = PROPOSED if sight.alike is None else ALONE if len(sight.ids) == 1 else AMONG
    found = cues(sight)[:, [CUES.index(name) for name in table if name != "constant"]]
    values = predict(found, np.array(list(table.values())))
    others = look_alikes(sight)
    return {i: Confidence(0.0 if np.isnan(v) else v, others.get(i, 0)) for i, v in zip(sight.ids, values, strict=True)}


def look_alikes(sight: Sight) -> dict[int, int]:
    """{id: id of another object} where what is inside of a mask looks more like another object than like its own.

    Of the doubtful masks of four clips of several objects (174) those it names lie outside of their object in 63%, the
    others in 24%.
    """
    if sight.alike is None or len(sight.ids) < 2:
        return {}
    winner = sight.probabilities[:, ::STEP, ::STEP].argmax(0)
    found = {}
    for number, identity in enumerate(sight.ids):
        covered = _covered(winner == number + 1)
        if covered.sum() >= LEAST_ALIKE:
            most = int((sight.alike * covered).sum((1, 2)).argmax())
            if most != number:
                found[identity] = sight.ids[most]
    return found


def cues(sight: Sight) -> Numbers:
    """(N, len(CUES)), a row for each object; not a number where the object is nowhere."""
    now = sight.probabilities[:, ::STEP, ::STEP]
    winner = now.argmax(0)
    ratings = _logits(np.full(len(sight.ids), 0.5) if sight.rating is None else sight.rating)
    rows = []
    for number, probability in enumerate(now[1:]):
        inside = winner == number + 1
        area = int(np.count_nonzero(inside))
        if not area:
            rows.append((np.nan,) * len(CUES))
            continue
        softness = float((probability * (1 - probability)).sum() / np.sqrt(area))
        astray, confused = (USUAL_ASTRAY, 0.0) if sight.alike is None else _likeness(sight.alike, number, inside)
        rows.append((softness, astray, ratings[number], confused))
    return np.array(rows, np.float64).reshape(-1, len(CUES))


def _likeness(alike: Array, number: int, inside: Bits) -> tuple[float, float]:
    """astray and confused, of an object by what looks like each and by its mask (h / STEP, w / STEP)."""
    covered = _covered(inside)
    own, total, area = alike[number], float(alike[number].sum()), float(covered.sum())
    astray = USUAL_ASTRAY if total < LEAST_ALIKE else float(1 - (own * covered).sum() / total)
    confused = 0.0 if area < LEAST_ALIKE else float(((alike.sum(0) - own) * covered).sum() / area)
    return astray, confused


def _covered(inside: Bits) -> Numbers:
    """How much of the cells that were compared a mask (h / STEP, w / STEP) covers."""
    size = STRIDE // STEP
    height, width = inside.shape
    return inside.reshape(height // size, size, width // size, size).mean((1, 3))[::EVERY, ::EVERY]


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
