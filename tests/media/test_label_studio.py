"""Label Studio: read back by a decoder written from the format's definition, and by its own package where it is."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mobilevos.media.label_studio import LabelStudioSink, brush_code
from tests.media.test_yolo import frame_of, scene


def decoded(code: list[int]) -> np.ndarray:
    """The values of rle-pack, bit by bit."""
    bits = iter("".join(f"{byte:08b}" for byte in code))

    def number(width: int) -> int:
        return int("".join(next(bits) for _ in range(width)), 2)

    count, width = number(32), number(5) + 1
    widths = [number(4) + 1 for _ in range(4)]
    values: list[int] = []
    while len(values) < count:
        repeated = number(1)
        length = 1 + number(widths[number(2)])
        values += [number(width)] * length if repeated else [number(width) for _ in range(length)]
    return np.array(values)


@settings(max_examples=100, deadline=None)
@given(mask=arrays(bool, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_code_says_the_mask(mask: np.ndarray) -> None:
    values = decoded(brush_code(mask)).reshape(*mask.shape, 4)
    assert np.array_equal(values, np.repeat(mask[..., None] * 255, 4, axis=2))


@pytest.mark.parametrize("fill", [False, True])
def test_runs_longer_than_a_length_can_say(fill: bool) -> None:
    mask = np.full((200, 400), fill)
    assert np.array_equal(decoded(brush_code(mask)), np.full(4 * mask.size, 255 * fill))


@pytest.mark.skipif(not importlib.util.find_spec("label_studio_sdk"), reason="needs label-studio-sdk")
def test_code_is_read_by_its_own_package() -> None:
    from label_studio_sdk.converter import brush

    mask = np.random.default_rng(0).random((70, 90)) < 0.5
    mask[20:60] = True
    assert np.array_equal(brush.decode_rle(brush_code(mask)).reshape(70, 90, 4)[..., 3] > 0, mask)


def test_the_folder(tmp_path: Path) -> None:
    sink, masks = LabelStudioSink(tmp_path / "label-studio"), [scene(), np.zeros((20, 30), np.uint8)]
    for number, ids in enumerate(masks):
        sink.write(frame_of(number, ids), ids, {1: 0.75, 3: 0.5})
    sink.close()
    folder = tmp_path / "label-studio"
    assert sorted(path.name for path in folder.iterdir()) == ["config.xml", "images", "tasks.json"]
    first, second = json.loads((folder / "tasks.json").read_text())
    assert first["data"] == {"image": "/data/local-files/?d=label-studio/images/00000.jpg", "frame": 0}
    (prediction,) = first["predictions"]
    assert prediction["score"] == 0.5
    for stroke, (identity, score) in zip(prediction["result"], ((1, 0.75), (3, 0.5)), strict=True):
        assert (stroke["score"], stroke["value"]["brushlabels"]) == (score, [f"object {identity}"])
        assert (stroke["original_width"], stroke["original_height"]) == (30, 20)
        back = decoded(stroke["value"]["rle"]).reshape(20, 30, 4)[..., 3] > 0
        assert np.array_equal(back, masks[0] == identity)
    assert second["predictions"][0]["result"] == []
    config = ElementTree.parse(folder / "config.xml").getroot()
    image, brush = config.find("Image"), config.find("BrushLabels")
    assert image is not None
    assert brush is not None
    assert {(s["from_name"], s["to_name"]) for s in prediction["result"]} == {(brush.get("name"), image.get("name"))}
    assert [label.get("value") for label in brush] == ["object 1", "object 3"]


def test_dropped_work(tmp_path: Path) -> None:
    sink = LabelStudioSink(tmp_path)
    sink.write(frame_of(0, scene()), scene(), {})
    sink.abort()
    assert [path.name for path in tmp_path.iterdir()] == ["images"]
