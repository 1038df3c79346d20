"""Mask files: exact in and out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.masks import load_mask, read_mask, write_mask
from mobilevos.media.palette import davis_palette, vivid_palette


def test_palette_is_that_of_pascal_voc() -> None:
    # From the published colour map: aeroplane, bicycle, bird, boat, bottle, potted plant, void's index.
    expected = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 3: (128, 128, 0), 4: (0, 0, 128), 5: (128, 0, 128)}
    expected |= {8: (64, 0, 0), 16: (0, 64, 0), 20: (0, 64, 128), 255: (224, 224, 192)}
    for index, colour in expected.items():
        assert tuple(davis_palette()[index]) == colour
    assert len(np.unique(davis_palette(), axis=0)) == 256


def test_palette_equals_the_one_in_the_real_files(shared_data: Path) -> None:
    path = next((shared_data / "voc-objects" / "masks").glob("*.png"))
    used = np.unique(read_mask(path))
    with Image.open(path) as image:
        real = np.array(image.getpalette()).reshape(-1, 3)
    used = used[used < len(real)]
    assert np.array_equal(real[used], davis_palette()[used])


def test_vivid_palette_tells_neighbours_apart() -> None:
    colours = vivid_palette().astype(int)
    assert not colours[0].any()
    assert np.abs(np.diff(colours[1:40], axis=0)).max(axis=1).min() > 60


@settings(max_examples=25, deadline=None)
@given(ids=arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_written_mask_reads_back(tmp_path_factory: pytest.TempPathFactory, ids: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("masks") / "m.png"
    write_mask(path, ids)
    assert np.array_equal(read_mask(path), ids)
    with Image.open(path) as image:
        assert image.mode == "P"
        assert np.array_equal(np.array(image), ids)
        assert np.array_equal(np.array(image.getpalette()).reshape(-1, 3), davis_palette())
    assert [p.name for p in path.parent.iterdir()] == ["m.png"]


@pytest.mark.parametrize("mode", ["1-bit", "0/255", "gray", "palette"])
def test_reads_clean_files_exactly(tmp_path: Path, mode: str) -> None:
    shape = np.zeros((6, 8), np.uint8)
    shape[2:4, 3:7] = 1
    values = {"1-bit": shape, "0/255": shape * 255, "gray": shape * 7, "palette": shape * 255}[mode]
    image = Image.fromarray(values)
    if mode == "1-bit":
        image = Image.fromarray(values.astype(bool))
    if mode == "palette":
        image.putpalette([0, 0, 0] * 256)  # the colours do not matter
    image.save(tmp_path / "m.png")
    expected = {"1-bit": shape, "0/255": shape, "gray": shape * 7, "palette": shape * 255}[mode]
    got = read_mask(tmp_path / "m.png")
    assert got.dtype == np.uint8
    assert np.array_equal(got, expected)


def test_reads_davis_annotations_as_zero_and_one(shared_data: Path) -> None:
    path = shared_data / "davis-2016-train" / "Annotations" / "480p" / "elephant" / "00000.png"
    assert np.unique(read_mask(path)).tolist() == [0, 1]


def test_read_refuses_what_is_no_mask(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "rgb.png")
    (tmp_path / "text.png").write_text("not a picture")
    (tmp_path / "empty.png").touch()
    whole = tmp_path / "whole.png"
    write_mask(whole, np.arange(256, dtype=np.uint8).reshape(16, 16))
    (tmp_path / "cut.png").write_bytes(whole.read_bytes()[:-300])
    for name, sentence in {
        "rgb.png": "mode RGB",
        "text.png": "cannot be read",
        "empty.png": "cannot be read",
        "cut.png": "cannot be read",
        "none.png": "no such file",
    }.items():
        with pytest.raises(InputError, match=sentence):
            read_mask(tmp_path / name)


def test_write_refuses_what_is_no_mask(tmp_path: Path) -> None:
    for bad in (np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.float32), np.full((2, 2), 256), np.full((2, 2), -1)):
        with pytest.raises(InputError, match="expected"):
            write_mask(tmp_path / "m.png", bad)
    with pytest.raises(InputError, match="cannot write"):
        write_mask(tmp_path / "no folder" / "m.png", np.zeros((2, 2), np.uint8))
    assert not list(tmp_path.iterdir())


def test_load_names_the_file_in_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "bläck mask.png"
    write_mask(path, np.zeros((3, 3), np.uint8))
    with pytest.raises(InputError, match=r"bläck mask\.png: expected a mask with at least one object"):
        load_mask(path)


def test_a_picture_that_would_fill_the_memory_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    Image.new("1", (1 << 14, 1 << 13)).save(tmp_path / "huge.png")
    for read in (read_mask, load_mask):
        with pytest.raises(InputError, match=r"at most 67108864 pixels, but .*huge.png has 16384 x 8192"):
            read(tmp_path / "huge.png")


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_what_cannot_be_a_name_is_no_file(name: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_mask(name)
