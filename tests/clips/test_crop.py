"""Crops show the object."""

import cv2
import numpy as np
import pytest

from mobilevos.clips.crop import crop_anywhere, crop_around_objects
from mobilevos.clips.motion import warp
from tests.builders.coloured import color_coded
from tests.clips.calm import calm


@pytest.mark.parametrize("seed", range(20))
def test_object_is_seen_and_not_too_large(seed: int) -> None:
    config = calm(min_pixels=80, crop_min=0.3)
    _, labels = color_coded()
    labels[labels == 2] = 0
    crop = crop_around_objects(np.random.default_rng(seed), config, labels)
    assert crop is not None
    shown = warp(labels, crop, (0, 0, 64, 64), interpolation=cv2.INTER_NEAREST, fill=9)
    assert 80 <= (shown == 1).sum() <= 0.9 * 64 * 64
    assert (shown == 9).mean() < 0.12  # only rotation looks beyond the picture


def test_objects_are_whole_where_there_is_room() -> None:
    config = calm(crop_min=0.5)
    _, labels = color_coded()
    labels[labels == 2] = 0
    seen = []
    for seed in range(40):
        crop = crop_around_objects(np.random.default_rng(seed), config, labels)
        assert crop is not None
        shown = warp(labels, crop, (0, 0, 64, 64), interpolation=cv2.INTER_NEAREST)
        seen.append((shown == 1).sum() * abs(np.linalg.det(crop[:2, :2])) / (labels == 1).sum())
    assert np.mean(np.array(seen) > 0.85) > 0.9


def test_no_object_no_crop() -> None:
    labels = np.zeros((50, 60), np.uint8)
    assert crop_around_objects(np.random.default_rng(0), calm(), labels) is None
    labels[10:40, 10:40] = 255  # void is nothing to look at
    assert crop_around_objects(np.random.default_rng(0), calm(), labels) is None
    labels[20, 20] = 1  # too small
    assert crop_around_objects(np.random.default_rng(0), calm(min_pixels=80), labels) is None


def test_object_everywhere_gives_no_crop() -> None:
    assert crop_around_objects(np.random.default_rng(0), calm(), np.ones((50, 60), np.uint8)) is None


@pytest.mark.parametrize(("flip", "sign"), [(0.0, 1), (1.0, -1)])
def test_flip_mirrors(flip: float, sign: int) -> None:
    crop = crop_anywhere(np.random.default_rng(0), calm(flip=flip), (50, 60))
    assert np.sign(np.linalg.det(crop[:2, :2])) == sign


def test_corners_stay_inside_without_rotation() -> None:
    for seed in range(20):
        crop = crop_anywhere(np.random.default_rng(seed), calm(crop_rotation=0.0), (50, 60))
        corners = crop @ np.array([[-0.5, 63.5], [-0.5, 63.5], [1, 1]])  # outer edges of the corner pixels
        assert corners[:2].min() >= -0.5 - 1e-9
        assert corners[0].max() <= 59.5 + 1e-9
        assert corners[1].max() <= 49.5 + 1e-9
