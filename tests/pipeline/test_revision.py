"""A run goes on with further marks to what it would have been with them at once; what they do not change stays."""

import gc
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.edges import Edges
from mobilevos.media.masks import read_mask, write_mask
from mobilevos.pipeline import FrameMarks, Prompt, Segmented, passes, run, segment
from mobilevos.pipeline.passes import States
from mobilevos.pipeline.refine import Guess
from tests.pipeline.colours import squares, tracker
from tests.pipeline.test_run import files, masks, only

COUNT = 40
FORMATS = ["masks", "overlay", "coco"]


@pytest.fixture(autouse=True)
def states(monkeypatch: pytest.MonkeyPatch) -> None:
    """One every fourth frame."""
    monkeypatch.setattr(passes, "STATE_FRAMES", 4)


def follow(clip: Path, marks: dict[int, FrameMarks], folder: Path, **options: object) -> Segmented:
    return segment(tracker(), clip, marks, folder, **{"formats": FORMATS, **options})  # type: ignore[arg-type]


def results(folder: Path) -> dict[str, bytes]:
    """All but the states, of which there may be more."""
    return {name: data for name, data in files(folder).items() if not name.endswith(".npz")}


@pytest.mark.parametrize("smooth", [0, 2])
def test_a_correction_of_a_finished_run(clip: Path, truth: list[np.ndarray], tmp_path: Path, smooth: int) -> None:
    """Frames before it are not followed again, but for those since the last state, which was after frame 24."""
    marks, edges = {0: FrameMarks(truth[0])}, Edges(smooth=smooth)
    follow(clip, marks, tmp_path / "in steps", edges=edges)
    more = marks | {26: FrameMarks(only(np.roll(truth[26], 4, axis=1), 2))}
    went = follow(clip, more, tmp_path / "in steps", edges=edges, resume=True)
    assert (went.frames, went.complete, went.network_frames) == (COUNT, False, COUNT - 1 - 24)
    assert went.notes == ("Frames before number 26 are those of before.",)
    follow(clip, more, tmp_path / "at once", edges=edges)
    assert results(tmp_path / "in steps") == results(tmp_path / "at once")
    assert follow(clip, more, tmp_path / "in steps", edges=edges, resume=True).complete


def test_masks_before_it_are_those_that_were_there(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Also where somebody has changed one by hand; after it, they are made anew."""
    marks = {0: FrameMarks(truth[0])}
    follow(clip, marks, tmp_path)
    mine = np.zeros_like(truth[0])
    mine[10:20, 10:20] = 2
    for frame in (5, 30):
        write_mask(tmp_path / "masks" / f"{frame:05d}.png", mine)
    follow(clip, marks | {20: FrameMarks(gone=frozenset({1}))}, tmp_path, resume=True)
    np.testing.assert_array_equal(masks(tmp_path)[5], mine)
    assert not np.array_equal(masks(tmp_path)[30], mine)


def test_a_further_object_is_followed_back_into_what_is_there(
    clip: Path, truth: list[np.ndarray], tmp_path: Path
) -> None:
    marks = {0: FrameMarks(only(truth[0], 1))}
    follow(clip, marks, tmp_path / "in steps")
    more = marks | {18: FrameMarks(only(truth[18], 2))}
    went = follow(clip, more, tmp_path / "in steps", resume=True)
    assert went.network_frames == 18 + COUNT - 1 - 16  # back, and on from the state after frame 16
    follow(clip, more, tmp_path / "at once")
    assert results(tmp_path / "in steps") == results(tmp_path / "at once")
    assert all(set(np.unique(ids)) == {0, 1, 2} for ids in masks(tmp_path / "in steps"))
    # without it again, it is taken out
    follow(clip, marks, tmp_path / "in steps", resume=True)
    assert all(set(np.unique(ids)) == {0, 1} for ids in masks(tmp_path / "in steps"))


def test_an_object_that_grows_is_grown_once(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Frames that stay were cleaned before; only what comes into them is."""
    marks, edges = {0: FrameMarks(only(truth[0], 1))}, Edges(grow=2)
    follow(clip, marks, tmp_path / "in steps", edges=edges)
    more = marks | {18: FrameMarks(only(truth[18], 2))}
    follow(clip, more, tmp_path / "in steps", edges=edges, resume=True)
    follow(clip, more, tmp_path / "at once", edges=edges)
    assert results(tmp_path / "in steps") == results(tmp_path / "at once")


def test_a_late_object_and_a_correction_before_it(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Object 2 is marked in frame 30; it is followed back again only as far as frames are made anew."""
    marks = {0: FrameMarks(only(truth[0], 1)), 30: FrameMarks(only(truth[30], 2))}
    follow(clip, marks, tmp_path / "in steps")
    more = marks | {21: FrameMarks(only(np.roll(truth[21], 3, axis=1), 1))}
    went = follow(clip, more, tmp_path / "in steps", resume=True)
    assert went.network_frames == 30 - 21 + COUNT - 1 - 20
    follow(clip, more, tmp_path / "at once")
    assert results(tmp_path / "in steps") == results(tmp_path / "at once")


def test_a_kill_in_the_middle_of_going_on(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier results stay whole until the new ones are; the same command goes on; other marks begin from both."""
    out = tmp_path / "in steps"
    marks = {0: FrameMarks(only(truth[0], 1))}
    follow(clip, marks, out)
    before = files(out)

    def interrupt(frame: np.ndarray, prompt: Prompt) -> Guess:
        raise KeyboardInterrupt

    more = marks | {18: FrameMarks(only(truth[18], 2)), 33: FrameMarks(prompts={1: Prompt((35, 6, 24, 24))})}
    with pytest.raises(KeyboardInterrupt):
        follow(clip, more, out, resume=True, refine=interrupt)
    after = files(out)
    assert {name: after[name] for name in before} == before
    assert len(masks(out / ".new")) == 33
    most = marks | {18: more[18], 35: FrameMarks(gone=frozenset({2}))}
    went = follow(clip, most, out, resume=True)
    assert went.network_frames == COUNT - 1 - 32  # all that was done before the kill is used
    follow(clip, most, tmp_path / "at once")
    assert results(out) == results(tmp_path / "at once")


CHANGES = ("rename", "replace", "unlink", "rmdir", "mkdir", "link")


class Killed(BaseException):
    """In place of the end of the process."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of changes of folders after which nothing changes any more, and of those that there were."""
    limit_and_count = [0, 0]

    def guarded(change: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: object, **options: object) -> object:
            limit_and_count[1] += 1
            if 0 < limit_and_count[0] < limit_and_count[1]:
                raise Killed
            return change(*args, **options)

        return counted

    for name in CHANGES:
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))
    return limit_and_count


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # open files
@pytest.mark.parametrize("finished", [False, True])
def test_a_kill_at_any_change_of_the_folder(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, kill_at: list[int], finished: bool
) -> None:
    """Of a run, or of one that corrects a finished one: the same command makes of it what it would have been."""
    marks, formats = {0: FrameMarks(truth[0])}, ["masks", "coco"]
    before, at_once = tmp_path / "before", tmp_path / "at once"
    before.mkdir()
    if finished:
        follow(clip, marks, before, formats=formats)
        marks |= {36: FrameMarks(gone=frozenset({2}))}
    follow(clip, marks, at_once, formats=formats)
    expected = results(at_once)
    out = tmp_path / "in steps"
    shutil.copytree(before, out)
    kill_at[:] = [0, 0]
    follow(clip, marks, out, resume=True, formats=formats)
    count = kill_at[1]
    assert count > 20
    for limit in sorted({*range(1, count, 11), *range(count - 35, count)}):
        kill_at[:] = [0, 0]
        shutil.rmtree(out)
        shutil.copytree(before, out)
        kill_at[:] = [limit, 0]
        with pytest.raises(Killed):
            follow(clip, marks, out, resume=True, formats=formats)
        gc.collect()
        kill_at[:] = [0, 0]
        follow(clip, marks, out, resume=True, formats=formats)
        assert results(out) == expected, f"killed at change {limit} of {count}"


def test_further_formats_need_no_network(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Masks were not even among those asked for first."""
    marks = {0: FrameMarks(truth[0])}
    follow(clip, marks, tmp_path / "in steps", formats=["overlay"])
    went = follow(clip, marks, tmp_path / "in steps", formats=FORMATS, resume=True)
    assert went.network_frames == COUNT - 1 - 36  # since the last state
    follow(clip, marks, tmp_path / "at once")
    assert results(tmp_path / "in steps").keys() - results(tmp_path / "at once").keys() == set()
    for found, expected in zip(masks(tmp_path / "in steps"), masks(tmp_path / "at once"), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_another_first_mark_is_another_run(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    follow(clip, {0: FrameMarks(truth[0])}, tmp_path)
    before = files(tmp_path)
    with pytest.raises(InputError, match="all of them are to be given again, and further ones"):
        follow(clip, {10: FrameMarks(truth[10])}, tmp_path, resume=True)
    assert files(tmp_path) == before


def test_states_are_few_however_long_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "save_state", lambda path, state, frame: path.touch())
    kept = States(tmp_path, first=100)
    for frame in range(100, 1100):
        if kept.due(frame):
            kept.save(None, frame)  # type: ignore[arg-type]
    left = sorted(int(path.stem) - 100 for path in tmp_path.iterdir())
    assert left == list(range(0, 1000, 128))
    assert len(left) <= passes.MOST_STATES


def test_pictures_with_names_of_their_own(tmp_path: Path, truth: list[np.ndarray]) -> None:
    from PIL import Image

    (tmp_path / "in").mkdir()
    for index, (picture, _) in enumerate(squares(20)):
        Image.fromarray(picture).save(tmp_path / "in" / f"scene {index + 1}.png")
    marks = {0: FrameMarks(truth[0])}
    follow(tmp_path / "in", marks, tmp_path / "out")
    went = follow(tmp_path / "in", marks | {15: FrameMarks(gone=frozenset({2}))}, tmp_path / "out", resume=True)
    assert went.network_frames == 19 - 12
    assert (read_mask(tmp_path / "out" / "masks" / "scene 15.png") == 2).any()
    assert not (read_mask(tmp_path / "out" / "masks" / "scene 16.png") == 2).any()
    assert run.CONFIDENCE in files(tmp_path / "out")
