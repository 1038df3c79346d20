"""Signs by hand, a fit that finds what it was made of, and a curve by hand."""

from dataclasses import replace

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.tracking.confidence import (
    ALONE,
    AMONG,
    CUES,
    LEAST_ALIKE,
    PROPOSED,
    USUAL_ASTRAY,
    USUAL_RATING,
    calibration,
    confidence,
    cues,
    fit,
    predict,
)
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.result import Sight

SHAPE = (64, 96)


def square(top: int, left: int, side: int) -> np.ndarray:
    mask = np.zeros(SHAPE, np.float32)
    mask[top : top + side, left : left + side] = 1
    return mask


def sight(probability: np.ndarray, alike: np.ndarray | None = None) -> Sight:
    planes = np.stack([1 - probability, probability])
    return Sight((8,), planes, Geometry.fit(*SHAPE, None), alike=None if alike is None else alike[None])


def test_cues_by_hand() -> None:
    """A square of 8 x 8 places (32 pixels), over one of the 2 x 3 cells that are compared."""
    alike = np.array([[0.0, 0.3, 0.1], [0.0, 0.2, 0.2]], np.float32)
    found = dict(zip(CUES, cues(sight(0.75 * square(0, 24, 32), alike))[0], strict=True))
    assert found["softness"] == pytest.approx(64 * 0.1875 / 8)
    assert found["astray"] == pytest.approx(1 - 0.3 / 0.8)
    assert found["rating"] == USUAL_RATING
    rated = replace(sight(0.75 * square(0, 24, 32)), rating=np.array([0.75], np.float32))
    found = dict(zip(CUES, cues(rated)[0], strict=True))
    assert found["rating"] == pytest.approx(np.log(3))
    assert found["astray"] == USUAL_ASTRAY


def test_where_nothing_looks_like_the_object_that_tells_nothing() -> None:
    nothing = np.full((2, 3), LEAST_ALIKE / 10, np.float32)
    assert cues(sight(square(0, 24, 32), nothing))[0][CUES.index("astray")] == USUAL_ASTRAY


def test_an_object_that_is_nowhere_has_no_confidence() -> None:
    assert confidence(sight(np.zeros(SHAPE, np.float32))) == {8: 0.0}


def test_a_mask_is_trusted_less_where_the_object_seems_to_be_elsewhere() -> None:
    mask = 0.97 * square(0, 0, 32)
    there, elsewhere = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    there[0, 0], elsewhere[1, 2] = 1, 1
    steady, astray = (confidence(sight(mask, alike))[8] for alike in (there, elsewhere))
    assert steady > 0.85
    assert astray < steady - 0.1


def test_among_several_a_mask_is_trusted_less_where_it_looks_like_another() -> None:
    planes = np.stack([square(0, 0, 0), 0.97 * square(0, 0, 32), 0.97 * square(32, 64, 32)])
    planes[0] = 1 - planes.sum(0)
    looks = np.zeros((2, 2, 3), np.float32)
    looks[0, 0, 0], looks[1, 1, 2] = 1, 1
    both = Sight((3, 5), planes, Geometry.fit(*SHAPE, None), np.array([0.9, 0.9], np.float32), looks)
    right, swapped = confidence(both), confidence(replace(both, alike=looks[::-1]))
    assert list(right) == [3, 5]
    assert dict(zip(CUES, cues(both)[0], strict=True))["confused"] == 0
    assert dict(zip(CUES, cues(replace(both, alike=looks[::-1]))[0], strict=True))["confused"] == 1
    assert [value.alike for value in right.values()] == [0, 0]
    assert {identity: value.alike for identity, value in swapped.items()} == dict(
        zip(both.ids, both.ids[::-1], strict=True)
    )
    assert min(right.values()) > 0.8
    assert max(swapped.values()) < min(right.values()) - 0.15
    doubted = confidence(replace(both, rating=np.array([0.9, 0.3], np.float32)))
    assert doubted[3] == right[3]
    assert doubted[5] < right[5] - 0.2


def test_a_mask_from_marks_is_worth_what_the_network_says_of_it() -> None:
    made = replace(sight(square(0, 24, 32)), rating=np.array([0.9], np.float32))
    worse = replace(made, rating=np.array([0.4], np.float32))
    expected = 1 / (1 + np.exp(-(PROPOSED["rating"] * np.log(9) + PROPOSED["constant"])))
    assert confidence(made)[8] == pytest.approx(expected, abs=1e-6)
    assert confidence(worse)[8] < confidence(made)[8]


def test_coefficients_are_of_cues_with_the_constant_last() -> None:
    for table in (ALONE, AMONG):
        assert set(table) < {*CUES, "constant"}
        assert list(table)[-1] == "constant"


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
