"""Frames and sinks of one's own: nothing has to be a file."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.video import Frame
from mobilevos.pipeline import FrameMarks, segment
from tests.builders.pictures import write_frames
from tests.pipeline.colours import squares, tracker
from tests.pipeline.test_run import masks, only

COUNT = 8


def camera(closed: list[bool]) -> Iterator[np.ndarray]:
    try:
        for picture, _ in squares(COUNT):
            yield picture
    finally:
        closed.append(True)


def test_a_generator_and_a_function(tmp_path: Path) -> None:
    """The same masks as from files; nothing is left, and the generator is closed."""
    truth = next(squares(1))[1]
    source = write_frames(tmp_path / "in", [picture for picture, _ in squares(COUNT)])
    segment(tracker(), source, {0: FrameMarks(truth)}, tmp_path / "out", formats=["masks"])
    got: list[tuple[int, np.ndarray, Mapping[int, float]]] = []
    closed: list[bool] = []

    def sink(frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        got.append((frame.index, ids, confidence))

    result = segment(tracker(), camera(closed), {0: FrameMarks(truth)}, None, sink=sink)
    assert (result.frames, result.folder, closed) == (COUNT, None, [True])
    assert [index for index, _, _ in got] == list(range(COUNT))
    for (_, ids, confidence), expected in zip(got, masks(tmp_path / "out"), strict=True):
        np.testing.assert_array_equal(ids, expected)
        assert set(confidence) == {1, 2}


def test_a_list_into_a_folder(tmp_path: Path) -> None:
    pictures, truth = [picture for picture, _ in squares(COUNT)], list(squares(COUNT))[3][1]
    marks = {3: FrameMarks(only(truth, 1))}
    result = segment(tracker(), pictures, marks, tmp_path, formats=["masks", "overlay"])
    assert len(masks(tmp_path)) == COUNT
    assert result.notes == ("the given frames can be read only once: before its first mark an object is not followed.",)


def test_a_sink_that_fails_ends_the_run(tmp_path: Path) -> None:
    def sink(frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        segment(tracker(), camera([]), {0: FrameMarks(next(squares(1))[1])}, None, sink=sink)


def test_frames_that_are_none(tmp_path: Path) -> None:
    marks = {0: FrameMarks(next(squares(1))[1])}
    good = next(squares(1))[0]
    for frames, message in (
        ([], "expected frames, but there are none in the given frames"),
        ([good[..., 0]], r"expected frames \(H, W, 3\) uint8, frame 0 is \(64, 96\) uint8"),
        ([good, good.astype(np.float32)], r"frame 1 is \(64, 96, 3\) float32"),
        (["text"], r"frame 0 is \(\) str"),
    ):
        with pytest.raises(InputError, match=message):
            segment(tracker(), frames, marks, tmp_path / "out")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot resume with the given frames"):
        segment(tracker(), [good], marks, tmp_path / "out", resume=True)
    with pytest.raises(InputError, match="only a sink can do without"):
        segment(tracker(), [good], marks, None)
