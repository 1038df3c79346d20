"""Motion is smooth, and scenes are what they say they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mobilevos.render.scene import LARGEST, SMALLEST, VIEW, draw_scene
from mobilevos.render.splines import any_rotation, rotation, spline, turns

MESHES = [Path("a"), Path("b"), Path("c")]


def test_a_spline_of_equal_knots_stands_still_and_others_stay_between_theirs() -> None:
    at = np.linspace(0, 1, 50)
    assert np.allclose(spline(np.full((6, 2), 3.0), at), 3.0)
    knots = np.random.default_rng(0).uniform(-1, 1, (8, 3))
    path = spline(knots, at)
    assert path.shape == (50, 3)
    assert (path >= knots.min(axis=0)).all()
    assert (path <= knots.max(axis=0)).all()
    assert np.allclose(spline(np.arange(6.0)[:, None], at)[:, 0], 1 + 3 * at)  # straight knots, even pace


def test_rotations() -> None:
    quarter = rotation(np.array([0, 0, np.pi / 2]))
    assert np.allclose(quarter @ [1, 0, 0], [0, 1, 0])
    for one in (any_rotation(np.random.default_rng(1)), quarter):
        assert np.allclose(one @ one.T, np.eye(3))
        assert np.linalg.det(one) == pytest.approx(1)
    turned = turns(np.tile([0, 0, np.pi / 8], (5, 1)), 1.0)
    assert np.allclose(turned[0], np.eye(3))
    assert np.allclose(turned[4], quarter)


@pytest.mark.parametrize("seed", range(6))
def test_a_scene(seed: int) -> None:
    scene = draw_scene(np.random.default_rng(seed), MESHES, 40, 1.5, (2, 4), blurred=0.5)
    ids = [actor.id for actor in scene.actors]
    assert sorted(set(ids)) == list(range(1, max(ids) + 1))
    assert 2 <= max(ids) <= 4
    assert scene.camera.shape == (40, 3)
    assert (scene.camera[:, 2] >= 1).all()
    for actor in scene.actors:
        assert actor.positions.shape == (40 * scene.blur, 3)
        if ids.count(actor.id) == 1:
            radius = actor.scale / (-actor.positions[:, 2] * np.tan(VIEW / 2))
            assert (radius >= SMALLEST - 1e-9).all()
            assert (radius <= LARGEST + 1e-9).all()
        moved = np.linalg.norm(np.diff(actor.positions, axis=0), axis=1)
        assert moved.max() < -actor.positions[:, 2].max()  # no jumps


def test_limbs_stay_at_their_joint() -> None:
    """The distance between a body and its limb changes, but never beyond the reach of both."""
    for seed in range(20):
        scene = draw_scene(np.random.default_rng(seed), MESHES, 20, 1.5, (1, 1), blurred=0.0)
        body, *limbs = scene.actors
        for limb in limbs:
            away = np.linalg.norm(limb.positions - body.positions, axis=1)
            assert (away <= 0.5 * (body.scale + limb.scale) + 1e-9).all()
            assert np.ptp(away) > 0.01
        if limbs:
            return
    raise AssertionError("no thing had limbs")


def test_blur_is_around_the_frame() -> None:
    """The middle moment of a blurred frame is where the thing of a sharp clip is: that is what its mask shows."""
    sharp, blurred = (
        draw_scene(np.random.default_rng(3), MESHES, 20, 1.5, (1, 1), blurred=share) for share in (0.0, 1.0)
    )
    assert (sharp.blur, blurred.blur) == (1, 3)
    assert np.allclose(sharp.actors[0].positions[1:-1], blurred.actors[0].positions[1::3][1:-1])
