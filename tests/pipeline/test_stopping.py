"""Following stops where an object is lost, and goes on with more marks to what it would have been with them at once."""

from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.pipeline import FrameMarks, passes, run, segment
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.pipeline.stopping import Lost, LostWatch
from tests.pipeline.colours import squares, tracker
from tests.pipeline.test_run import files, masks, only

COUNT, LEFT = 20, 6
FORMATS = ["masks", "overlay", "coco"]


@pytest.fixture(scope="module")
def truth() -> list[np.ndarray]:
    return [ids for _, ids in squares(COUNT)]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, truth: list[np.ndarray]) -> Path:
    """Pictures, with names that are no numbers; object 2 changes its colour in frame 6, so that it is lost."""
    folder = tmp_path_factory.mktemp("clip")
    for index, (picture, ids) in enumerate(squares(COUNT)):
        frame = np.where((ids == 2)[..., None] & (index >= LEFT), np.uint8((240, 220, 40)), picture)
        Image.fromarray(frame).save(folder / f"scene {index + 1}.png")
    return folder


def test_the_watch() -> None:
    """Three frames in a row; what is said to be gone does not count until it is found again."""
    marks = {
        0: FrameMarks(np.array([[1, 2]], np.uint8)),
        1: FrameMarks(gone=frozenset({2})),
        9: FrameMarks(np.array([[3]], np.uint8)),
    }
    values = {1: [1, 0, 0, 0.4, 0.3, 0.2, 0.9, 0.9, 0.9, 1], 2: [1, 1, 0, 0, 0, 0.7, 0, 0, 0, 0], 3: [0] * 9 + [1]}
    watch, lost = LostWatch(3, marks), []
    for index in range(10):
        watch.see(index, {identity: row[index] for identity, row in values.items()})
        lost.append(watch.lost)
    assert lost == [None] * 8 + [Lost(2, 6, 8)] * 2
    with pytest.raises(InputError, match="expected to stop after 1 or more frames without an object, got 0"):
        LostWatch(0, marks)


def stop(clip: Path, truth: list[np.ndarray], folder: Path) -> dict[int, FrameMarks]:
    marks = {0: FrameMarks(truth[0])}
    result = segment(tracker(), clip, marks, folder, formats=FORMATS, stop_when_lost=5)
    assert result.stopped
    assert result.frames == LEFT + 5
    assert len(result.notes) == 1
    assert f"Stopped after frame {LEFT + 4}: object 2 is lost since frame {LEFT}." in result.notes[0]
    return marks


def test_what_was_followed_is_finished(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    stop(clip, truth, tmp_path)
    assert len(masks(tmp_path)) == LEFT + 5
    with av.open(str(tmp_path / "overlay.mp4")) as video:
        assert len(list(video.decode(video=0))) == LEFT + 5
    assert (tmp_path / "coco.json").exists()
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(InputError, match="unfinished run: resume it"):
        segment(tracker(), clip, {0: FrameMarks(truth[0])}, tmp_path, formats=FORMATS)


@pytest.mark.parametrize(
    ("frame", "again"),
    [(LEFT, COUNT - LEFT), (LEFT + 2, COUNT - LEFT), (3, COUNT - 1), (LEFT + 7, COUNT - LEFT)],
    ids=["where it was lost", "later", "before", "not followed yet"],
)
def test_it_goes_on_with_more_marks(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, frame: int, again: int
) -> None:
    """The same files as with all marks at once, without following again what came before the object was lost."""
    marks = stop(clip, truth, tmp_path / "in steps") | {frame: FrameMarks(only(truth[frame], 2))}
    options = {"formats": FORMATS, "backward": True}
    result = segment(tracker(), clip, marks, tmp_path / "in steps", resume=True, **options)  # type: ignore[arg-type]
    assert (result.frames, result.stopped, result.network_frames) == (COUNT, False, again)
    segment(tracker(), clip, marks, tmp_path / "at once", **options)  # type: ignore[arg-type]
    assert files(tmp_path / "in steps") == files(tmp_path / "at once")


def test_it_goes_on_with_an_object_more(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """The new object is followed back to the start."""
    new = np.where(truth[8] == 2, np.uint8(3), np.uint8(0))
    marks = stop(clip, truth, tmp_path / "in steps") | {8: FrameMarks(new, gone=frozenset({2}))}
    segment(tracker(), clip, marks, tmp_path / "in steps", formats=FORMATS, resume=True)
    segment(tracker(), clip, marks, tmp_path / "at once", formats=FORMATS)
    assert files(tmp_path / "in steps") == files(tmp_path / "at once")


def test_it_goes_on_without_more_marks(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """It stops at the same place, or not at all where that is no longer asked for; other settings are refused."""
    marks = stop(clip, truth, tmp_path)
    again = segment(tracker(), clip, marks, tmp_path, formats=FORMATS, stop_when_lost=5, resume=True)
    assert (again.stopped, again.frames, again.network_frames) == (True, LEFT + 5, 5)
    more = marks | {LEFT: FrameMarks(gone=frozenset({2}))}
    with pytest.raises(InputError, match="its size was 480, now it is 32"):
        segment(tracker(size=32), clip, more, tmp_path, formats=FORMATS, resume=True)
    whole = segment(tracker(), clip, marks, tmp_path, formats=FORMATS, resume=True)
    assert (whole.stopped, whole.frames) == (False, COUNT)
    assert not (tmp_path / ".resume").exists()


def test_what_is_gone_does_not_stop(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    marks = stop(clip, truth, tmp_path) | {LEFT: FrameMarks(gone=frozenset({2}))}
    result = segment(tracker(), clip, marks, tmp_path, formats=FORMATS, stop_when_lost=5, resume=True)
    assert (result.stopped, result.frames) == (False, COUNT)


def test_frames_that_are_recorded_count(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is interrupted when the object has been lost for three frames; after two more it stops."""
    take = MarkFollower.take

    def interrupted(self: MarkFollower, index: int, frame: np.ndarray) -> FollowedFrame:
        if index == LEFT + 3:
            raise KeyboardInterrupt
        return take(self, index, frame)

    monkeypatch.setattr(passes, "SNAPSHOT_SECONDS", 0)
    monkeypatch.setattr(passes, "SNAPSHOT_SHARE", 1e9)
    marks = {0: FrameMarks(truth[0])}
    with monkeypatch.context() as patch:
        patch.setattr(MarkFollower, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            segment(tracker(), clip, marks, tmp_path, formats=["masks"])
    result = segment(tracker(), clip, marks, tmp_path, formats=["masks"], stop_when_lost=5, resume=True)
    assert (result.frames, result.stopped, result.network_frames) == (LEFT + 5, True, 2)


def test_a_kill_after_going_on(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there stays until all is complete; old masks from after the new mark are not taken for new ones."""
    marks = stop(clip, truth, tmp_path / "in steps") | {LEFT + 1: FrameMarks(only(truth[LEFT + 1], 2))}
    with monkeypatch.context() as patch:
        patch.setattr(run, "run_pass", lambda *rest: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            segment(tracker(), clip, marks, tmp_path / "in steps", formats=FORMATS, resume=True)
    assert len(masks(tmp_path / "in steps")) == LEFT + 5
    assert len(masks(tmp_path / "in steps" / ".new")) == LEFT + 1
    segment(tracker(), clip, marks, tmp_path / "in steps", formats=FORMATS, resume=True)
    segment(tracker(), clip, marks, tmp_path / "at once", formats=FORMATS)
    assert files(tmp_path / "in steps") == files(tmp_path / "at once")
