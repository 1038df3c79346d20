"""Synthetic clips from photos."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from mobilevos.clips import ClipConfig, PhotoSource
from mobilevos.clips.motion import translation
from mobilevos.clips.photos import leave, moving_photo
from mobilevos.errors import InputError
from tests.builders.coloured import color_coded, labels_of, photo_folder
from tests.builders.photos import write_photos
from tests.clips.calm import agreement, calm


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> PhotoSource:
    root = tmp_path_factory.mktemp("photos")
    return PhotoSource(photo_folder(root / "data"), cache=root / "cache")


@pytest.mark.parametrize("independent", [0.0, 1.0])
@pytest.mark.parametrize("elastic", [0.0, 1.0])
def test_masks_move_with_the_frames(photos: PhotoSource, independent: float, elastic: float) -> None:
    """Colours tell the labels: masks recomputed from the frames agree with those that were warped."""
    config = calm(size=96, frames=4, independent=independent, elastic=elastic)
    moved = 0
    for seed in range(12):
        clip = photos.sample(np.random.default_rng(seed), config, 1)
        assert agreement(clip) > 0.93
        moved += (clip.masks[0] != clip.masks[-1]).mean() > 0.02
    assert moved >= 8


def test_shape_and_ids(photos: PhotoSource) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        clip = photos.sample(rng, ClipConfig(size=64, frames=3), 1 + seed % 3)
        assert clip.frames.shape == (3, 64, 64, 3)
        assert clip.masks.shape == (3, 64, 64)
        assert clip.frames.dtype == clip.masks.dtype == np.uint8
        assert clip.name.startswith("photo")
        first = np.unique(clip.masks[0])
        ids = first[(first > 0) & (first < 255)].tolist()
        assert ids == list(range(1, len(ids) + 1))
        assert 1 <= len(ids) <= 1 + seed % 3
        assert set(np.unique(clip.masks)) <= {0, *ids, 255}
        assert all((clip.masks[0] == i).sum() >= 80 for i in ids)
        assert ((clip.masks[0] > 0) & (clip.masks[0] < 255)).mean() <= 0.85


def test_other_instances_become_background(photos: PhotoSource) -> None:
    clip = photos.sample(np.random.default_rng(0), calm(crop_min=1.0, independent=0.0), 1)
    found = labels_of(clip.frames[0])
    assert {int(i) for i in np.unique(found)} == {0, 1, 2}  # both are seen
    assert set(np.unique(clip.masks[0])) <= {0, 1, 255}  # one is labelled


def test_void_stays_void() -> None:
    image, labels = color_coded()
    y, x = np.mgrid[:96, :120]
    ring = np.abs(np.hypot(x - 40, y - 45) - 22) < 3
    labels[labels == 2] = 0
    labels[ring] = 255
    crop = translation(0, 0)
    config = calm(size=96, elastic=1.0)
    for seed in range(5):
        frames, masks = moving_photo(np.random.default_rng(seed), config, image, labels, crop)
        np.testing.assert_array_equal(masks[0], labels[:96, :96])
        for frame, mask in zip(frames, masks, strict=True):
            red = labels_of(frame) == 1
            edge = red & (cv2.erode(red.astype(np.uint8), np.ones((3, 3), np.uint8)) == 0)
            assert (mask[edge] == 255).mean() > 0.97  # the outline of the disc is where void was drawn


def test_beyond_the_photo_is_void() -> None:
    image, labels = color_coded()
    _, masks = moving_photo(np.random.default_rng(0), calm(size=96), image, labels, translation(60, 0))
    np.testing.assert_array_equal(masks[0][:, :60], labels[:, 60:])
    assert (masks[0][:, 60:] == 255).all()


def test_added_objects_fill_up(tmp_path: Path) -> None:
    """Photos with one object give clips with several: the others are pasted."""
    image, labels = color_coded()
    labels[labels == 2] = 0
    source = PhotoSource(write_photos(tmp_path, {"a": (image, labels)}, mode="1"), cache=None)
    counts = [int(source.sample(np.random.default_rng(i), calm(size=96), 2).masks[0].max()) for i in range(20)]
    assert counts.count(2) > 10


def test_occluders_hide_and_leavers_leave(photos: PhotoSource) -> None:
    """Measured against the same clips without: object 1 loses area after frame 0."""

    def area(**changes: float) -> float:
        config = calm(frames=4, elastic=0.0, **{"independent": 1.0, "jump": 0.0, "move": 0.01, "zoom": 0.01, **changes})
        parts = []
        for seed in range(15):
            masks = photos.sample(np.random.default_rng(seed), config, 1).masks
            sizes = (masks == 1).sum(axis=(1, 2))
            parts.append(sizes[1:].min() / sizes[0])
        return float(np.mean(parts))

    assert area() > 0.8
    assert area(occluder=1.0) < 0.75
    assert area(leave=1.0) < 0.05


def test_leaving_starts_after_frame_0() -> None:
    path = np.stack([np.eye(3)] * 4)
    for seed in range(10):
        gone = leave(np.random.default_rng(seed), calm(leave=1.0), path)
        way = np.hypot(*(gone[:, :2, 2]).T)
        assert way[0] == 0
        assert set(np.round(way[1:])) <= {0, 77}  # 1.2 x 64
        assert way.max() > 64


def test_broken_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"images is missing"):
        PhotoSource(tmp_path, cache=None)
    (tmp_path / "images").mkdir()
    (tmp_path / "masks").mkdir()
    with pytest.raises(InputError, match="found none"):
        PhotoSource(tmp_path, cache=None)
    photo_folder(tmp_path)
    (tmp_path / "masks" / "photo1.png").unlink()
    with pytest.raises(InputError, match=r"photo1\.png of the photo photo1\.png is missing"):
        PhotoSource(tmp_path, cache=None)


def test_photos_without_objects_say_so(tmp_path: Path) -> None:
    write_photos(tmp_path, {"a": (color_coded()[0], np.zeros((96, 120), np.uint8))})
    with pytest.raises(InputError, match="no object of at least 20 pixels"):
        PhotoSource(tmp_path, cache=None).sample(np.random.default_rng(0), calm(), 1)


@pytest.mark.parametrize("name", ["duts", "voc-objects"])
def test_real_photos(shared_data: Path, name: str) -> None:
    source = PhotoSource(shared_data / name, cache=None)
    for seed in range(3):
        clip = source.sample(np.random.default_rng(seed), ClipConfig(size=96), 2)
        assert (clip.masks[0] == 1).sum() >= 80
