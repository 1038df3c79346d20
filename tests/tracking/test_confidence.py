"""Signs by hand, a fit that finds what it was made of, and a curve by hand."""

from dataclasses import replace

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.tracking import Tracker
from mobilevos.tracking.confidence import COEFFICIENTS, CUES, calibration, confidence, cues, fit, predict, size_of
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.result import Sight

SHAPE = (64, 96)


def square(top: int, left: int, side: int) -> np.ndarray:
    mask = np.zeros(SHAPE, np.float32)
    mask[top : top + side, left : left + side] = 1
    return mask


def annotated(mask: np.ndarray) -> list[float]:
    """How large one object is that was annotated so."""
    return [size_of(mask, Geometry.fit(*SHAPE, None))]


def sight(probability: np.ndarray) -> Sight:
    return Sight((8,), np.stack([1 - probability, probability]), Geometry.fit(*SHAPE, None))


def test_signs_by_hand() -> None:
    """A square of 8 x 8 cells (32 pixels) that was half as high where it was annotated."""
    now = 0.75 * square(16, 24, 32)
    first = square(16, 24, 32)
    first[32:] = 0
    found = dict(zip(CUES, cues(sight(now), annotated(first))[0], strict=True))
    assert found["certainty"] == pytest.approx(0.75)
    assert found["softness"] == pytest.approx(64 * 0.1875 / 8)
    assert found["change"] == pytest.approx(np.log(2))
    assert found["scatter"] == pytest.approx(np.sqrt(2 * (64 - 1) / 12) / 8)


def test_a_frame_in_which_it_was_gone_is_no_measure_of_its_size(runtime: TorchRuntime) -> None:
    frame, gone = np.zeros((*SHAPE, 3), np.uint8), square(0, 0, 0)

    def size(*masks: np.ndarray) -> float:
        tracker = Tracker(runtime, size=None)
        tracker.start(frame, (8 * masks[0]).astype(np.uint8))
        for mask in masks[1:]:
            tracker.step(frame)
            tracker.correct((8 * mask).astype(np.uint8))
        return tracker.state().group.annotated_sizes()[0]

    assert size(square(0, 0, 8), square(16, 24, 16), gone) == size(square(16, 24, 16)) == 16 * 16
    assert np.isfinite(cues(sight(0.97 * square(16, 24, 32)), annotated(gone))).all()


def test_an_object_that_is_nowhere_has_no_confidence() -> None:
    assert confidence(sight(np.zeros(SHAPE, np.float32)), annotated(square(16, 24, 32))) == {8: 0.0}


def test_a_steady_object_is_trusted_more_than_one_that_grows_and_scatters() -> None:
    steady = confidence(sight(0.97 * square(16, 24, 32)), annotated(square(16, 24, 32)))[8]
    gone = sight(0.7 * (square(0, 0, 24) + square(32, 64, 32)))
    astray = confidence(gone, annotated(square(16, 24, 8)))[8]
    assert steady > 0.7
    assert astray < steady - 0.1
    known = replace(gone, rating=np.array([0.1], np.float32))  # and the network knows it
    assert confidence(known, annotated(square(16, 24, 8)))[8] < 0.35
    assert len(COEFFICIENTS) == len(CUES) + 1


def test_a_window_is_no_growth() -> None:
    """An object that is shown twice as large, through a window, has not changed."""
    whole = Geometry.fit(*SHAPE, None)
    near = Sight((8,), np.stack([1 - square(16, 24, 32), square(16, 24, 32)]), whole.window(48, 32, 2.0))
    change = cues(near, annotated(square(24, 36, 16)))[0][CUES.index("change")]
    assert change == pytest.approx(0)


def test_the_fit_finds_what_the_numbers_were_made_of() -> None:
    rng = np.random.default_rng(0)
    found = rng.normal(size=(2000, 3)) * (1, 5, 0.2) + (0, 3, 1)
    coefficients = np.array([1.5, -0.2, 4.0, -2.0])
    truth = predict(found, coefficients)
    np.testing.assert_allclose(fit(found, truth, ridge=0), coefficients, atol=1e-6)
    found[0] = np.nan  # an object that was nowhere
    np.testing.assert_allclose(fit(found, truth, ridge=0), coefficients, atol=1e-6)
    shrunk = fit(found, truth, ridge=1.0)
    assert np.abs(shrunk[:3]).sum() < np.abs(coefficients[:3]).sum()
    with pytest.raises(InputError, match="several frames"):
        fit(found[:1], truth[:1])


def test_the_curve_by_hand() -> None:
    curve = calibration(np.array([0.1, 0.2, 0.9, 1.0]), np.array([0.0, 0.1, 1.0, 0.8]), bins=2)
    assert curve.confidence == pytest.approx((0.15, 0.95))
    assert curve.truth == pytest.approx((0.05, 0.9))
    assert curve.counts == (2, 2)
    assert curve.error == pytest.approx((2 * 0.1 + 2 * 0.05) / 4)
    with pytest.raises(InputError, match="as many confidences as overlaps"):
        calibration(np.zeros(3), np.zeros(2))
