"""Which parts of a mask are what was marked."""

from __future__ import annotations

import numpy as np

from mobilevos.tracking.parts import strays


def _mask(*boxes: tuple[int, int, int, int]) -> np.ndarray:
    mask = np.zeros((100, 200), bool)
    for left, top, width, height in boxes:
        mask[top : top + height, left : left + width] = True
    return mask


def test_a_part_far_from_the_marked_one_is_a_stray() -> None:
    mask = _mask((20, 40, 20, 20), (51, 40, 20, 20))  # 11 apart, and half of 20 are 10
    assert np.array_equal(strays(mask, _mask((30, 50, 1, 1))), _mask((51, 40, 20, 20)))


def test_a_part_near_the_marked_one_belongs_to_it() -> None:
    mask = _mask((20, 40, 20, 20), (50, 40, 20, 20))
    assert not strays(mask, _mask((30, 50, 1, 1))).any()


def test_what_is_marked_is_no_stray() -> None:
    mask = _mask((20, 40, 20, 20), (150, 40, 20, 20))
    assert not strays(mask, _mask((30, 50, 1, 1), (160, 50, 1, 1))).any()


def test_marks_beside_the_mask_say_nothing() -> None:
    mask = _mask((20, 40, 20, 20), (150, 40, 20, 20))
    assert not strays(mask, _mask((90, 90, 1, 1))).any()


def test_nothing_has_no_strays() -> None:
    assert not strays(_mask(), _mask((90, 90, 1, 1))).any()
