"""Prompts mark the object the way people would."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mobilevos.clips.prompts import KINDS, draw_prompt


def _disc(size: int, x: float, y: float, radius: float) -> np.ndarray:
    rows, columns = np.mgrid[:size, :size]
    return (columns - x) ** 2 + (rows - y) ** 2 <= radius**2


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32), st.floats(10, 80), st.floats(10, 80), st.floats(2, 30))
def test_every_kind_touches_the_object(kind: str, seed: int, x: float, y: float, radius: float) -> None:
    mask = _disc(96, x, y, radius)
    others = _disc(96, 95 - x, 95 - y, radius) & ~mask
    positive, negative = draw_prompt(mask, others, np.random.default_rng(seed), kind)
    assert positive.dtype == negative.dtype == np.uint8
    assert positive.shape == negative.shape == mask.shape
    assert positive.max() == 1
    assert (positive.astype(bool) & mask).any()
    assert not (negative.astype(bool) & mask).any()


def test_box_is_a_box_about_as_large_as_the_object() -> None:
    mask = np.zeros((100, 100), bool)
    mask[20:60, 30:80] = True
    for seed in range(20):
        positive, negative = draw_prompt(mask, ~mask, np.random.default_rng(seed), "box")
        rows, columns = np.flatnonzero(positive.any(axis=1)), np.flatnonzero(positive.any(axis=0))
        assert positive.sum() == len(rows) * len(columns)
        assert abs(rows[0] - 20) <= 7  # 15% of its size
        assert abs(rows[-1] - 59) <= 7
        assert abs(columns[0] - 30) <= 8
        assert abs(columns[-1] - 79) <= 8
        assert not negative.any()


def test_scribble_stays_on_the_object() -> None:
    mask = _disc(100, 50, 50, 25)
    for seed in range(20):
        positive, negative = draw_prompt(mask, np.zeros_like(mask), np.random.default_rng(seed), "scribble")
        assert (positive.astype(bool) <= mask).all()
        assert 0 < positive.sum() < 0.7 * mask.sum()
        assert (negative.astype(bool) <= ~mask).all()


def test_negative_clicks_fall_near_the_object_or_on_others() -> None:
    mask, others = _disc(200, 50, 50, 20), _disc(200, 150, 150, 15)
    near_or_other = _disc(200, 50, 50, 20 + 25) | _disc(200, 150, 150, 15 + 4)
    on_others = 0
    for seed in range(40):
        _, negative = draw_prompt(mask, others, np.random.default_rng(seed), "clicks")
        assert (negative.astype(bool) <= near_or_other).all()
        on_others += (negative.astype(bool) & others).any()
    assert on_others > 0


def test_all_kinds_are_drawn() -> None:
    mask = _disc(64, 30, 30, 14)
    rng = np.random.default_rng(0)
    sizes = [draw_prompt(mask, np.zeros_like(mask), rng)[0].sum() for _ in range(40)]
    assert min(sizes) < 40  # clicks
    assert max(sizes) > mask.sum()  # boxes


def test_empty_object_has_no_prompt() -> None:
    empty = np.zeros((20, 20), bool)
    positive, negative = draw_prompt(empty, ~empty, np.random.default_rng(0))
    assert not positive.any()
    assert not negative.any()


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="'lasso'"):
        draw_prompt(np.ones((5, 5), bool), np.zeros((5, 5), bool), np.random.default_rng(0), "lasso")
