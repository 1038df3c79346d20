"""Colours, blur and noise."""

import numpy as np
import pytest

from mobilevos.clips.appearance import (
    add_noise,
    change_appearance,
    color_matrix,
    compress,
    defocus,
    gamma_table,
    jitter_colors,
    shake,
)
from tests.clips.calm import calm


def _apply(matrix: np.ndarray, color: list[float]) -> np.ndarray:
    return matrix @ [*color, 1]


def _frames() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (2, 40, 40, 3), dtype=np.uint8)


def test_colors_by_hand() -> None:
    np.testing.assert_allclose(_apply(color_matrix(), [10, 20, 30]), [10, 20, 30])
    np.testing.assert_allclose(_apply(color_matrix(brightness=2), [10, 20, 30]), [20, 40, 60])
    np.testing.assert_allclose(_apply(color_matrix(contrast=0.5), [128, 28, 228]), [128, 78, 178])
    np.testing.assert_allclose(_apply(color_matrix(saturation=0), [100, 0, 0]), [29.9, 29.9, 29.9])
    np.testing.assert_allclose(_apply(color_matrix(hue=120), [90, 0, 0]), [0, 90, 0], atol=1e-9)  # red to green
    np.testing.assert_allclose(_apply(color_matrix(hue=77, saturation=0.3), [50, 50, 50]), [50, 50, 50])  # gray stays


def test_gamma_by_hand() -> None:
    table = gamma_table(2.0)
    assert table[[0, 128, 255]].tolist() == [0, 64, 255]
    assert (np.diff(gamma_table(0.7).astype(int)) >= 0).all()


def test_nothing_is_done_unless_asked_for() -> None:
    frames = _frames()
    change_appearance(np.random.default_rng(0), calm(), frames)
    np.testing.assert_array_equal(frames, _frames())


def test_whole_clip_changes_alike() -> None:
    frames = np.stack([_frames()[0]] * 3)
    jitter_colors(np.random.default_rng(0), calm(jitter=1.0), frames)
    assert not np.array_equal(frames[0], _frames()[0])
    np.testing.assert_array_equal(frames[0], frames[1])
    np.testing.assert_array_equal(frames[0], frames[2])
    jitter_colors(np.random.default_rng(0), calm(flicker=0.1), frames)
    assert not np.array_equal(frames[0], frames[1])


def test_gray_clips_are_gray() -> None:
    frames = _frames()
    jitter_colors(np.random.default_rng(0), calm(jitter=1.0, gray=1.0), frames)
    assert np.ptp(frames.astype(int), axis=-1).max() <= 1


@pytest.mark.parametrize("blur", [shake, defocus])
def test_blur_takes_detail_away(blur: object) -> None:
    assert callable(blur)
    frames = _frames().repeat(4, axis=1).repeat(4, axis=2)
    before = np.abs(np.diff(frames.astype(int), axis=1)).mean() + np.abs(np.diff(frames.astype(int), axis=2)).mean()
    blur(np.random.default_rng(1), frames)
    after = np.abs(np.diff(frames.astype(int), axis=1)).mean() + np.abs(np.diff(frames.astype(int), axis=2)).mean()
    assert after < 0.9 * before


@pytest.mark.parametrize("spoil", [compress, add_noise])
def test_artefacts_keep_the_picture(spoil: object) -> None:
    assert callable(spoil)
    smooth = np.broadcast_to(np.linspace(60, 180, 64).astype(np.uint8)[:, None], (2, 64, 64, 3)).copy()
    frames = smooth.copy()
    spoil(np.random.default_rng(0), frames)
    difference = np.abs(frames.astype(int) - smooth)
    assert 0 < difference.mean() < 12
