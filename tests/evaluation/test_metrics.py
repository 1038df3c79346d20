"""J and F against values worked out by hand from their definition, against a slow oracle, and by their properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import boundary_f, boundary_map, boundary_radius, jaccard, jaccard_and_f, statistics

SIDE = 100  # frames of 100 x 100: the diagonal is 141.4, the radius of the boundary match 2


def square(top: int, left: int, side: int = 10, frame: tuple[int, int] = (SIDE, SIDE)) -> np.ndarray:
    mask = np.zeros(frame, bool)
    mask[top : top + side, left : left + side] = True
    return mask


EMPTY, FULL = np.zeros((SIDE, SIDE), bool), np.ones((SIDE, SIDE), bool)


def test_radius_is_the_share_of_the_diagonal_rounded_up() -> None:
    assert boundary_radius(480, 854) == 8  # 0.008 * 979.7 = 7.84
    assert boundary_radius(SIDE, SIDE) == 2  # 1.13
    assert boundary_radius(1, 1) == 1


@pytest.mark.parametrize(
    ("pred", "truth", "j", "f"),
    [
        pytest.param(square(40, 40), square(40, 40), 1, 1, id="the same"),
        # The boundary of a 10 x 10 square is a ring of 11 x 11 less 9 x 9 pixels, 40. Shifted by 2 all are within 2.
        pytest.param(square(40, 42), square(40, 40), 80 / 120, 1, id="shifted by the radius"),
        # Shifted by 3: of the top and the bottom 10 of 11 match, of the leading side the 2 pixels next to either
        # corner, of the trailing side none: 24 of 40, from both.
        pytest.param(square(40, 43), square(40, 40), 70 / 130, 0.6, id="shifted by more than the radius"),
        pytest.param(square(43, 40), square(40, 40), 70 / 130, 0.6, id="shifted downwards"),
        pytest.param(square(40, 70), square(40, 40), 0, 0, id="apart"),
        pytest.param(EMPTY, EMPTY, 1, 1, id="empty against empty"),
        # the frame's edge is no boundary, so both have none
        pytest.param(EMPTY, FULL, 0, 1, id="empty against full"),
        pytest.param(FULL, FULL, 1, 1, id="full against full"),
        pytest.param(EMPTY, square(40, 40), 0, 0, id="nothing found"),
        pytest.param(square(40, 40), FULL, 0.01, 0, id="a square against full"),
        # a pixel's boundary is the 2 x 2 block that ends at it
        pytest.param(square(10, 10, 1), square(10, 10, 1), 1, 1, id="one pixel"),
        pytest.param(square(10, 11, 1), square(10, 10, 1), 0, 1, id="one pixel, next to it"),
        pytest.param(square(10, 13, 1), square(10, 10, 1), 0, 0.5, id="one pixel, 3 beside"),
        pytest.param(square(10, 14, 1), square(10, 10, 1), 0, 0, id="one pixel, 4 beside"),
        # diagonally 2 and 2 away: the squared distance 8 is beyond 4, but the corners of the blocks are (1, 1) away
        pytest.param(square(12, 12, 1), square(10, 10, 1), 0, 0.25, id="one pixel, diagonally"),
        pytest.param(square(0, 0, 1), square(0, 0, 1), 1, 1, id="one pixel in the corner"),
        # in the corner of the frame only two sides are boundaries, of 39 and 43 pixels; the 3 around the larger one's
        # corner are further than 2 from the smaller one: precision 1, recall 40/43
        pytest.param(square(0, 0, 20), square(0, 0, 22), 400 / 484, 80 / 83, id="in the frame's corner"),
    ],
)
def test_hand_made(pred: np.ndarray, truth: np.ndarray, j: float, f: float) -> None:
    assert jaccard(pred, truth) == pytest.approx(j, abs=1e-12)
    assert boundary_f(pred, truth) == pytest.approx(f, abs=1e-12)
    assert jaccard_and_f(pred, truth) == (jaccard(pred, truth), boundary_f(pred, truth))


def test_half_frames_have_one_boundary_and_none_at_the_edge() -> None:
    left = np.zeros((SIDE, SIDE), bool)
    left[:, :10] = True
    expected = np.zeros((SIDE, SIDE), bool)
    expected[:, 9] = True
    assert (boundary_map(left) == expected).all()
    further = np.zeros((SIDE, SIDE), bool)
    further[:, :15] = True
    assert boundary_f(left, further) == 0
    assert jaccard(left, further) == 10 / 15


def test_boundary_of_pixels_in_corners() -> None:
    first, last = square(0, 0, 1, (5, 6)), square(4, 5, 1, (5, 6))
    assert np.argwhere(boundary_map(first)).tolist() == [[0, 0]]
    assert np.argwhere(boundary_map(last)).tolist() == [[3, 4], [3, 5], [4, 4]]


def test_precision_and_recall_differ() -> None:
    truth = square(40, 40)
    pred = truth | square(70, 70)
    # all of the truth's boundary is found, half of the prediction's is right
    assert boundary_f(pred, truth) == pytest.approx(2 * 0.5 / 1.5, abs=1e-12)
    assert jaccard(pred, truth) == 0.5


def test_integers_count_as_masks() -> None:
    pred, truth = square(40, 43), square(40, 40)
    assert jaccard(pred * 7, truth * np.int64(255)) == 70 / 130
    assert boundary_f(pred * np.float32(0.5), truth.astype(np.int32)) == pytest.approx(0.6)


@pytest.mark.parametrize(("first", "second"), [((4, 4), (4, 5)), ((4,), (4,)), ((0, 4), (0, 4))])
def test_other_shapes_are_refused(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    for measure in (jaccard, boundary_f):
        with pytest.raises(InputError, match="expected two masks"):
            measure(np.zeros(first, bool), np.zeros(second, bool))


def slow_f(pred: np.ndarray, truth: np.ndarray) -> float:
    """F by loops over pixels and pairs of boundary pixels."""
    height, width = truth.shape
    radius = math.ceil(0.008 * math.sqrt(height**2 + width**2))

    def boundary(mask: np.ndarray) -> list[tuple[int, int]]:
        return [
            (y, x)
            for y in range(height)
            for x in range(width)
            if any(
                mask[y, x] != mask[y + dy, x + dx]
                for dy, dx in ((0, 1), (1, 0), (1, 1))
                if y + dy < height and x + dx < width
            )
        ]

    def matched(points: list[tuple[int, int]], others: list[tuple[int, int]]) -> float:
        near = [any((y - v) ** 2 + (x - u) ** 2 <= radius**2 for v, u in others) for y, x in points]
        return sum(near) / len(near)

    a, b = boundary(pred), boundary(truth)
    if not a or not b:
        return float(not a and not b)
    precision, recall = matched(a, b), matched(b, a)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@st.composite
def mask_pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two masks of one size: noise, or a few rectangles, anywhere in the frame."""
    shape = draw(st.tuples(st.integers(1, 14), st.integers(1, 300)))

    def one() -> np.ndarray:
        if draw(st.booleans()):
            return draw(nps.arrays(bool, shape, elements=st.booleans(), fill=st.booleans()))
        mask = np.zeros(shape, bool)
        for _ in range(draw(st.integers(0, 3))):
            top, left = draw(st.integers(0, shape[0] - 1)), draw(st.integers(0, shape[1] - 1))
            mask[top : top + draw(st.integers(1, 9)), left : left + draw(st.integers(1, 40))] ^= True
        return mask

    return one(), one()


@given(mask_pairs())
@settings(max_examples=80, deadline=None)
def test_f_is_that_of_the_definition(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert boundary_f(*pair) == pytest.approx(slow_f(*pair), abs=1e-12)


@given(mask_pairs())
@settings(deadline=None)
def test_properties(pair: tuple[np.ndarray, np.ndarray]) -> None:
    a, b = pair
    j, f = jaccard_and_f(a, b)
    assert (j, f) == (jaccard(a, b), boundary_f(a, b))
    assert 0 <= j <= 1
    assert 0 <= f <= 1
    assert jaccard_and_f(b, a) == (j, f)
    assert jaccard_and_f(a, a) == (1, 1)
    assert jaccard_and_f(a.T, b.T) == (j, f)
    assert (j == 1) == np.array_equal(a, b)
    assert jaccard(a, a & b) <= 1 - (a & ~b).sum() / max(a.sum(), 1) + 1e-12


@given(mask_pairs(), st.integers(2, 6), st.integers(2, 6))
@settings(deadline=None)
def test_the_place_in_the_frame_does_not_matter(pair: tuple[np.ndarray, np.ndarray], down: int, right: int) -> None:
    """Masks that do not reach the frame's edge, moved."""
    a, b = (np.pad(mask, 8) for mask in pair)
    moved = [np.roll(mask, (down, right), (0, 1)) for mask in (a, b)]
    assert jaccard_and_f(*moved) == jaccard_and_f(a, b)


def test_statistics_by_hand() -> None:
    # 8 values; the quarters are bounded by the rounded places 1, 2.75 -> 3, 4.5 -> 5, 6.25 -> 6, 8 and share their ends
    values = [1.0, 0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1]
    result = statistics(values)
    assert result.mean == pytest.approx(4.5 / 8)
    assert result.recall == 4 / 8  # 0.5 itself does not count
    assert result.decay == pytest.approx((1.0 + 0.9 + 0.8) / 3 - (0.3 + 0.2 + 0.1) / 3)


def test_statistics_of_one_frame() -> None:
    result = statistics([0.7])
    assert (result.mean, result.recall, result.decay) == (0.7, 1.0, 0.0)


def test_decay_of_long_sequences_is_right() -> None:
    """Beyond 256 frames the public tool's 8-bit places wrap; the definition knows no such limit."""
    values = np.linspace(1, 0, 1001)
    # the places 1, 251, 501, 751 and 1001: the means of values 0..250 and 750..1000
    assert statistics(values).decay == pytest.approx(values[:251].mean() - values[750:].mean(), abs=1e-12)
    assert statistics(values).decay == pytest.approx(0.75, abs=1e-12)


def test_statistics_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at least one frame"):
        statistics([])
