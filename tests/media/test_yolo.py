"""YOLO-seg: read back by supervision, which is no part of the product."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from mobilevos.media.video import Frame
from mobilevos.media.yolo import YoloSink, outline


def filled(polygon: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return cv2.fillPoly(np.zeros(shape, np.uint8), [polygon.astype(np.int32)], (1,)).astype(bool)


def scene() -> np.ndarray:
    """Object 1 with a hole, object 3 in two parts, 20 x 30."""
    ids = np.zeros((20, 30), np.uint8)
    ids[2:12, 2:12] = 1
    ids[5:9, 5:9] = 0
    ids[14:19, 3:8] = 3
    ids[14:19, 12:29] = 3
    return ids


def frame_of(number: int, ids: np.ndarray) -> Frame:
    return Frame(number, Fraction(number, 25), np.full((*ids.shape, 3), 90, np.uint8), f"{number:05d}")


def test_a_part_without_holes_comes_back_exactly() -> None:
    y, x = np.mgrid[:90, :120]
    mask = np.hypot(x - 60, y - 40) < 30
    assert np.array_equal(filled(outline(mask), mask.shape), mask)


def test_parts_and_holes_come_back_with_their_bridges() -> None:
    """One polygon; what is too much is a line of a pixel between neighbours: 5 columns of air, 3 of a hole's border."""
    ids = scene()
    for identity, bridge in ((1, 4), (3, 4)):
        mask = ids == identity
        back = filled(outline(mask), mask.shape)
        assert (back & mask).sum() == mask.sum()
        assert (back & ~mask).sum() <= bridge


@pytest.mark.parametrize("pixels", [[(3, 4)], [(3, 4), (3, 5)], [(0, 0)], [(9, 11)]])
def test_a_few_pixels_are_a_polygon(pixels: list[tuple[int, int]]) -> None:
    mask = np.zeros((10, 12), bool)
    for pixel in pixels:
        mask[pixel] = True
    polygon = outline(mask)
    assert len(polygon) >= 3
    assert np.array_equal(filled(polygon, mask.shape), mask)


def test_the_folder_is_read_by_supervision(tmp_path: Path) -> None:
    sv = pytest.importorskip("supervision", reason="supervision reads what we write")
    sink, masks = YoloSink(tmp_path / "yolo"), [scene(), np.zeros((20, 30), np.uint8), scene()[:, ::-1].copy()]
    for number, ids in enumerate(masks):
        sink.write(frame_of(number, ids), ids, {1: 0.5})
    assert not (tmp_path / "yolo" / "data.yaml").exists()
    sink.close()
    folder = tmp_path / "yolo"
    data = sv.DetectionDataset.from_yolo(
        str(folder / "images"), str(folder / "labels"), str(folder / "data.yaml"), force_masks=True
    )
    assert data.classes == ["object 1", "object 2", "object 3"]
    assert len(data) == 3
    for path, picture, detections in data:
        ids = masks[int(Path(path).stem)]
        assert picture.shape == (20, 30, 3)
        assert list(detections.class_id if len(detections) else []) == [i - 1 for i in np.unique(ids) if i]
        for class_id, mask in zip(detections.class_id, detections.mask, strict=True) if len(detections) else ():
            truth = ids == class_id + 1
            assert (mask & truth).sum() == truth.sum()
            assert (mask & ~truth).sum() <= 4


def test_readers_that_cut_off_find_the_same_pixels(tmp_path: Path) -> None:
    """Ultralytics makes whole numbers of corners by cutting off what is behind the point."""
    sink, ids = YoloSink(tmp_path), np.zeros((480, 853), np.uint8)
    cv2.circle(ids, (700, 200), 83, 1, -1)
    sink.write(frame_of(7, ids), ids, {})
    number, *values = (tmp_path / "labels" / "00007.txt").read_text().split()
    polygon = np.array(values, float).reshape(-1, 2) * (853, 480)
    assert number == "0"
    assert np.array_equal(filled(polygon, ids.shape), ids == 1)
    with Image.open(tmp_path / "images" / "00007.jpg") as picture:
        assert picture.size == (853, 480)


def test_nothing_to_see(tmp_path: Path) -> None:
    sink, ids = YoloSink(tmp_path), np.zeros((8, 8), np.uint8)
    sink.write(frame_of(0, ids), ids, {})
    sink.close()
    assert (tmp_path / "labels" / "00000.txt").read_text() == ""
    assert (tmp_path / "data.yaml").read_text().endswith("names: {}\n")
