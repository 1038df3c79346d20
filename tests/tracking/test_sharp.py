"""Edges that follow the frame: better than plain resizing, and only there."""

import cv2
import numpy as np
import pytest

from mobilevos.evaluation.metrics import jaccard_and_f
from mobilevos.synthetic.clip import synthetic_frames
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.result import Sight, TrackResult
from mobilevos.tracking.sharp import BAND, plain_ids


def seen_by_a_network(ids: np.ndarray, names: tuple[int, ...], size: int, noise: float) -> Sight:
    """What a network of a working size would say at best: on a grid of every fourth pixel, with a wavering outline."""
    rng = np.random.default_rng(0)
    geometry = Geometry.fit(*ids.shape, size)
    h, w = geometry.scaled
    logits = [np.zeros((h // 4, w // 4), np.float32)]
    for name in names:
        share = cv2.resize((ids == name).astype(np.float32), (w // 4, h // 4), interpolation=cv2.INTER_AREA)
        wave = cv2.GaussianBlur(rng.normal(size=share.shape).astype(np.float32), (0, 0), 3)
        logits.append(np.log((share + 0.02) / (1.02 - share)) + noise * wave / wave.std())
    scores = np.exp([cv2.resize(plane, (w, h)) for plane in logits])
    probabilities = (scores / scores.sum(0)).astype(np.float32)
    top, bottom, left, right = geometry.padding
    padded = [cv2.copyMakeBorder(p, top, bottom, left, right, cv2.BORDER_REPLICATE) for p in probabilities]
    return Sight(names, np.stack(padded), geometry)


def plain(sight: Sight) -> np.ndarray:
    geometry = sight.geometry
    ids = plain_ids(geometry.inner(sight.probabilities), geometry.height, geometry.width)
    return np.array((0, *sight.ids), np.uint8)[ids]


def sharp_mask(sight: Sight, frame: np.ndarray) -> np.ndarray:
    return TrackResult(sight.ids, sight, frame, {}).mask


@pytest.mark.parametrize("seed", [0, 1])
def test_it_raises_j_and_f(seed: int) -> None:
    frame, ids = next(synthetic_frames(frames=1, height=540, width=960, objects=2, seed=seed))
    ids = np.array([0, 5, 9], np.uint8)[ids]
    result = seen_by_a_network(ids, (5, 9), 240, noise=1.0)
    sharp = sharp_mask(result, frame)
    assert sharp.dtype == np.uint8
    # With a radius of 2: that of DAVIS, 9 here, is too coarse for it.
    scores = [jaccard_and_f(mask == i, ids == i, radius=2) for mask in (plain(result), sharp) for i in (5, 9)]
    before, better = np.mean(scores[:2], axis=0), np.mean(scores[2:], axis=0)
    assert better[0] > before[0] + 0.01
    assert better[1] > before[1] + 0.1


def test_only_the_band_around_outlines_changes() -> None:
    frame, ids = next(synthetic_frames(frames=1, height=360, width=640, objects=1, seed=0))
    result = seen_by_a_network(ids, (1,), 160, noise=0.0)
    noise = np.random.default_rng(0).integers(0, 256, frame.shape).astype(np.uint8)  # a guide that leads astray
    sharp = sharp_mask(result, noise)
    reach = 2 * (BAND + 2) * 360 // 160 + 1
    band = cv2.morphologyEx(plain(result), cv2.MORPH_GRADIENT, np.ones((reach, reach), np.uint8)) > 0
    np.testing.assert_array_equal(sharp[~band], plain(result)[~band])


def test_a_frame_that_is_hardly_reduced_is_left_as_it_is() -> None:
    frame, ids = next(synthetic_frames(frames=1, height=120, width=200, objects=2, seed=0))
    result = seen_by_a_network(ids, (1, 2), 96, noise=0.5)
    np.testing.assert_array_equal(sharp_mask(result, frame), plain(result))


def test_nothing_and_everything() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (100, 180, 3)).astype(np.uint8)
    for value in (0, 1):
        geometry = Geometry.fit(100, 180, 48)
        shape = geometry.scaled[0] + sum(geometry.padding[:2]), geometry.scaled[1] + sum(geometry.padding[2:])
        full = np.full(shape, float(value), np.float32)
        result = Sight((3,), np.stack([1 - full, full]), geometry)
        np.testing.assert_array_equal(sharp_mask(result, frame), np.full((100, 180), 3 * value))
