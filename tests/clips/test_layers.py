"""Cutting objects out and pasting them."""

import numpy as np
import pytest

from mobilevos.clips.layers import (
    Layer,
    Sprite,
    blur_along,
    cut_out,
    fill_in,
    paste,
    random_blob,
    shrunk,
    touches_border,
)
from mobilevos.clips.motion import translation
from tests.builders.coloured import BLUE, RED, color_coded


def _cut() -> tuple[np.ndarray, np.ndarray, Layer]:
    image, labels = color_coded()
    layer = cut_out(image, labels, 1)
    assert layer is not None
    return image, labels, layer


def _still(layer: Layer, place: np.ndarray, label: int, **more: bool) -> Sprite:
    return Sprite(layer, place[None], label, **more)  # type: ignore[arg-type]


def test_pasting_an_object_where_it_was_changes_nothing() -> None:
    image, labels, layer = _cut()
    frames, masks = image[None].copy(), labels[None].copy()
    paste(frames, masks, _still(layer, translation(*layer.corner), 1))
    assert np.abs(frames[0].astype(int) - image).max() <= 1
    np.testing.assert_array_equal(masks[0], labels)


def test_moved_object_takes_its_label_along() -> None:
    _, labels, layer = _cut()
    frames = np.full((1, 96, 120, 3), BLUE, np.uint8)
    masks = np.zeros((1, 96, 120), np.uint8)
    x, y = layer.corner
    paste(frames, masks, _still(layer, translation(x + 50, y + 10), 2))
    shown = frames[0, ..., 0] > 120
    np.testing.assert_array_equal(masks[0] == 2, shown)
    moved = np.roll(labels == 1, (10, 50), axis=(0, 1))
    assert (shown & moved).sum() / (shown | moved).sum() > 0.85  # its soft edge lies inside of it


def test_unlabelled_sprite_hides_labels() -> None:
    _, labels, layer = _cut()
    frames, masks = np.full((1, 96, 120, 3), BLUE, np.uint8), np.ones((1, 96, 120), np.uint8)
    paste(frames, masks, _still(layer, translation(*layer.corner), 0))
    assert (masks[0][np.hypot(*(np.mgrid[:96, :120] - np.array([45, 40])[:, None, None])) < 18] == 0).all()
    assert (masks[0][labels == 0] == 1).all()


def test_behind_means_that_objects_hide_it() -> None:
    image, labels, layer = _cut()
    frames, masks = image[None].copy(), labels[None].copy()
    x, y = layer.corner
    paste(frames, masks, _still(layer, translation(x + 35, y), 3, behind=True))
    np.testing.assert_array_equal(frames[0][labels > 0], image[labels > 0])
    np.testing.assert_array_equal(masks[0][labels > 0], labels[labels > 0])
    assert (masks == 3).any()


def test_void_goes_along_and_stays_void() -> None:
    image, labels = color_coded()
    y, x = np.mgrid[:96, :120]
    ring = (labels == 1) & (np.hypot(x - 40, y - 45) > 18)
    labels[ring] = 255
    layer = cut_out(image, labels, 1)
    assert layer is not None
    frames, masks = np.full((1, 96, 120, 3), BLUE, np.uint8), np.zeros((1, 96, 120), np.uint8)
    paste(frames, masks, _still(layer, translation(*layer.corner), 1))
    assert set(np.unique(masks)) == {0, 1, 255}
    assert (masks[0][labels == 1] == 1).all()
    assert ((masks[0] == 255) <= ring).all()


def test_out_of_sight_is_no_error() -> None:
    image, labels, layer = _cut()
    frames, masks = image[None].copy(), labels[None].copy()
    paste(frames, masks, _still(layer, translation(500, -300), 1))
    np.testing.assert_array_equal(frames[0], image)


def test_missing_object_is_none() -> None:
    image, labels = color_coded()
    assert cut_out(image, labels, 9) is None


def test_border_cuts_objects_off() -> None:
    labels = np.zeros((50, 50), np.uint8)
    labels[20:30, 20:30] = 1
    labels[40:, 10:20] = 2
    assert not touches_border(labels, 1)
    assert touches_border(labels, 2)


def test_fill_in_paints_over_the_object_only() -> None:
    image, labels = color_coded()
    hole = (labels == 1).astype(np.uint8)
    filled = fill_in(image, hole)
    assert (filled[labels == 1].argmax(axis=-1) == 2).mean() > 0.97  # blue like what is around it
    far = np.hypot(*(np.mgrid[:96, :120] - np.array([45, 40])[:, None, None])) > 32
    np.testing.assert_array_equal(filled[far], image[far])


def test_shrunk_layers_keep_their_place() -> None:
    layer = Layer(np.full((40, 60, 4), 255, np.uint8))
    small, to_small = shrunk(layer, 0.25)
    assert small.shape == (10, 15)
    np.testing.assert_allclose(to_small @ [*layer.center, 1], [*small.center, 1])
    np.testing.assert_allclose(to_small @ [-0.5, -0.5, 1], [-0.5, -0.5, 1])  # the corner of the corner pixel
    assert shrunk(layer, 0.9)[0] is layer


@pytest.mark.parametrize("seed", range(5))
def test_blobs_have_an_inside_and_an_outside(seed: int) -> None:
    blob = random_blob(np.random.default_rng(seed), np.full((20, 30, 3), RED, np.uint8), 40)
    opacity = blob.colors[..., 3]
    assert 0.2 < (opacity > 127).mean() < 0.95
    assert max(opacity[0].max(), opacity[-1].max(), opacity[:, 0].max(), opacity[:, -1].max()) == 0
    assert (blob.colors[..., :3] == RED).all()


def test_blur_runs_along_the_motion() -> None:
    picture = np.zeros((21, 21, 1), np.uint8)
    picture[10, 10] = 250
    blurred = blur_along(picture, 8, 0).reshape(21, 21).astype(int)
    assert (blurred[10] > 0).sum() == 9
    assert not np.delete(blurred, 10, axis=0).any()
    assert blurred.sum() == pytest.approx(250, abs=9)
    assert blur_along(picture, 0.5, 0.5) is picture  # too short to see
