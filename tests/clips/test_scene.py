"""What is added to clips."""

import numpy as np
import pytest

from mobilevos.clips.layers import Layer
from mobilevos.clips.scene import add_distractor, add_object, add_occluder, finish, transplanted
from tests.builders.coloured import BLUE, GREEN, RED
from tests.clips.calm import calm


class _Squares:
    """Green squares to add."""

    def cutout(self, rng: np.random.Generator) -> Layer | None:
        return Layer(np.full((30, 30, 4), (*GREEN, 255), np.uint8))

    def texture(self, rng: np.random.Generator) -> np.ndarray:
        return np.full((20, 20, 3), GREEN, np.uint8)


def _scene() -> tuple[np.ndarray, np.ndarray]:
    """Three frames of a red square (1) that rests on blue."""
    frames, masks = np.full((3, 96, 96, 3), BLUE, np.uint8), np.zeros((3, 96, 96), np.uint8)
    frames[:, 10:40, 10:40], masks[:, 10:40, 10:40] = RED, 1
    return frames, masks


def _differ(one: np.ndarray, other: np.ndarray) -> float:
    """Part of the pixels; edges mix colours, so it is seldom zero."""
    return float((one != other).mean())


@pytest.mark.parametrize("seed", range(5))
def test_added_object_is_labelled_where_it_is_seen(seed: int) -> None:
    frames, masks = _scene()
    add_object(np.random.default_rng(seed), calm(size=96, hue=0.0), frames, masks, _Squares(), 2)
    assert _differ(masks == 2, frames.argmax(axis=-1) == 1) < 0.01
    assert (masks[0] == 2).any()


@pytest.mark.parametrize("look_alike", [0.0, 1.0])
def test_distractor_is_seen_but_not_labelled(look_alike: float) -> None:
    added = 0
    for seed in range(8):
        frames, masks = _scene()
        config = calm(size=96, hue=0.0, look_alike=look_alike)
        add_distractor(np.random.default_rng(seed), config, frames, masks, _Squares())
        color = frames.argmax(axis=-1)
        assert _differ(color[masks == 1], 0 * color[masks == 1]) < 0.05
        assert set(np.unique(masks)) <= {0, 1}
        added += (color[masks == 0] == (0 if look_alike else 1)).sum() > 50
    assert added == 8


@pytest.mark.parametrize("seed", range(8))
def test_occluder_hides_later_frames(seed: int) -> None:
    frames, masks = _scene()
    add_occluder(np.random.default_rng(seed), calm(size=96, hue=0.0), frames, masks, _Squares())
    sizes = (masks == 1).sum(axis=(1, 2))
    assert sizes[0] > 0.6 * 900
    assert sizes[1:].min() < 0.9 * 900
    assert _differ(masks == 1, frames.argmax(axis=-1) == 0) < 0.01


def test_late_objects_do_not_share_ids_with_added_ones() -> None:
    """Object 2 comes into view in frame 1, after its id was given to something else."""
    for seed in range(10):
        frames, masks = _scene()
        masks[1:, 60:90, 60:90] = 2
        rng = np.random.default_rng(seed)
        clip = finish(rng, calm(size=96, hue=0.0), frames, masks, objects=2, cutouts=_Squares(), name="")
        assert clip is not None
        assert _differ(clip.masks == 2, clip.frames.argmax(axis=-1) == 1) < 0.01


def test_nothing_in_frame_0_is_no_clip() -> None:
    frames, masks = _scene()
    masks[0] = 0
    assert (
        finish(np.random.default_rng(0), calm(size=96), frames, masks, objects=1, cutouts=_Squares(), name="") is None
    )


@pytest.mark.parametrize("seed", range(4))
def test_transplanted_objects_keep_their_shape_and_lose_their_place(seed: int) -> None:
    frames, masks = _scene()
    masks[:, :, 90:] = 255
    place = np.full_like(frames, GREEN)
    new_frames, new_masks = transplanted(np.random.default_rng(seed), calm(size=96, hue=0.0), frames, masks, place)
    assert set(np.unique(new_masks)) == {0, 1}
    assert not ((new_masks == 1) & (masks != 1)).any()
    assert _differ(new_masks == 1, masks == 1) < 0.02  # a soft rim, half of it the other place
    assert _differ(new_masks == 1, new_frames.argmax(axis=-1) == 0) < 0.02
    np.testing.assert_array_equal(new_frames[:, 50:], place[:, 50:])
    np.testing.assert_array_equal(frames, _scene()[0])
