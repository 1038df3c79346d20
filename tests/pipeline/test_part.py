"""A part of a long video: frames keep their numbers, in marks, files and messages."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import jaccard
from mobilevos.media.excerpt import excerpt
from mobilevos.media.masks import read_mask
from mobilevos.pipeline import FrameMarks, read_marks, segment
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from tests.pipeline.colours import squares, tracker, write_clip
from tests.pipeline.test_run import files, only

COUNT, FIRST, LAST = 20, 7, 15


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", COUNT)


def test_marks_and_files_have_the_numbers_of_the_whole(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Object 2 is marked late, and followed back to the start of the part; a stop in between changes nothing."""
    truth = [ids for _, ids in squares(COUNT)]
    part = excerpt(clip, str(FIRST), str(LAST), Fraction(24))
    marks = {FIRST: FrameMarks(only(truth[FIRST], 1)), 11: FrameMarks(only(truth[11], 2))}
    formats = ["masks", "overlay", "coco"]
    result = segment(tracker(), part, marks, tmp_path / "out", formats=formats)
    assert result.frames == LAST - FIRST + 1
    names = sorted(p.name for p in (tmp_path / "out" / "masks").iterdir())
    assert names == [f"{i:05d}.png" for i in range(FIRST, LAST + 1)]
    for index in range(FIRST, LAST + 1):
        found = read_mask(tmp_path / "out" / "masks" / f"{index:05d}.png")
        assert all(jaccard(found == i, truth[index] == i) > 0.98 for i in (1, 2))
    rows = (tmp_path / "out" / "confidence.csv").read_text().splitlines()
    assert rows[1].startswith(f"{FIRST},0.000000,1,")
    take = MarkFollower.take

    def interrupted(self: MarkFollower, index: int, frame: np.ndarray) -> FollowedFrame:
        if index == 13:
            raise KeyboardInterrupt
        return take(self, index, frame)

    with monkeypatch.context() as patch:
        patch.setattr(MarkFollower, "take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            segment(tracker(), part, marks, tmp_path / "cut", formats=formats)
    segment(tracker(), part, marks, tmp_path / "cut", formats=formats, resume=True)
    assert files(tmp_path / "cut") == files(tmp_path / "out")
    other = excerpt(clip, str(FIRST), str(LAST - 1), Fraction(24))
    with pytest.raises(InputError, match=r"its source was .*frames 7 to 15, now it is .*frames 7 to 14"):
        segment(tracker(), other, marks, tmp_path / "out", formats=formats, resume=True)


def test_marks_outside_of_the_part(clip: Path, tmp_path: Path) -> None:
    part = excerpt(clip, str(FIRST), str(LAST), Fraction(24))
    for frame in (FIRST - 1, LAST + 1):
        marks, _ = read_marks(boxes=[f"{frame}=2,6,24,24"])
        with pytest.raises(InputError, match=f"frame {frame} is marked, but the source has the frames 7 to 15"):
            segment(tracker(), part, marks, tmp_path / "out")
    marks, _ = read_marks(boxes=["2,6,24,24"], clicks=["2:4,5"], first=FIRST)
    assert list(marks) == [FIRST]
