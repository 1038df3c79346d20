"""Earlier results stay as they are until the new ones are complete, whatever happens; what a person made stays."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask, write_mask
from mobilevos.pipeline import FrameMarks, Prompt, read_marks, run, segment
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.pipeline.staging import claimed, settle
from tests.pipeline.colours import breaking_at, tracker
from tests.pipeline.test_run import files, only

COUNT = 12
FORMATS = ["masks", "overlay", "coco"]


@pytest.fixture
def out(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> Path:
    """Results of object 1."""
    segment(tracker(), clip, {0: FrameMarks(only(truth[0], 1))}, tmp_path / "out", formats=FORMATS)
    return tmp_path / "out"


@pytest.fixture
def stop_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Control-C in the frames of this list."""
    take = MarkFollower.take
    frames: list[int] = []

    def interrupted(self: MarkFollower, index: int, frame: np.ndarray) -> FollowedFrame:
        if index in frames:
            raise KeyboardInterrupt
        return take(self, index, frame)

    monkeypatch.setattr(MarkFollower, "take", interrupted)
    return frames


def both(truth: list[np.ndarray]) -> dict[int, FrameMarks]:
    return {0: FrameMarks(truth[0])}


@pytest.mark.parametrize("backward", [True, False])
def test_a_slip_in_the_number_of_a_frame(clip: Path, truth: list[np.ndarray], out: Path, backward: bool) -> None:
    """The video has 12 frames, and says so roughly only."""
    before = files(out)
    for frame in (COUNT + 1, 99):
        marks = {frame: FrameMarks(prompts={2: Prompt((2, 2, 5, 5))})}
        if frame == 99 or backward:
            with pytest.raises(InputError, match=rf"frame {frame} is marked, but .* (12 frames only|frames 0 to 11)"):
                segment(tracker(), clip, marks, out, formats=FORMATS, force=True, backward=backward)
        assert files(out) == before


@pytest.mark.parametrize("formats", [FORMATS, ["overlay"]], ids=["with masks", "without"])
def test_a_run_that_stops_leaves_the_earlier_results_and_goes_on(
    clip: Path, truth: list[np.ndarray], out: Path, tmp_path: Path, stop_at: list[int], formats: list[str]
) -> None:
    before = files(out)
    stop_at.append(7)
    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, both(truth), out, formats=formats, force=True)
    after = files(out)
    assert {name: after[name] for name in before} == before
    assert all(name.startswith(".new/") for name in after.keys() - before.keys())
    with pytest.raises(InputError, match="unfinished run: resume it"):
        segment(tracker(), clip, both(truth), out, formats=formats)
    with pytest.raises(InputError, match="made otherwise"):
        segment(tracker(size=32), clip, both(truth), out, formats=formats, resume=True)
    stop_at.clear()
    segment(tracker(), clip, both(truth), out, formats=formats, resume=True)
    segment(tracker(), clip, both(truth), tmp_path / "whole", formats=formats)
    whole = files(tmp_path / "whole")
    assert files(out) == {**before, **whole}
    assert segment(tracker(), clip, both(truth), out, formats=formats, resume=True).complete


def test_an_unfinished_run_is_there_until_the_one_that_replaces_it_is_complete(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, stop_at: list[int]
) -> None:
    one, out = {0: FrameMarks(only(truth[0], 1))}, tmp_path / "out"
    stop_at.append(7)
    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, one, out, formats=FORMATS)
    begun = files(out)
    (out / "overlay.mp4.part").write_bytes(b"half a video")  # as a kill leaves it
    stop_at.append(3)
    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, both(truth), out, formats=FORMATS, force=True)
    after = files(out)
    assert {name: after[name] for name in begun} == begun
    stop_at.clear()
    segment(tracker(), clip, both(truth), out, formats=FORMATS, resume=True)
    segment(tracker(), clip, both(truth), tmp_path / "whole", formats=FORMATS)
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.parametrize("moves", range(14))
def test_a_kill_while_results_are_moved(
    clip: Path, truth: list[np.ndarray], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    """After any number of steps; the next command finishes them, and nothing is of two runs."""
    (out / "masks" / "notes.txt").write_text("mine")
    left, rename = moves, Path.rename

    def counted(self: Path, target: Path) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", counted)
    try:
        segment(tracker(), clip, both(truth), out, formats=FORMATS, force=True)
        # confidence, note, marks, and three formats: each out of the way and into place; then my notes
        assert moves >= 13
    except KeyboardInterrupt:
        assert moves < 13
    monkeypatch.undo()
    assert segment(tracker(), clip, both(truth), out, formats=FORMATS, resume=True).complete
    segment(tracker(), clip, both(truth), tmp_path / "whole", formats=FORMATS)
    assert files(out) == {**files(tmp_path / "whole"), "masks/notes.txt": b"mine"}


def test_a_mask_that_was_edited_in_place(clip: Path, truth: list[np.ndarray], out: Path, stop_at: list[int]) -> None:
    """It is there after a kill, and after the run beside the results, where these have more than was drawn."""
    edited, other = out / "masks" / "00005.png", out / "masks" / "00008.png"
    drawn = np.where(only(truth[5], 1) > 0, 255, 0).astype(np.uint8)
    Image.fromarray(drawn).save(edited)  # black and white, as a paint program writes it
    write_mask(other, only(truth[8], 2))
    bytes_5, bytes_8 = edited.read_bytes(), other.read_bytes()
    texts = [f"5={edited}", f"8={other}"]
    marks, _ = read_marks(masks=texts)
    stop_at.append(10)
    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, marks, out, formats=["masks"], force=True, inputs=[edited, other])
    assert (edited.read_bytes(), other.read_bytes()) == (bytes_5, bytes_8)
    stop_at.clear()
    marks, _ = read_marks(masks=texts)
    result = segment(tracker(), clip, marks, out, formats=["masks"], resume=True, inputs=[edited, other])
    kept = out / "kept"
    assert [(kept / f"0000{i}.png").read_bytes() for i in (5, 8)] == [bytes_5, bytes_8]
    said = f"{other} was read as a mark, and now holds the result; as it was, it is {kept / '00008.png'}."
    assert result.notes[-1] == said
    assert set(np.unique(read_mask(other))) == {0, 1, 2}


def test_a_mask_that_is_the_result_stays_to_the_byte(clip: Path, truth: list[np.ndarray], out: Path) -> None:
    edited = out / "masks" / "00005.png"
    Image.fromarray(np.where(truth[5] == 1, 255, 0).astype(np.uint8)).save(edited)
    mine = edited.read_bytes()
    marks, _ = read_marks(masks=[f"5={edited}"])
    result = segment(tracker(), clip, marks, out, formats=["masks"], force=True, inputs=[edited])
    assert edited.read_bytes() == mine
    assert not (out / "kept").exists()
    assert result.notes == ()


def test_half_does_not_replace_the_whole(
    clip: Path, truth: list[np.ndarray], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that breaks now, and did not when the earlier results were made."""
    before = files(out)
    monkeypatch.setattr(run, "open_source", breaking_at(run.open_source, 7))
    with pytest.raises(InputError, match=r"breaks at frame 7: cut off; the earlier results in .* stay as they are"):
        segment(tracker(), clip, both(truth), out, formats=FORMATS, force=True)
    assert files(out) == before


def test_one_run_at_a_time(clip: Path, truth: list[np.ndarray], out: Path, tmp_path: Path) -> None:
    before = files(out)
    code = (
        "import sys; from mobilevos.pipeline.staging import claimed\n"
        "with claimed(sys.argv[1]): print('mine', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        with pytest.raises(InputError, match=r"another run is writing to .*out: wait for it, or give another folder"):
            segment(tracker(), clip, both(truth), out, formats=FORMATS, force=True)
        assert files(out) == before
        other.kill()  # a lock does not outlive its process
    segment(tracker(), clip, both(truth), out, formats=FORMATS, force=True)


def test_a_folder_that_stays_empty_is_not_left(tmp_path: Path) -> None:
    with claimed(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write to .*b: Not a directory"), claimed(tmp_path / "file" / "b"):
        pass
    settle(tmp_path)  # nothing to do
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
