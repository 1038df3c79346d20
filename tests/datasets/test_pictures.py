"""Reading pictures and label maps, and the cache of them."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.datasets import pictures as module
from mobilevos.datasets.labels import read_labels
from mobilevos.datasets.pictures import CachedPictures, PictureFile, Pictures, open_pictures, read_image
from mobilevos.errors import InputError
from tests.builders.coloured import color_coded, photo_folder
from tests.builders.pictures import write_labels, write_picture


def _files(root: Path, count: int = 3) -> list[PictureFile]:
    photo_folder(root, count)
    return [PictureFile(root / "images" / f"photo{i}.png", root / "masks" / f"photo{i}.png") for i in range(count)]


@pytest.mark.parametrize("mode", ["1", "L", "RGB"])
def test_white_on_black_is_one_object(tmp_path: Path, mode: str) -> None:
    labels = np.array([[0, 1, 1], [0, 0, 1]], np.uint8)
    write_labels(tmp_path / "mask.png", labels, mode)
    np.testing.assert_array_equal(read_labels(tmp_path / "mask.png"), labels)


def test_palette_holds_ids_and_void(tmp_path: Path) -> None:
    labels = np.array([[0, 3, 255], [17, 0, 1]], np.uint8)
    write_labels(tmp_path / "mask.png", labels)
    np.testing.assert_array_equal(read_labels(tmp_path / "mask.png"), labels)


def test_dark_gray_holds_ids(tmp_path: Path) -> None:
    labels = np.array([[0, 3, 2], [17, 0, 1]], np.uint8)
    Image.fromarray(labels).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "mask.png"), labels)


def test_antialiased_gray_is_cut_in_the_middle(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 60, 127, 128, 255]], np.uint8)).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "mask.png"), [[0, 0, 0, 1, 1]])


def test_images_are_rgb(tmp_path: Path) -> None:
    image, _ = color_coded()
    write_picture(tmp_path / "image.png", image)
    np.testing.assert_array_equal(read_image(tmp_path / "image.png"), image)


@pytest.mark.parametrize("read", [read_image, read_labels])
def test_bad_files_are_named(tmp_path: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(InputError, match=r"gone\.png is missing"):
        read(tmp_path / "gone.png")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(InputError, match=r"broken\.png cannot be decoded"):
        read(tmp_path / "broken.png")
    (tmp_path / "empty.png").touch()
    with pytest.raises(InputError, match=r"empty\.png cannot be decoded"):
        read(tmp_path / "empty.png")


def test_sizes_have_to_agree(tmp_path: Path) -> None:
    files = _files(tmp_path, 1)
    write_labels(files[0].mask, np.ones((10, 20), np.uint8))
    with pytest.raises(InputError, match=r"120x96 .*photo0\.png has 20x10"):
        Pictures(files)[0]


def test_large_pictures_are_made_smaller(tmp_path: Path) -> None:
    image, labels = Pictures(_files(tmp_path, 1), short_side=48)[0]
    assert image.shape == (48, 60, 3)
    assert set(np.unique(labels)) == {0, 1, 2}  # labels are not mixed


def test_cache_holds_the_pictures(tmp_path: Path) -> None:
    files = _files(tmp_path / "data")
    cached, direct = open_pictures(files, tmp_path / "cache"), open_pictures(files, None)
    assert len(cached) == 3
    for i in range(3):
        for ours, theirs in zip(cached[i], direct[i], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_cache_is_reused_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = _files(tmp_path / "data")
    first = CachedPictures(files, tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(module, "read_image", lambda path: pytest.fail("decoded again"))
        again = CachedPictures(files, tmp_path / "cache")
    assert again.folder == first.folder
    write_labels(files[1].mask, np.full((96, 120), 7, np.uint8))
    os.utime(files[1].mask, ns=(1, 1))  # clocks may be coarser than this test is fast
    changed = CachedPictures(files, tmp_path / "cache")
    assert changed.folder != first.folder
    assert (changed[1][1] == 7).all()


def test_failed_cache_leaves_nothing(tmp_path: Path) -> None:
    files = _files(tmp_path / "data")
    files[2].image.write_bytes(b"not a picture")
    with pytest.raises(InputError, match=r"photo2\.png cannot be decoded"):
        CachedPictures(files, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_missing_file_is_named_before_anything_is_decoded(tmp_path: Path) -> None:
    files = _files(tmp_path / "data")
    files[2].mask.unlink()
    with pytest.raises(InputError, match=r"masks/photo2\.png is missing"):
        CachedPictures(files, tmp_path / "cache")


def test_workers_map_the_cache_themselves(tmp_path: Path) -> None:
    pictures = CachedPictures(_files(tmp_path / "data"), tmp_path / "cache")
    expected = pictures[0][0].copy()
    data = pickle.dumps(pictures)
    assert len(data) < expected.nbytes
    np.testing.assert_array_equal(pickle.loads(data)[0][0], expected)
