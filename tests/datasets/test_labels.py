"""One rule for label maps, whoever reads them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.arrays import VOID
from mobilevos.datasets.davis import davis_videos
from mobilevos.datasets.labels import read_labels
from mobilevos.media.masks import load_mask, read_mask, write_mask
from tests.builders.davis import write_davis

IDS = np.array([[0, 1, 1, 0], [0, 2, 2, 0], [0, 0, 0, 0]], np.uint8)
WITH_VOID = np.where(np.arange(4) == 3, np.uint8(VOID), IDS)


def save(path: Path, values: np.ndarray, mode: str) -> Path:
    if mode == "P":
        write_mask(path, values)
    else:
        Image.fromarray(values).save(path)
    return path


@pytest.mark.parametrize("mode", ["L", "P"])
def test_all_readers_agree_on_ids_with_void(tmp_path: Path, mode: str) -> None:
    path = save(tmp_path / "mask.png", WITH_VOID, mode)
    np.testing.assert_array_equal(read_labels(path), WITH_VOID)
    np.testing.assert_array_equal(read_mask(path), WITH_VOID)
    repaired = load_mask(path)  # what people bring has no void: they are told
    np.testing.assert_array_equal(repaired.ids, IDS)
    assert "void" in repaired.notes[0]


@pytest.mark.parametrize("values", [np.minimum(IDS, 1) * np.uint8(255), np.minimum(IDS, 1) > 0])
def test_white_on_black_is_one_object(tmp_path: Path, values: np.ndarray) -> None:
    path = save(tmp_path / "mask.png", values, "")
    for ids in (read_labels(path), read_mask(path), load_mask(path).ids):
        np.testing.assert_array_equal(ids, np.minimum(IDS, 1))


def test_soft_drawings_are_one_object_in_datasets(tmp_path: Path) -> None:
    path = save(tmp_path / "mask.png", np.array([[0, 90, 127, 128, 200, 255]], np.uint8), "L")
    np.testing.assert_array_equal(read_labels(path), [[0, 0, 0, 1, 1, 1]])


@pytest.mark.parametrize("ending", ["jpg", "png", "webp"])
def test_frames_of_every_kind_are_found_with_their_labels(tmp_path: Path, ending: str) -> None:
    frame = np.full((3, 4, 3), 90, np.uint8)
    (video,) = davis_videos(write_davis(tmp_path, {"clip": ([frame], [WITH_VOID])}, ending=ending), ["clip"])
    assert video.picture("00000").shape == (3, 4, 3)
    np.testing.assert_array_equal(video.labels("00000"), WITH_VOID)
