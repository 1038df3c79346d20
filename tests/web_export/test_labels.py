"""Masks and COCO as the browser app writes them, read by others: Pillow, zipfile, pycocotools, and our own package."""

import json
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask

from mobilevos.media.coco import CocoWriter
from mobilevos.media.palette import davis_palette
from mobilevos.media.video import Frame, VideoInfo
from tests.web_export.node import need_node, node

TIMES = [0.0, 1 / 30, 0.5, 0.75, 2.0]


def labels() -> np.ndarray:
    """(5, 37, 53) uint8: blobs of several objects, noise, one object everywhere, nothing, and ids at the corners."""
    rng = np.random.default_rng(0)
    ids = np.zeros((5, 37, 53), np.uint8)
    ids[0, 5:20, 7:30] = 1
    ids[0, 12:33, 25:53] = 3
    ids[1] = rng.integers(0, 4, ids[1].shape)
    ids[2] = 2
    ids[4, 0, 0], ids[4, -1, -1], ids[4, 10:12, 10:50] = 255, 1, 7
    return ids


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_node()
    folder = tmp_path_factory.mktemp("labels")
    ids = labels()
    clip = {
        "width": ids.shape[2],
        "height": ids.shape[1],
        "timestamps": TIMES,
        "durations": [0.04] * len(TIMES),
        "names": ["a cat", 'the "dog"', "object 3"],
    }
    (folder / "clip.json").write_text(json.dumps(clip))
    (folder / "labels.bin").write_bytes(ids.tobytes())
    node("tests/export/write-labels.mjs", folder)
    return folder


def test_the_parts_by_themselves() -> None:
    need_node()
    node("--test", "tests/export/parts.test.mjs")


def test_masks_are_exact_and_in_the_colours_of_davis(folder: Path) -> None:
    with zipfile.ZipFile(folder / "masks.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"{i:05d}.png" for i in range(len(TIMES))]
        for name, ids in zip(archive.namelist(), labels(), strict=True):
            with archive.open(name) as file, Image.open(file) as image:
                assert image.mode == "P"
                np.testing.assert_array_equal(np.asarray(image), ids)
                palette = image.getpalette()
                assert palette is not None
                np.testing.assert_array_equal(np.reshape(palette, (256, 3)), davis_palette())


def test_run_lengths_are_those_of_pycocotools(folder: Path) -> None:
    coco = json.loads((folder / "coco.json").read_text())
    found = {(a["image_id"] - 1, a["category_id"]): a for a in coco["annotations"]}
    expected = {(i, int(n)) for i, ids in enumerate(labels()) for n in np.unique(ids[ids > 0])}
    assert set(found) == expected
    for (i, identity), annotation in found.items():
        mask = np.asfortranarray(labels()[i] == identity)
        code = coco_mask.encode(mask.astype(np.uint8))
        assert annotation["segmentation"] == {"size": list(code["size"]), "counts": code["counts"].decode()}
        assert annotation["area"] == coco_mask.area(code)
        assert annotation["bbox"] == coco_mask.toBbox(code).tolist()


def test_the_same_file_as_the_package_writes(folder: Path, tmp_path: Path) -> None:
    """All but the names people give to objects, and confidence, which the page does not have."""
    ids = labels()
    info = VideoInfo(width=53, height=37, rate=Fraction(25), time_base=Fraction(1, 1000))
    writer = CocoWriter(tmp_path / "coco.json", info)
    for i, (time, frame_ids) in enumerate(zip(TIMES, ids, strict=True)):
        frame = Frame(i, Fraction(time), np.zeros((37, 53, 3), np.uint8), f"{i:05d}")
        writer.write(frame, frame_ids, {})
    writer.close()
    ours = json.loads((tmp_path / "coco.json").read_text())
    theirs = json.loads((folder / "coco.json").read_text())
    assert [c.pop("name") for c in theirs["categories"]] == ["a cat", 'the "dog"', "object 3", "object 7", "object 255"]
    for category in ours["categories"]:
        del category["name"]
    assert theirs == ours
