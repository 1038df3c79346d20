"""Edge controls on the way: what is recorded, what is drawn, and the same after a kill."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.edges import Edges, smoothed
from mobilevos.media.video import Frame
from mobilevos.pipeline import FrameMarks, passes, segment
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.pipeline.smoothing import Drawn, Smoothing
from tests.pipeline.colours import tracker
from tests.pipeline.test_run import files, masks, only

COUNT = 12
FORMATS = ["masks", "overlay", "cutout"]


def drawn(index: int) -> Drawn:
    ids = np.zeros((24, 24), np.uint8)
    ids[4:14, 2 : 14 + (index == 3)] = 1
    return Drawn(Frame(index, Fraction(index), np.zeros((24, 24, 3), np.uint8), f"{index}"), ids, {1: 0.5})


def test_each_frame_is_averaged_with_as_many_before_as_after() -> None:
    frames = [drawn(index) for index in range(7)]
    smoothing, given = Smoothing(2), []
    for index, item in enumerate(frames):
        given += smoothing.put(item, exact=index == 4)
        assert len(given) == max(0, index - 1)
    given += smoothing.rest()
    assert [item.frame.index for item in given] == list(range(7))
    raw = [item.ids for item in frames]
    near = {0: 0, 1: 1, 2: 2, 3: 2, 4: 0, 5: 1, 6: 0}
    for index, reach in near.items():
        expected = smoothed(raw[index - reach : index + reach + 1], reach) if reach else raw[index]
        np.testing.assert_array_equal(given[index].ids, expected)
    assert any((given[index].ids != raw[index]).any() for index in near)


def test_nothing_waits_where_nothing_is_smoothed() -> None:
    first = drawn(0)
    assert list(Smoothing(0).put(first)) == [first]


def test_masks_grow_also_where_they_are_marked(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    marks = {0: FrameMarks(only(truth[0], 1))}
    segment(tracker(), clip, marks, tmp_path / "plain", formats=["masks"])
    segment(tracker(), clip, marks, tmp_path / "grown", formats=["masks"], edges=Edges(grow=3))
    for small, large in zip(masks(tmp_path / "plain"), masks(tmp_path / "grown"), strict=True):
        rows, columns = np.nonzero(small)
        more, wider = np.nonzero(large)
        assert (more.min(), wider.max()) == (rows.min() - 3, columns.max() + 3)
    with pytest.raises(InputError, match="its grow was 3, now it is 0"):
        segment(tracker(), clip, marks, tmp_path / "grown", formats=["masks"], resume=True)
    with pytest.raises(InputError, match="cannot grow masks by 100000 pixels"):
        segment(tracker(), clip, marks, tmp_path / "bad", edges=Edges(grow=100_000))
    assert not (tmp_path / "bad").exists()


def test_smoothed_runs_survive_a_stop(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is what was found; masks and videos are drawn from it again."""
    options = {"formats": FORMATS, "edges": Edges(smooth=2), "feather": 3.0}
    marks = {0: FrameMarks(truth[0]), 7: FrameMarks(only(truth[7], 1))}
    segment(tracker(), clip, marks, tmp_path / "whole", **options)  # type: ignore[arg-type]
    take = MarkFollower.take

    def interrupted(self: MarkFollower, index: int, frame: np.ndarray) -> FollowedFrame:
        if index == 9:
            raise KeyboardInterrupt
        return take(self, index, frame)

    monkeypatch.setattr(passes, "SNAPSHOT_SECONDS", 0)
    monkeypatch.setattr(passes, "SNAPSHOT_SHARE", 1e9)
    with monkeypatch.context() as patch:
        patch.setattr(MarkFollower, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            segment(tracker(), clip, marks, tmp_path / "cut", **options)  # type: ignore[arg-type]
    assert len(list((tmp_path / "cut" / ".again" / "masks").glob("*.png"))) == 9
    result = segment(tracker(), clip, marks, tmp_path / "cut", resume=True, **options)  # type: ignore[arg-type]
    assert result.network_frames < COUNT - 1
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert len(masks(tmp_path / "whole")) == COUNT
