"""Marks as people type them, and what is refused."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.masks import write_mask
from mobilevos.media.video import VideoInfo
from mobilevos.pipeline.marks import FrameMarks, Prompt, check_marks, digest, first_marks, read_marks

INFO = VideoInfo(100, 50, Fraction(25), Fraction(1, 25), frames=30)


def test_boxes_are_new_objects_and_clicks_belong_to_object_1() -> None:
    marks, notes = read_marks(
        boxes=["1,2,3,4", "5,6,7,8", "20=3:9,9,9,9"], clicks=["10,20", "2:3,4"], not_clicks=["30,40", "5=2:1,1"]
    )
    assert marks[0].prompts == {
        1: Prompt((1, 2, 3, 4), on=((10, 20),), off=((30, 40),)),
        2: Prompt((5, 6, 7, 8), on=((3, 4),)),
    }
    assert marks[20].prompts == {3: Prompt((9, 9, 9, 9))}
    assert marks[5].prompts == {2: Prompt(off=((1, 1),))}
    assert notes == []
    assert first_marks(marks) == {1: 0, 2: 0, 3: 20}


def test_boxes_are_numbered_in_the_order_of_frames() -> None:
    given = ["5=1,1,2,2", "4,4,2,2", "2=3:1,1,4,4", "5=6,6,2,2"]
    for boxes in (given, given[::-1]):
        marks, _ = read_marks(boxes=boxes)
        assert {frame: sorted(at.shown) for frame, at in sorted(marks.items())} == {0: [1], 2: [3], 5: [2, 4]}


def test_a_box_may_be_corrected_later(tmp_path: Path) -> None:
    ids = np.zeros((6, 8), np.uint8)
    ids[1:3, 1:3], ids[4:, 4:] = 1, 2
    write_mask(tmp_path / "mask.png", ids)
    marks, _ = read_marks(masks=[f"5={tmp_path / 'mask.png'}"], boxes=["1,1,2,2", "4,4,2,2", "8=1,1,3,3"])
    assert {frame: sorted(at.shown) for frame, at in marks.items()} == {0: [1, 2], 5: [1, 2], 8: [3]}


def test_masks_by_their_ids_or_by_number(tmp_path: Path) -> None:
    ids = np.zeros((6, 8), np.uint8)
    ids[1:3, 1:3], ids[4:, 4:] = 1, 4
    write_mask(tmp_path / "two=2 é.png", ids)
    Image.fromarray((ids == 1).astype(np.uint8) * 255).save(tmp_path / "one.png")
    marks, notes = read_marks(
        masks=[str(tmp_path / "two=2 é.png"), f"2:{tmp_path / 'one.png'}", f"7={tmp_path / 'one.png'}"], gone=["9=4"]
    )
    assert marks[0].drawn == {2, 4}  # the second file wins where both draw
    assert marks[7].drawn == {1}
    assert marks[9] == FrameMarks(gone=frozenset({4}))
    assert notes == ["one.png: The value 255 was taken as object 1."] * 2
    with pytest.raises(InputError, match="object 1 is in two masks of frame 0"):
        read_marks(masks=[str(tmp_path / "one.png")] * 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boxes": ["1,2,3"]}, "expected 4 numbers X,Y,WIDTH,HEIGHT, got --box 1,2,3"),
        ({"boxes": ["a,b,c,d"]}, "expected 4 numbers"),
        ({"boxes": [""]}, "expected --box"),
        ({"boxes": ["300:1,2,3,4"]}, "numbered 1 to 255"),
        ({"boxes": ["1:1,2,3,4", "1:1,2,3,4"]}, "two boxes"),
        ({"boxes": [f"{i},2,3,4" for i in range(256)]}, "at most 255 objects, got one more: --box 255,2,3,4"),
        ({"boxes": ["1,2,3,4"] * 300}, "at most 255 objects"),
        ({"clicks": ["5"]}, "expected 2 numbers"),
        ({"masks": ["no such.png"]}, "no such file"),
        ({"gone": ["x"]}, "expected --gone"),
    ],
)
def test_what_cannot_be_read(options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_marks(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing is marked"),
        ({"boxes": ["5,5,0,4"]}, "the box 5,5,0,4 of object 1 is empty"),
        ({"boxes": ["100,5,10,10"]}, "outside the frame of 100 x 50"),
        ({"boxes": ["-20,5,10,10"]}, "outside the frame"),
        ({"clicks": ["100,2"]}, "the click 100,2 on object 1 is outside"),
        ({"boxes": ["40=1,1,5,5"]}, "frame 40 is marked, but the source has the frames 0 to 29"),
        ({"not_clicks": ["1,1"]}, "what it is not only"),
        ({"boxes": ["1,1,5,5"], "gone": ["0=1"]}, "both marked and gone"),
        ({"boxes": ["9=1,1,5,5"], "gone": ["3=1"]}, "never marked before"),
    ],
)
def test_what_does_not_fit_the_source(options: dict[str, list[str]], message: str) -> None:
    marks, _ = read_marks(**options)
    with pytest.raises(InputError, match=message):
        check_marks(marks, INFO)


def test_a_box_is_cut_to_the_frame_and_a_mask_must_have_its_size() -> None:
    marks, _ = read_marks(boxes=["-5,40,20,30"])
    assert check_marks(marks, INFO)[0].prompts[1].box == (0, 40, 15, 10)
    with pytest.raises(InputError, match="expected a mask of 100 x 50 pixels like the video, got one of 8 x 6"):
        check_marks({0: FrameMarks(np.ones((6, 8), np.uint8))}, INFO)


def test_objects_that_are_too_small_are_found_before_the_work_begins() -> None:
    ids = np.zeros((50, 100), np.uint8)
    ids[10:20, 10:20] = 1
    ids[:2, :2] = 2
    good = {0: FrameMarks(ids)}
    assert check_marks(good, INFO)[0].drawn == {1, 2}
    with pytest.raises(InputError, match="object 2 has 4 pixels, too few to be followed, in frame 0; is it a stray"):
        check_marks(good, INFO, size=25)
    tiny = np.where(ids == 2, np.uint8(1), np.uint8(0))
    with pytest.raises(InputError, match="object 1 has 4 pixels, too few to be followed, in frame 6"):
        check_marks({0: FrameMarks(np.where(ids == 1, ids, 0)), 6: FrameMarks(tiny)}, INFO, size=25)
    mended = FrameMarks(tiny, {1: Prompt(on=((15, 15),))})
    assert 6 in check_marks({0: FrameMarks(np.where(ids == 1, ids, 0)), 6: mended}, INFO, size=25)


def test_the_digest_tells_marks_apart() -> None:
    mask = np.zeros((4, 4), np.uint8)
    mask[0, 0] = 1
    several = [
        {0: FrameMarks(mask)},
        {1: FrameMarks(mask)},
        {0: FrameMarks(mask.T[::-1])},
        {0: FrameMarks(mask, {1: Prompt(on=((1, 2),))})},
        {0: FrameMarks(mask, {1: Prompt(off=((1, 2),))})},
        {0: FrameMarks(mask), 4: FrameMarks(gone=frozenset({1}))},
    ]
    assert len({digest(marks) for marks in several}) == len(several)
    assert digest({0: FrameMarks(mask.copy())}) == digest(several[0])


def test_a_name_that_is_too_long_for_a_file_is_said_to_be_none() -> None:
    with pytest.raises(InputError, match="no such file"):
        read_marks(masks=["3=" + "a" * 300])
