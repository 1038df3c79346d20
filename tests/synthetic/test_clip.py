"""The clip made from nothing is a fair test: exact, repeatable, all objects there, moving and hiding one another."""

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.synthetic.clip import synthetic_clip, synthetic_frames


def test_shapes_and_types() -> None:
    frames, masks = synthetic_clip(frames=3, height=96, width=171, objects=2)
    assert frames.shape == (3, 96, 171, 3)
    assert masks.shape == (3, 96, 171)
    assert frames.dtype == masks.dtype == np.uint8


def test_same_seed_same_clip_and_longer_clips_begin_the_same() -> None:
    short = synthetic_clip(frames=3, height=64, width=96, seed=5)
    long = synthetic_clip(frames=6, height=64, width=96, seed=5)
    other = synthetic_clip(frames=3, height=64, width=96, seed=6)
    for a, b in zip(short, long, strict=True):
        assert np.array_equal(a, b[:3])
    assert not np.array_equal(short[1], other[1])


@pytest.mark.parametrize("objects", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", [0, 1])
def test_all_objects_are_visible_at_first(objects: int, seed: int) -> None:
    _, ids = next(synthetic_frames(frames=1, height=120, width=214, objects=objects, seed=seed))
    areas = np.bincount(ids.ravel(), minlength=objects + 1)[1:]
    assert len(areas) == objects
    assert areas.min() > 0.3 * areas.max()


def test_objects_move_deform_and_hide_one_another() -> None:
    _, masks = synthetic_clip(frames=60, height=120, width=214, objects=3)
    areas = np.array([[(mask == identity).sum() for identity in (1, 2, 3)] for mask in masks])
    assert areas.min() > 0
    assert areas[:, 0].min() < 0.6 * areas[0, 0]  # the one at the back was hidden in part
    front = np.array([np.argwhere(mask == 3).mean(axis=0) for mask in masks])
    steps = np.linalg.norm(np.diff(front, axis=0), axis=1)
    assert np.linalg.norm(front - front[0], axis=1).max() > 30
    assert steps.max() < 214 / 20  # it moves, but never jumps


def test_without_an_object_the_rest_is_the_same() -> None:
    """Away from the animal and its shadow not a pixel differs."""
    whole, ids = next(synthetic_frames(frames=1, height=96, width=171, objects=2))
    rest, others = next(synthetic_frames(frames=1, height=96, width=171, objects=2, without=[1]))
    assert set(np.unique(others)) == {0, 2}
    assert np.array_equal(others == 2, ids == 2)
    changed = (whole != rest).any(axis=2)
    assert changed[ids == 1].mean() > 0.9
    assert not changed[ids == 2].any()
    assert not changed[:, :40].any() or not changed[:, -40:].any()


def test_edges_of_the_picture_lie_on_the_outline_of_the_mask() -> None:
    rgb, ids = next(synthetic_frames(frames=1, height=240, width=428, objects=1))
    step = np.abs(np.diff(rgb.astype(int), axis=1)).sum(axis=2)
    outline = np.diff(ids, axis=1) != 0
    strength = {shift: step[np.roll(outline, shift, axis=1)].mean() for shift in range(-4, 5)}
    assert max(strength, key=strength.__getitem__) == 0


def test_background_moves() -> None:
    frames, masks = synthetic_clip(frames=20, height=120, width=214)
    still = (masks[0] == 0) & (masks[19] == 0)
    change = np.abs(frames[0].astype(int) - frames[19]).max(axis=2)
    assert change[still].mean() > 5


def test_refuses_nonsense() -> None:
    for bad in ({"objects": 0}, {"objects": 25}, {"frames": 0}, {"height": 8}):
        with pytest.raises(InputError, match="expected"):
            synthetic_frames(**bad)
