"""CVAT: its own types, and the part of its agent that calls a tracking function. A server is not at hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from mobilevos import InputError, Tracker
from mobilevos.integrations import cvat

cvataa = pytest.importorskip("cvat_sdk.auto_annotation", reason="cvat-sdk is not installed")
driver = pytest.importorskip("cvat_cli._internal.agent_driver", reason="cvat-cli is not installed")

from cvat_cli._internal import agent_driver_tracking as tracking  # noqa: E402
from cvat_cli._internal.common import FunctionLoader  # noqa: E402
from cvat_sdk.masks import decode_mask, encode_mask  # noqa: E402

Clip = tuple[np.ndarray, np.ndarray]
TASK = 12


def function() -> Any:
    """As cvat-cli loads it: `--function-module mobilevos.integrations.cvat -p runtime=str:onnx -p size=int:96`."""
    return FunctionLoader("mobilevos.integrations.cvat", None, {"runtime": "onnx", "size": 96}).load()


@pytest.fixture
def agent() -> Iterator[Any]:
    """The inside of an agent's worker."""
    numbers = iter(range(1000))
    tracking.AgentTrackingFunctionDriver.init_worker(lambda: f"state {next(numbers)}")
    loaded = function()
    driver.set_worker_current_function(loaded)
    yield loaded
    del driver._current_function


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    return float((a & b).sum() / (a | b).sum())


def mask_of(shape: Any, size: tuple[int, int]) -> np.ndarray:
    height, width = size
    if shape.type == "mask":
        return np.asarray(decode_mask(shape.points, image_width=width, image_height=height))
    corners = np.floor(np.reshape(shape.points, (-1, 2))).astype(np.int32)
    return cv2.fillPoly(np.zeros(size, np.uint8), [corners], (1,)).astype(bool)


def shape_of(mask: np.ndarray, kind: str) -> Any:
    if kind == "mask":
        return cvataa.TrackableShape(type=kind, points=encode_mask(mask))
    if kind == "rectangle":
        x, y, w, h = cv2.boundingRect(mask.astype(np.uint8))
        return cvataa.TrackableShape(type=kind, points=[x, y, x + w, y + h])
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(contours, key=cv2.contourArea)
    return cvataa.TrackableShape(type=kind, points=(outline.ravel() + 0.5).tolist())


def run(clip: Clip, shapes: list[Any]) -> list[list[Any]]:
    """For each further frame the shapes, by the agent's code."""
    frames = [Image.fromarray(frame) for frame in clip[0]]
    states = tracking._worker_job_init_tracking(TASK, frames[0], shapes)
    return [tracking._worker_job_track(TASK, frame, states) for frame in frames[1:]]


def test_what_the_agent_registers() -> None:
    fields = tracking.AgentTrackingFunctionDriver.get_remote_function_fields(function().spec)
    assert fields == {"supported_shape_types": ["mask", "polygon", "rectangle"]}


def test_masks_are_those_of_the_tracker(agent: Any, clip: Clip) -> None:
    """Two objects at once: what comes back is what one tracker with both says, pixel by pixel."""
    frames, ids = clip
    found = run(clip, [shape_of(ids[0] == i, "mask") for i in (1, 2)])
    tracker = Tracker.load("mobilenetv2-lite", "onnx", size=96)
    tracker.start(frames[0], ids[0])
    for frame, shapes in zip(frames[1:], found, strict=True):
        expected = tracker.step(frame).mask
        assert [shape.type for shape in shapes] == ["mask", "mask"]
        json.dumps([shape.points for shape in shapes])  # it goes to the server as JSON
        for identity, shape in zip((1, 2), shapes, strict=True):
            assert np.array_equal(mask_of(shape, expected.shape), expected == identity)


def test_objects_together_are_one_step_a_frame(agent: Any, clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    step = Tracker.step
    monkeypatch.setattr(Tracker, "step", lambda self, frame: (steps.append(self), step(self, frame))[1])
    run(clip, [shape_of(clip[1][0] == i, "mask") for i in (1, 2)])
    assert len(steps) == 3
    everything = shape_of(clip[1][0] > 0, "mask")  # covers the others: it has a tracker of its own
    steps.clear()
    run(clip, [everything, *(shape_of(clip[1][0] == i, "mask") for i in (1, 2))])
    assert len(steps) == 6
    assert len(set(map(id, steps))) == 2


def test_polygons(agent: Any, clip: Clip) -> None:
    ids = clip[1]
    shapes = [shape_of(ids[0] == i, "polygon") for i in (1, 2)]
    for number, found in enumerate(run(clip, shapes), start=1):
        for identity, shape in zip((1, 2), found, strict=True):
            assert shape.type == "polygon"
            assert 6 <= len(shape.points) < 200
            assert overlap(mask_of(shape, ids[0].shape), ids[number] == identity) > 0.75


def test_rectangles(agent: Any, clip: Clip) -> None:
    """The object in the box is found, followed, and boxed again."""
    ids = clip[1]
    for number, (shape,) in enumerate(run(clip, [shape_of(ids[0] == 2, "rectangle")]), start=1):
        x, y, w, h = cv2.boundingRect((ids[number] == 2).astype(np.uint8))
        truth, box = np.zeros(ids[0].shape, bool), np.zeros(ids[0].shape, bool)
        truth[y : y + h, x : x + w] = True
        left, top, right, bottom = map(int, shape.points)
        box[top:bottom, left:right] = True
        assert overlap(box, truth) > 0.6


def test_outlines_come_back_exactly() -> None:
    """What we give as a polygon is what we take from one, where it is not made coarser."""
    y, x = np.mgrid[:60, :80]
    mask = np.hypot(x - 40, y - 30) < 20
    points = cvat._points(mask, "polygon")
    back = mask_of(cvataa.TrackableShape(type="polygon", points=points), mask.shape)
    assert overlap(back, mask) > 0.95
    box = np.zeros((60, 80), bool)
    box[10:20, 30:50] = True
    assert cvat._points(box, "rectangle") == [30, 10, 50, 20]
    polygon = cvataa.TrackableShape(type="polygon", points=cvat._points(box, "polygon"))
    assert np.array_equal(mask_of(polygon, box.shape), box)


@pytest.mark.parametrize("kind", cvat.KINDS)
def test_what_is_gone_is_nothing(kind: str) -> None:
    assert cvat._points(np.zeros((9, 9), bool), kind) == []


def test_the_same_frame_again_is_no_step(clip: Clip) -> None:
    loaded = function()
    context = tracking._TrackingFunctionShapeContextImpl(original_shape_type="mask")
    frames = [loaded.preprocess_image(context, Image.fromarray(frame)) for frame in clip[0]]
    state = loaded.init_tracking_state(context, frames[0], shape_of(clip[1][0] == 1, "mask"))
    drawn = loaded.track(context, frames[0], state)
    assert np.array_equal(mask_of(drawn, clip[1][0].shape), clip[1][0] == 1)
    once, twice = loaded.track(context, frames[1], state), loaded.track(context, frames[1], state)
    assert once == twice


def test_a_shape_outside_of_the_frame(clip: Clip) -> None:
    loaded = function()
    context = tracking._TrackingFunctionShapeContextImpl(original_shape_type="polygon")
    shape = cvataa.TrackableShape(type="polygon", points=[900, 900, 950, 900, 950, 950])
    with pytest.raises(InputError, match="the polygon covers no pixel"):
        loaded.init_tracking_state(context, clip[0][0], shape)


def test_without_it_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvat_sdk.auto_annotation", None)
    with pytest.raises(InputError, match=r"this needs cvat_sdk.auto_annotation: pip install 'mobilevos\[cvat\]'"):
        cvat.create(runtime="onnx")
