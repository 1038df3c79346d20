"""Random motion and warping."""

import cv2
import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from mobilevos.clips.motion import linear, random_deformation, random_trajectory, translation, warp
from tests.clips.calm import calm


def test_linear_by_hand() -> None:
    turn = linear(angle=90, scale_x=2, scale_y=3, about=(10, 20))
    np.testing.assert_allclose(turn @ [10, 20, 1], [10, 20, 1])  # the point stays
    np.testing.assert_allclose(turn @ [11, 20, 1], [10, 22, 1], atol=1e-12)  # x doubles and turns to y
    np.testing.assert_allclose(turn @ [10, 21, 1], [7, 20, 1], atol=1e-12)  # y triples and turns to -x


def test_trajectories_start_where_things_are() -> None:
    path = random_trajectory(np.random.default_rng(0), calm(frames=5), (30, 30))
    assert path.shape == (5, 3, 3)
    np.testing.assert_array_equal(path[0], np.eye(3))
    assert (np.linalg.det(path) > 0.1).all()
    assert np.abs(path[-1] - np.eye(3)).max() > 0.1


def test_strength_scales_motion() -> None:
    def way(strength: float) -> float:
        paths = [random_trajectory(np.random.default_rng(i), calm(frames=4), (32, 32), strength) for i in range(40)]
        return float(np.mean([np.hypot(*(path[-1] @ [32, 32, 1] - [32, 32, 1])[:2]) for path in paths]))

    assert 0 < way(0.1) < 0.2 * way(1.0)


def test_one_frame_needs_no_motion() -> None:
    np.testing.assert_array_equal(random_trajectory(np.random.default_rng(0), calm(frames=1), (3, 3)), [np.eye(3)])


@pytest.mark.parametrize("elastic", [False, True])
def test_warp_samples_where_the_maps_say(elastic: bool) -> None:
    """Against scipy: the deformation is looked up at the mapped place, as a part of the picture's size."""
    rng = np.random.default_rng(1)
    picture = cv2.GaussianBlur(rng.integers(0, 256, (70, 90), dtype=np.uint8), (0, 0), 4)
    picture = cv2.normalize(picture, None, 0, 255, cv2.NORM_MINMAX)  # type: ignore[call-overload]
    to_source = translation(12, 9) @ linear(angle=12, scale_x=0.8, scale_y=0.9, shear=0.05, about=(20, 20))
    field = random_deformation(rng, calm(frames=3))[2]
    window = (7, 5, 50, 41)
    y, x = np.mgrid[5:46, 7:57]
    xs, ys, _ = np.tensordot(to_source, np.stack([x, y, np.ones_like(x)]), axes=1)
    if elastic:
        places = [ys / 70 * 32, xs / 90 * 32]
        dx, dy = (map_coordinates(field[..., i], places, order=1, mode="nearest") for i in (0, 1))
        xs, ys = xs + 90 * dx, ys + 70 * dy
    expected = map_coordinates(picture.astype(float), [ys, xs], order=1, mode="mirror")
    ours = warp(picture, to_source, window, field if elastic else None, border=cv2.BORDER_REFLECT_101)
    assert ours.shape == (41, 50)
    assert np.abs(ours - expected).mean() < 1.0
    assert np.abs(ours - expected).max() < 8.0


def test_deformation_starts_at_rest() -> None:
    fields = random_deformation(np.random.default_rng(3), calm(frames=4))
    assert fields.shape == (4, 33, 33, 2)
    assert not fields[0].any()
    assert fields[1:].any(axis=(1, 2, 3)).all()
    assert np.abs(np.diff(fields, axis=1)).max() < 0.1  # smooth: neighbours move together


def test_deformation_does_not_fold() -> None:
    """However long and strong it is, hardly any of a layer is turned inside out."""
    for seed in range(40):
        field = random_deformation(np.random.default_rng(seed), calm(frames=10, elastic_strength=0.05))[-1] * 32
        down, across = np.gradient(field, axis=0), np.gradient(field, axis=1)
        area = (1 + across[..., 0]) * (1 + down[..., 1]) - across[..., 1] * down[..., 0]
        assert (area <= 0).mean() < 0.005
