"""The whole way: marks anywhere, every frame written, and a run that is killed at any moment goes on to the same."""

import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import jaccard
from mobilevos.media.damage import Damage
from mobilevos.media.excerpt import excerpt
from mobilevos.media.masks import read_mask
from mobilevos.media.video import BrokenVideoError, Frame, VideoInfo
from mobilevos.pipeline import FrameMarks, Prompt, passes, run, segment
from mobilevos.pipeline.refine import Guess, grabcut
from tests.builders.pictures import write_frames
from tests.pipeline.colours import breaking_at, squares, tracker, write_clip

COUNT = 16


def only(ids: np.ndarray, *objects: int) -> np.ndarray:
    return np.where(np.isin(ids, objects), ids, 0).astype(np.uint8)


def masks(folder: Path) -> list[np.ndarray]:
    return [read_mask(path) for path in sorted((folder / "masks").glob("*.png"))]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_objects_from_the_first_frame(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    result = segment(tracker(), clip, {0: FrameMarks(truth[0])}, tmp_path, formats=["masks", "overlay", "sheet"])
    assert (result.frames, result.objects, result.network_frames) == (COUNT, (1, 2), COUNT - 1)
    assert result.rate > 0
    assert result.network_rate > 0
    assert result.alarms == ()
    assert {p.name for p in tmp_path.iterdir()} == {
        "masks",
        "overlay.mp4",
        "sheet.png",
        "confidence.csv",
        ".finished.json",
        ".again",
    }
    for found, ids in zip(masks(tmp_path), truth, strict=True):
        assert jaccard(found == 1, ids == 1) > 0.98
        assert jaccard(found == 2, ids == 2) > 0.98
    with av.open(str(tmp_path / "overlay.mp4")) as video:
        assert [f.pts * f.time_base for f in video.decode(video=0)] == [Fraction(i, 25) for i in range(COUNT)]


def test_an_object_that_is_marked_later_is_followed_back(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Object 1 is known from frame 3 on, object 2 from frame 9; both are found in all frames."""
    marks = {3: FrameMarks(only(truth[3], 1)), 9: FrameMarks(only(truth[9], 2))}
    segment(tracker(), clip, marks, tmp_path / "both", formats=["masks"])
    for found, ids in zip(masks(tmp_path / "both"), truth, strict=True):
        assert jaccard(found == 1, ids == 1) > 0.98
        assert jaccard(found == 2, ids == 2) > 0.98
    assert not (tmp_path / "both" / ".resume").exists()
    rows = (tmp_path / "both" / "confidence.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0:3:2] for row in rows] == [[str(t), o] for t in range(COUNT) for o in "12"]

    segment(tracker(), clip, marks, tmp_path / "forward", formats=["masks"], backward=False)
    seen = [set(np.unique(found)) - {0} for found in masks(tmp_path / "forward")]
    assert seen == [set()] * 3 + [{1}] * 6 + [{1, 2}] * 7


def test_where_two_claim_a_pixel_the_nearer_mark_has_it(tmp_path: Path) -> None:
    """Object 2 is marked on the same square as object 1, later: before it, halfway, the square changes hands."""
    clip = write_clip(tmp_path / "clip.mp4", 11)
    ids = [ids for _, ids in squares(11)]
    marks = {0: FrameMarks(only(ids[0], 1)), 10: FrameMarks(np.where(ids[10] == 1, 2, 0).astype(np.uint8))}
    segment(tracker(), clip, marks, tmp_path / "out", formats=["masks"])
    owners = [set(np.unique(found)) - {0} for found in masks(tmp_path / "out")]
    assert owners == [{1}] * 6 + [{2}] * 5


def test_corrections_and_objects_that_leave(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """Object 1 begins on the wrong square; in frame 5 both are drawn; object 2 is gone from frame 11 on."""
    wrong = np.where(truth[0] == 2, 1, 0).astype(np.uint8)
    marks = {
        0: FrameMarks(wrong),
        5: FrameMarks(only(truth[5], 1, 2)),
        11: FrameMarks(gone=frozenset({2})),
    }
    segment(tracker(), clip, marks, tmp_path, formats=["masks"], backward=False)
    found = masks(tmp_path)
    np.testing.assert_array_equal(found[5], truth[5])
    assert jaccard(found[4] == 1, truth[4] == 2) > 0.98
    assert (found[10] == 2).any()
    assert not (found[11] == 2).any()


def by_colours(frame: np.ndarray, prompt: Prompt) -> Guess:
    return Guess(grabcut(frame, prompt), 1.0)


def test_boxes_and_clicks_are_refined(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    marks = {0: FrameMarks(prompts={1: Prompt((2, 6, 24, 24)), 2: Prompt(on=((76, 46),))})}
    segment(tracker(), clip, marks, tmp_path, formats=["masks"], refine=by_colours)
    last = masks(tmp_path)[-1]
    assert jaccard(last == 1, truth[-1] == 1) > 0.9
    assert jaccard(last == 2, truth[-1] == 2) > 0.9


KILLED = """
import os, signal, sys
from pathlib import Path
from mobilevos.pipeline import record
from mobilevos.pipeline import FrameMarks, passes, segment
from tests.builders.pictures import write_frames
from tests.pipeline.colours import tracker
from tests.pipeline.test_run import late_marks

passes.SNAPSHOT_SECONDS = 0 if sys.argv[3] == "snapshots" else 1e9
passes.SNAPSHOT_SHARE = 1e9
where, count = sys.argv[4], int(sys.argv[5])

def after(function):
    def counted(*args, **options):
        global count
        count -= 1
        if count < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **options)
    return counted

if where == "mask":
    record.write_mask = after(record.write_mask)
else:
    passes.save_state = after(passes.save_state)
segment(tracker(), sys.argv[1], late_marks(), sys.argv[2], formats=["masks", "overlay", "coco", "sheet"])
"""


def late_marks() -> dict[int, FrameMarks]:
    """Object 1 at once, object 2 in frame 6, and a correction of object 1 in frame 10."""
    ids = [ids for _, ids in squares(COUNT)]
    return {0: FrameMarks(only(ids[0], 1)), 6: FrameMarks(only(ids[6], 2)), 10: FrameMarks(only(ids[10], 1))}


@pytest.fixture(scope="module")
def whole(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run without any trouble makes."""
    folder = tmp_path_factory.mktemp("whole")
    segment(tracker(), clip, late_marks(), folder, formats=["masks", "overlay", "coco", "sheet"])
    return files(folder)


@pytest.mark.parametrize(
    ("snapshots", "where", "count"),
    [
        ("snapshots", "mask", 3),  # in the backward pass
        ("snapshots", "mask", 7 + 8),  # in the forward pass
        ("snapshots", "state", 7 + 12),  # between a mask and its snapshot
        ("none", "mask", 7 + 8),  # before there is any snapshot
    ],
)
def test_kill_and_resume(
    clip: Path, whole: dict[str, bytes], tmp_path: Path, snapshots: str, where: str, count: int
) -> None:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-c", KILLED, clip, tmp_path, snapshots, where, str(count)]
    done = subprocess.run(command, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "overlay.mp4").exists()
    before = {name: content for name, content in files(tmp_path).items() if name.endswith(".png")}
    formats = ["masks", "overlay", "coco", "sheet"]
    result = segment(tracker(), clip, late_marks(), tmp_path, formats=formats, resume=True)
    assert result.frames == COUNT
    if snapshots == "snapshots" and count > 7:
        assert result.network_frames < COUNT - count + 7 + 2  # what was done is not computed again
    after = files(tmp_path)
    assert after == whole
    assert all(after[name] == content for name, content in before.items() if name.startswith("masks"))


def test_stopping_keeps_what_is_done(clip: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    """Control-C in the middle of a frame: all frames before it are recorded, and nothing is half."""

    def interrupt(frame: np.ndarray, prompt: Prompt) -> Guess:
        raise KeyboardInterrupt

    marks = late_marks() | {9: FrameMarks(prompts={1: Prompt((10, 6, 24, 24))})}
    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, marks, tmp_path, formats=["masks", "overlay"], refine=interrupt)
    assert [p.name for p in sorted((tmp_path / "masks").iterdir())] == [f"{i:05d}.png" for i in range(9)]
    assert not list(tmp_path.rglob("*.part"))
    assert not (tmp_path / "overlay.mp4").exists()
    with pytest.raises(InputError, match="unfinished run"):
        segment(tracker(), clip, marks, tmp_path, formats=["masks", "overlay"])
    with pytest.raises(InputError, match="its first marks were others"):
        segment(tracker(), clip, {0: late_marks()[6]}, tmp_path, formats=["masks", "overlay"], resume=True)
    with pytest.raises(InputError, match="its size was 480, now it is 32"):
        segment(tracker(size=32), clip, marks, tmp_path, formats=["masks", "overlay"], resume=True)
    segment(tracker(), clip, late_marks(), tmp_path, formats=["masks", "overlay"], force=True)
    assert {k: v for k, v in files(tmp_path).items() if "masks" in k} == {
        k: v for k, v in whole.items() if "masks" in k
    }


def test_what_is_finished_is_done_again_only_by_force(
    clip: Path, whole: dict[str, bytes], truth: list[np.ndarray], tmp_path: Path
) -> None:
    """Complete is what was made with the same marks and settings."""
    formats = ["masks", "overlay", "coco", "sheet"]
    first = segment(tracker(), clip, late_marks(), tmp_path, formats=formats, resume=True)
    again = segment(tracker(), clip, late_marks(), tmp_path, formats=formats, resume=True)
    assert (first.complete, again.complete) == (False, True)
    assert (again.frames, again.objects, again.network_frames) == (COUNT, (1, 2), 0)
    with pytest.raises(InputError, match=r"was made otherwise: its first marks were others .*; give another folder"):
        segment(tracker(), clip, {0: FrameMarks(truth[0])}, tmp_path, formats=formats, resume=True)
    with pytest.raises(InputError, match="its size was 480, now it is 32"):
        segment(tracker(size=32), clip, late_marks(), tmp_path, formats=formats, resume=True)
    assert files(tmp_path) == whole
    forced = segment(tracker(size=32), clip, late_marks(), tmp_path, formats=formats, resume=True, force=True)
    assert forced.network_frames > 0


def test_a_correction_that_cannot_be_used_is_found_at_once(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    tiny = np.zeros_like(truth[0])
    tiny[0, 0] = 1
    with pytest.raises(InputError, match="object 1 has 1 pixels, too few to be followed, in frame 6"):
        segment(tracker(), clip, {0: FrameMarks(truth[0]), 6: FrameMarks(tiny)}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    covered = FrameMarks(only(truth[0], 1), {2: Prompt((0, 0, 96, 64))})
    with pytest.raises(InputError, match="nothing of object 1 is left in frame 0: another object"):
        segment(
            tracker(),
            clip,
            {0: covered},
            tmp_path / "out",
            refine=lambda frame, prompt: Guess(np.ones(frame.shape[:2], bool), 1.0),
        )


def test_a_full_disk_ends_with_a_clear_message(
    clip: Path, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, *rest: Any) -> None:
        if path.name == "00008.png":
            raise OSError(28, "No space left on device")
        write_mask(path, *rest)

    from mobilevos.pipeline import record

    write_mask = record.write_mask
    monkeypatch.setattr(record, "write_mask", full)
    formats = ["masks", "overlay", "coco", "sheet"]
    with pytest.raises(InputError, match=r"cannot write to .*: No space left on device"):
        segment(tracker(), clip, late_marks(), tmp_path, formats=formats)
    assert len(masks(tmp_path)) == 8
    monkeypatch.undo()
    segment(tracker(), clip, late_marks(), tmp_path, formats=formats, resume=True)
    assert files(tmp_path) == whole


def test_a_missing_mask_is_noticed(clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "SNAPSHOT_SECONDS", 0)
    monkeypatch.setattr(passes, "SNAPSHOT_SHARE", 1e9)
    stop = {12: FrameMarks(prompts={1: Prompt((14, 6, 24, 24))})}

    def interrupt(frame: np.ndarray, prompt: Prompt) -> Guess:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        segment(tracker(), clip, late_marks() | stop, tmp_path, formats=["masks"], refine=interrupt)
    (tmp_path / "masks" / "00004.png").unlink()
    with pytest.raises(InputError, match="the mask of frame 4 is missing"):
        segment(tracker(), clip, late_marks() | stop, tmp_path, formats=["masks"], resume=True)


def test_marks_after_the_end(clip: Path, truth: list[np.ndarray], tmp_path: Path) -> None:
    """A video tells its length only roughly: a correction a little after it is a note, an object is an error."""
    marks = {0: FrameMarks(truth[0]), COUNT + 1: FrameMarks(truth[0])}
    result = segment(tracker(), clip, marks, tmp_path / "note", formats=["masks"])
    assert result.notes == (f"Frame {COUNT + 1} was marked, but the source has {COUNT} frames only.",)
    with pytest.raises(InputError, match=rf"frame {COUNT + 1} is marked, but .* has {COUNT} frames only"):
        segment(tracker(), clip, {COUNT + 1: FrameMarks(truth[0])}, tmp_path / "error", formats=["masks"])
    assert not (tmp_path / "error").exists()


def test_a_lost_object_raises_the_alarm(tmp_path: Path) -> None:
    """Object 2 leaves the picture after frame 5."""
    frames = [
        np.where((ids == 2)[..., None] & (index > 5), np.uint8(110), picture)
        for index, (picture, ids) in enumerate(squares(12))
    ]
    write_frames(tmp_path / "in", frames)
    first = next(squares(1))[1]
    result = segment(tracker(), tmp_path / "in", {0: FrameMarks(first)}, tmp_path / "out", formats=["masks"])
    assert [(a.identity, a.first, a.last, a.lost, a.correct) for a in result.alarms] == [(2, 6, 11, True, 6)]


def test_a_source_that_breaks_leaves_what_came_before(
    clip: Path, truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "open_source", breaking_at(run.open_source, 7))
    with pytest.raises(BrokenVideoError, match="breaks at frame 7"):
        segment(tracker(), clip, {0: FrameMarks(truth[0])}, tmp_path, formats=["masks", "overlay"])
    assert len(masks(tmp_path)) == 7
    with av.open(str(tmp_path / "overlay.mp4")) as video:
        assert len(list(video.decode(video=0))) == 7
    assert not (tmp_path / ".resume").exists()
    with pytest.raises(InputError, match=r"is not complete: clip\.mp4 breaks at frame 7: cut off"):
        segment(tracker(), clip, {0: FrameMarks(truth[0])}, tmp_path, formats=["masks", "overlay"], resume=True)


def endless(count: int) -> Callable[..., Any]:
    """A source of many frames that are made as they are asked for."""
    pictures = [picture for picture, _ in squares(8)]

    def frames() -> Any:
        for index in range(count):
            yield Frame(index, Fraction(index, 25), pictures[index % 8], f"{index:05d}")

    class Many:
        name = "many"
        info = VideoInfo(96, 64, Fraction(25), Fraction(1, 25))
        audio = None
        damage = Damage()

        def __enter__(self) -> "Many":
            return self

        def __exit__(self, *rest: object) -> None: ...

        def __iter__(self) -> Any:
            return frames()

    return lambda source: Many()


def test_memory_does_not_grow(truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held after 60 frames is held after 360, to within what Python itself lets lie about."""
    monkeypatch.setattr(run, "open_source", endless(360))
    held = {}
    gathered: list[int] = []

    class Counter:
        def __enter__(self) -> Callable[[int], None]:
            return self.tell

        def __exit__(self, *rest: object) -> None: ...

        def tell(self, done: int) -> None:
            gathered.append(done)
            if done in (60, 360):
                held[done] = tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    segment(
        tracker(),
        "many",
        {0: FrameMarks(truth[0])},
        tmp_path,
        formats=["masks"],
        progress=lambda what, total: Counter(),
    )
    tracemalloc.stop()
    assert gathered == list(range(1, 361))
    assert held[360] < held[60] + 300_000  # a frame is 18,432 bytes: 300 of them would be 5.5 million


def test_damaged_frames_have_the_masks_before_them(truth: list[np.ndarray], tmp_path: Path) -> None:
    """Frames 5, 6 and 12 are damaged; object 2 is followed back over them; a stop right after them changes nothing."""
    frames = write_frames(tmp_path / "in", [picture for picture, _ in squares(COUNT)])
    for number in (5, 6, 12):
        (frames / f"{number:05d}.png").write_bytes(b"no picture")
    source = excerpt(frames, None, None, Fraction(24), skip_damaged=True)
    marks = {0: FrameMarks(only(truth[0], 1)), 9: FrameMarks(only(truth[9], 2))}
    with pytest.raises(BrokenVideoError, match="breaks at frame 5"):
        segment(tracker(), frames, marks, tmp_path / "strict", formats=["masks"], backward=False)
    result = segment(tracker(), source, marks, tmp_path / "out", formats=["masks", "overlay"])
    found = masks(tmp_path / "out")
    assert len(found) == result.frames == COUNT
    assert result.network_frames == (COUNT - 1 - 3) + (9 - 2)  # forwards and back, without those that are damaged
    for number, before in ((5, 4), (6, 4), (12, 11)):
        np.testing.assert_array_equal(found[number], found[before])
    for number in (0, 4, 7, 11, 13):
        assert all(jaccard(found[number] == i, truth[number] == i) > 0.9 for i in (1, 2))
    assert result.notes == (
        f"Frames 5 to 6, 12 of {frames} cannot be read: picture and masks are those of the frame before.",
    )


@pytest.mark.parametrize("stop", [5, 6, 7])
def test_a_stop_among_damaged_frames(
    truth: list[np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    frames = write_frames(tmp_path / "in", [picture for picture, _ in squares(10)])
    for number in (5, 6):
        (frames / f"{number:05d}.png").write_bytes(b"no picture")
    source = excerpt(frames, None, None, Fraction(24), skip_damaged=True)
    monkeypatch.setattr(passes, "SNAPSHOT_SECONDS", 0)
    monkeypatch.setattr(passes, "SNAPSHOT_SHARE", 1e9)
    from mobilevos.pipeline import record

    write_mask = record.write_mask

    def full(path: Path, *rest: Any) -> None:
        if path.name == f"{stop:05d}.png":
            raise OSError(28, "No space left on device")
        write_mask(path, *rest)

    marks = {0: FrameMarks(truth[0])}
    with monkeypatch.context() as patch:
        patch.setattr(record, "write_mask", full)
        with pytest.raises(InputError, match="No space left"):
            segment(tracker(), source, marks, tmp_path / "cut", formats=["masks"])
    segment(tracker(), source, marks, tmp_path / "cut", formats=["masks"], resume=True)
    segment(tracker(), source, marks, tmp_path / "whole", formats=["masks"])
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
