"""supervision: results as detections, and back."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from mobilevos import InputError, Tracker, TrackResult
from mobilevos.integrations.supervision import from_detections, marks_of, to_detections

sv = pytest.importorskip("supervision", reason="supervision is not installed")

Clip = tuple[np.ndarray, np.ndarray]


def followed(clip: Clip) -> TrackResult:
    tracker = Tracker.load("mobilenetv2-lite", "onnx", size=96)
    tracker.start(clip[0][0], clip[1][0])
    return tracker.step(clip[0][1])


def test_there_and_back(clip: Clip) -> None:
    result = followed(clip)
    detections = to_detections(result, classes={2: 7})
    assert detections.tracker_id.tolist() == [1, 2]
    assert detections.class_id.tolist() == [0, 7]
    assert dict(zip([1, 2], detections.confidence.tolist(), strict=True)) == result.confidence
    assert np.array_equal(detections.mask, [result.mask == 1, result.mask == 2])
    back = from_detections(detections, clip[0][1])
    assert (back.ids, back.confidence) == (result.ids, result.confidence)
    assert np.array_equal(back.mask, result.mask)
    assert np.array_equal(back.probabilities.argmax(0), result.mask)


def test_boxes_end_behind_the_last_pixel() -> None:
    frame, mask = np.zeros((20, 30, 3), np.uint8), np.zeros((1, 20, 30), bool)
    mask[0, 3:9, 5:21] = True
    result = from_detections(sv.Detections(xyxy=np.zeros((1, 4)), mask=mask), frame)
    assert (result.ids, result.confidence) == ((1,), {1: 1.0})
    detections = to_detections(result)
    assert detections.xyxy.tolist() == [[5, 3, 21, 9]]
    assert detections.box_area.tolist() == [mask.sum()]


def test_an_object_that_is_gone_is_no_detection(clip: Clip) -> None:
    frame, ids = clip[0][0], clip[1][0]
    tracker = Tracker.load("mobilenetv2-lite", "onnx", size=96)
    tracker.start(frame, ids)
    assert to_detections(tracker.correct(np.where(ids == 2, ids, 0))).tracker_id.tolist() == [2]
    nothing = to_detections(tracker.correct(np.zeros_like(ids)))
    assert (len(nothing), nothing.mask.shape) == (0, (0, *ids.shape))
    assert from_detections(nothing, frame).ids == ()
    assert np.array_equal(sv.MaskAnnotator().annotate(frame.copy(), nothing), frame)


def test_the_surer_one_has_the_pixel() -> None:
    frame, masks = np.zeros((16, 16, 3), np.uint8), np.zeros((2, 16, 16), bool)
    masks[0, :10], masks[1, 6:] = True, True
    detections = sv.Detections(
        xyxy=np.zeros((2, 4)), mask=masks, confidence=np.array([0.9, 0.2]), tracker_id=np.array([4, 9])
    )
    mask = from_detections(detections, frame).mask
    assert (mask[:10] == 4).all()
    assert (mask[10:] == 9).all()


def test_boxes_of_a_detector_become_masks(clip: Clip) -> None:
    frame, ids = clip[0][0], clip[1][0]
    truth = sv.Detections(xyxy=sv.mask_to_xyxy(np.stack([ids == 1, ids == 2])) + np.array([0, 0, 1, 1]))
    marks = marks_of(truth, frame)
    assert list(marks) == [1, 2]
    for identity, mark in marks.items():
        rows, columns = np.nonzero(ids == identity)
        assert mark.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
        assert (mark[ids == identity] == 1).all()
    proposed = Tracker.load("mobilenetv2-lite", "onnx", size=96).propose(frame, marks)
    assert set(np.unique(proposed.mask)) == {0, 1, 2}


def test_its_tools_take_them(clip: Clip) -> None:
    """A counting line and zones need ids, annotators need masks."""
    detections = to_detections(followed(clip))
    picture = sv.MaskAnnotator().annotate(clip[0][1].copy(), detections)
    changed = (picture != clip[0][1]).any(-1)
    assert np.array_equal(changed | ~detections.mask.any(0), np.ones_like(changed))
    assert not changed[~detections.mask.any(0)].any()
    everywhere = sv.PolygonZone(np.array([[0, 0], [160, 0], [160, 96], [0, 96]]))
    assert everywhere.trigger(detections).tolist() == [True, True]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "expected detections with masks"),
        ({"mask": np.ones((2, 8, 8), bool)}, r"expected masks of the frame's size \(9, 9\), got \(8, 8\)"),
        ({"mask": np.ones((2, 9, 9), bool), "tracker_id": np.array([3, 3])}, r"a tracker_id for each object"),
        ({"mask": np.ones((2, 9, 9), bool), "tracker_id": np.array([1, 256])}, "between 1 and 255"),
    ],
)
def test_detections_that_cannot_be_taken(fields: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_detections(sv.Detections(xyxy=np.zeros((2, 4)), **fields), np.zeros((9, 9, 3), np.uint8))


def test_without_it_one_sentence(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    result = followed(clip)
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(InputError, match=r"this needs supervision: pip install 'mobilevos\[supervision\]'"):
        to_detections(result)
