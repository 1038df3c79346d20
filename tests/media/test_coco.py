"""COCO: read by pycocotools, which is no part of the product."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mobilevos.media.coco import CocoWriter, bounding_box, encode_rle
from mobilevos.media.video import Frame, VideoInfo

pycoco = pytest.importorskip("pycocotools.mask", reason="pycocotools reads what we write")


@settings(max_examples=200, deadline=None)
@given(mask=arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_code_equals_that_of_pycocotools(mask: np.ndarray) -> None:
    ours, theirs = encode_rle(mask), pycoco.encode(np.asfortranarray(mask.astype(np.uint8)))
    assert ours["size"] == theirs["size"]
    assert ours["counts"].encode() == theirs["counts"]
    assert np.array_equal(pycoco.decode(ours).astype(bool), mask)


@pytest.mark.parametrize("fill", ["empty", "full", "one pixel", "last pixel", "blobs", "noise"])
def test_long_runs(fill: str) -> None:
    mask = np.zeros((480, 854), bool)
    if fill == "full":
        mask[:] = True
    elif fill == "one pixel":
        mask[300, 500] = True
    elif fill == "last pixel":
        mask[-1, -1] = True
    elif fill == "blobs":
        y, x = np.mgrid[:480, :854]
        mask = (np.hypot(x - 200, y - 200) < 150) | (np.hypot(x - 700, y - 300) < 99)
    elif fill == "noise":
        mask = np.random.default_rng(0).random((480, 854)) < 0.5
    assert encode_rle(mask)["counts"].encode() == pycoco.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"]


def test_bounding_box() -> None:
    mask = np.zeros((9, 12), bool)
    mask[2, 3] = mask[6, 10] = True
    assert bounding_box(mask) == [3, 2, 8, 5]


def test_file_is_read_by_pycocotools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pycocotools.coco import COCO

    rng = np.random.default_rng(0)
    masks = [rng.integers(0, 3, (20, 30)).astype(np.uint8) * 2 for _ in range(4)]
    masks[2][:] = 0
    path = tmp_path / "out.json"
    writer = CocoWriter(path, VideoInfo(30, 20, Fraction(25), Fraction(1, 25)))
    for index, ids in enumerate(masks):
        frame = Frame(index, Fraction(index, 25), np.zeros((20, 30, 3), np.uint8), f"frame {index}")
        writer.write(frame, ids, {2: 0.75})
        assert not path.exists()
    writer.close()
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]
    coco = COCO(str(path))
    capsys.readouterr()
    assert [category["name"] for category in coco.loadCats(coco.getCatIds())] == ["object 2", "object 4"]
    images = coco.loadImgs(coco.getImgIds())
    assert [(i["file_name"], i["time"], i["width"], i["height"]) for i in images] == [
        (f"frame {k}", k / 25, 30, 20) for k in range(4)
    ]
    for image, expected in zip(images, masks, strict=True):
        got = np.zeros((20, 30), np.uint8)
        for annotation in coco.loadAnns(coco.getAnnIds(imgIds=image["id"])):
            mask = coco.annToMask(annotation).astype(bool)
            got[mask] = annotation["category_id"]
            assert annotation["area"] == mask.sum()
            assert annotation["bbox"] == pycoco.toBbox(coco.annToRLE(annotation)).tolist()
            assert annotation.get("score") == (0.75 if annotation["category_id"] == 2 else None)
        assert np.array_equal(got, expected)


def test_no_frames_and_dropped_work(tmp_path: Path) -> None:
    info = VideoInfo(30, 20, Fraction(25), Fraction(1, 25))
    CocoWriter(tmp_path / "a.json", info).close()
    assert json.loads((tmp_path / "a.json").read_text()) == {"categories": [], "images": [], "annotations": []}
    CocoWriter(tmp_path / "b.json", info).abort()
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
