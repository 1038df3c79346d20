"""Marks are obeyed, whatever the network says, and a correction of one object is none of another."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask
from mobilevos.media.video import VideoInfo
from mobilevos.pipeline import FrameMarks, Prompt, segment
from mobilevos.pipeline.follow import MarkFollower
from mobilevos.pipeline.marks import check_marks, read_marks
from mobilevos.pipeline.record import read_rows
from mobilevos.pipeline.refine import Guess
from tests.pipeline.colours import squares, tracker, write_clip


def stubborn(frame: np.ndarray, prompt: Prompt) -> Guess:
    """A network that takes the left half for everything, and is not sure of it."""
    return Guess(np.broadcast_to(np.arange(frame.shape[1]) < frame.shape[1] // 2, frame.shape[:2]), 0.3)


def forbidden(frame: np.ndarray, prompt: Prompt) -> Guess:
    raise AssertionError("a known mask is to be mended, not made anew")


@pytest.fixture
def follower() -> MarkFollower:
    return MarkFollower(tracker(), {}, stubborn)


def test_fresh_marks_are_obeyed(follower: MarkFollower) -> None:
    frame, _ = next(squares(1))
    prompts = {1: Prompt(on=((10, 12), (80, 45)), off=((14, 12),)), 2: Prompt((0, 0, 90, 60), on=((12, 20),))}
    ids = follower.draw(0, FrameMarks(prompts=prompts), frame).ids
    assert ids[12, 10] == ids[45, 80] == 1
    assert ids[12, 14] != 1
    assert ids[20, 12] == 2


def test_a_guess_is_worth_what_it_is_worth(tmp_path: Path) -> None:
    """What was drawn has a confidence of 1, what was guessed has that of the guess, and a doubtful guess is said."""
    frames = [frame for frame, _ in squares(3)]
    drawn = np.zeros(frames[0].shape[:2], np.uint8)
    drawn[50:60, 50:60] = 2
    marks = {0: FrameMarks(drawn, prompts={1: Prompt(on=((10, 12),))})}
    result = segment(tracker(), frames, marks, tmp_path, formats=["masks"], refine=stubborn)
    rows = [row for row in read_rows(tmp_path / "confidence.csv") if row.frame == 0]
    assert [(row.identity, row.confidence) for row in rows] == [(1, 0.3), (2, 1.0)]
    assert [note for note in result.notes if "doubtful guess (confidence 0.30)" in note and "Object 1" in note]


def test_clicks_mend_one_object_and_no_other() -> None:
    """Object 1 has lost a corner and taken some ground; object 2 is beside it and looks the same."""
    truth = np.zeros((128, 192), np.uint8)
    truth[8:28, 4:24], truth[8:28, 24:44] = 1, 2
    frame = np.array([(90, 120, 90), (220, 30, 30), (220, 30, 30)], np.uint8)[truth]
    found = truth.copy()
    found[8:14, 18:24] = 0
    found[40:48, 6:16] = 1
    at = FrameMarks(prompts={1: Prompt(on=((21, 10),), off=((11, 44),))})
    ids = MarkFollower(tracker(), {}, forbidden).draw(0, at, frame, found).ids
    assert ids[10, 21] == 1
    assert not (ids[40:48, 6:16]).any()
    assert not (ids == 2).any()  # it is not marked: it stays as it was found
    assert not ((ids == 1) & (truth == 2)).any()
    taken = (
        MarkFollower(tracker(), {}, forbidden)
        .draw(0, FrameMarks(prompts={1: Prompt(on=((30, 20),)), 2: Prompt(on=((40, 20),))}), frame, found)
        .ids
    )
    assert taken[20, 30] == 1
    assert taken[20, 40] == 2


def test_a_box_starts_anew() -> None:
    frame, truth = next(squares(1))
    at = FrameMarks(prompts={1: Prompt((0, 0, 50, 60))})
    ids = MarkFollower(tracker(), {}, stubborn).draw(0, at, frame, truth).ids
    np.testing.assert_array_equal(ids == 1, stubborn(frame, Prompt()).mask)


def test_corrections_say_where_they_do_nothing_or_leave_nothing(tmp_path: Path) -> None:
    """Frame 2: a plus inside of object 1. Frame 4: minuses all over object 1. Object 2 is never touched."""
    clip = write_clip(tmp_path / "clip.mp4", 8)
    ids = [ids for _, ids in squares(8)]
    everywhere = tuple((x, y) for y in range(8, 28, 3) for x in range(8, 28, 3))
    marks = {
        0: FrameMarks(ids[0]),
        2: FrameMarks(prompts={1: Prompt(on=((15, 15),))}),
        4: FrameMarks(prompts={1: Prompt(off=everywhere)}),
        5: FrameMarks(prompts={1: Prompt(off=((90, 60),))}),
    }
    result = segment(tracker(), clip, marks, tmp_path / "out", formats=["masks"], refine=forbidden)
    assert result.notes[0] == "The marks of object 1 in frame 2 changed nothing: its mask agreed with them already."
    assert result.notes[1].startswith("Nothing is left of object 1 in frame 4 after the marks there")
    assert len(result.notes) == 3
    plain = segment(tracker(), clip, {0: FrameMarks(ids[0])}, tmp_path / "plain", formats=["masks"])
    assert plain.notes == ()
    for index in range(6):
        mended, without = (read_mask(tmp_path / name / "masks" / f"{index:05d}.png") for name in ("out", "plain"))
        np.testing.assert_array_equal(mended == 2, without == 2)


@pytest.mark.parametrize(
    ("clicks", "minus", "message"),
    [
        (["3=1:4,5"], ["3=1:4,5"], "the pixel 4,5 of frame 3 is clicked as on object 1 and as not on it"),
        (["1:4,5", "2:4,5"], [], "the pixel 4,5 of frame 0 is clicked as on object 1 and as on object 2"),
    ],
)
def test_contradictions(clicks: list[str], minus: list[str], message: str) -> None:
    marks, _ = read_marks(boxes=["1:1,1,20,20"], clicks=clicks, not_clicks=minus)
    with pytest.raises(InputError, match=message):
        check_marks(marks, VideoInfo(100, 50, Fraction(25), Fraction(1, 25), frames=30))
