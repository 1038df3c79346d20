"""Running a tracker over clips: what it is given and when, what is written, resuming, submissions."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from mobilevos.datasets.davis import read_davis
from mobilevos.datasets.task import VideoTask
from mobilevos.datasets.youtube import read_youtube
from mobilevos.errors import InputError
from mobilevos.evaluation.davis import evaluate_davis
from mobilevos.evaluation.prediction import RUN, predict_videos, write_submission
from mobilevos.media.masks import read_mask, write_mask
from tests.builders.davis import write_davis
from tests.builders.pictures import write_picture
from tests.evaluation.youtube_case import SHAPE, box, plain

MODEL = {"model": "still"}


@dataclass
class Still:
    """A tracker that finds objects where it saw them last, and keeps what it was called with."""

    calls: list[tuple] = field(default_factory=list)

    def start(self, frame: np.ndarray, mask: np.ndarray) -> None:
        self.mask = mask.copy()
        self.calls.append(("start", int(frame[0, 0, 0]), np.unique(mask).tolist()))

    def step(self, frame: np.ndarray) -> SimpleNamespace:
        assert frame.shape == (*SHAPE, 3)
        assert frame.dtype == np.uint8
        self.calls.append(("step", int(frame[0, 0, 0])))
        return SimpleNamespace(mask=self.mask.copy())

    def add(self, mask: np.ndarray) -> None:
        self.mask = np.where(mask, mask, self.mask)
        self.calls.append(("add", np.unique(mask).tolist()))


def test_late_objects_are_added_when_they_come(youtube: Path, tmp_path: Path) -> None:
    tracker, out = Still(), tmp_path / "out"
    speed = predict_videos(tracker, read_youtube(youtube).tasks, out, MODEL)
    assert tracker.calls == [
        ("start", 0, [0, 1]),
        ("step", 5),
        ("add", [0, 4]),
        *(("step", number) for number in (10, 15, 20, 25)),
        ("start", 10, [0, 2]),  # the frames before the first object are passed over
        *(("step", number) for number in (15, 20, 25)),
    ]
    written = sorted(str(path.relative_to(out)) for path in out.rglob("*.png"))
    assert written == [f"late/000{n}.png" for n in ("00", "05", "10", "15")] + ["plain/00010.png", "plain/00020.png"]
    # where object 4 is given, its mask goes on top of what the tracker says of the others
    assert np.array_equal(read_mask(out / "late" / "00005.png"), box((1, 5, 5), (4, 30, 50)))
    assert np.array_equal(read_mask(out / "late" / "00015.png"), box((1, 5, 5), (4, 30, 50)))
    with Image.open(out / "late" / "00005.png") as image:
        assert image.mode == "P"
        assert image.getpalette()[3:6] == [128, 0, 0]  # type: ignore[index]
    assert speed is not None
    assert speed.frames == 8
    assert speed.objects == (1 + 2 * 4 + 3) / 8
    assert speed.tracking_fps >= speed.everything_fps > 0


def test_resume_leaves_finished_clips(youtube: Path, tmp_path: Path) -> None:
    clips, out = read_youtube(youtube).tasks, tmp_path / "out"
    predict_videos(Still(), clips, out, MODEL)
    (out / "plain" / "00020.png").unlink()
    marked = box((1, 0, 0))
    write_mask(out / "late" / "00010.png", marked)
    tracker = Still()
    told: list[tuple[str, int | None, int]] = []

    @contextmanager
    def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
        yield lambda done: told.append((what, total, done))

    predict_videos(tracker, clips, out, MODEL, resume=True, progress=progress)
    assert tracker.calls[0] == ("start", 10, [0, 2])
    assert len(tracker.calls) == 4
    assert (out / "plain" / "00020.png").is_file()
    assert np.array_equal(read_mask(out / "late" / "00010.png"), marked)
    assert told[-1] == ("tracking", 6, 6)
    assert predict_videos(Still(), clips, out, MODEL, resume=True) is None


def test_predictions_of_another_run_are_not_mixed_in(youtube: Path, tmp_path: Path) -> None:
    clips, out = read_youtube(youtube).tasks, tmp_path / "out"
    predict_videos(Still(), clips, out, MODEL)
    with pytest.raises(InputError, match="is not empty"):
        predict_videos(Still(), clips, out, MODEL)
    with pytest.raises(InputError, match=r"written by .*still.* this is .*other"):
        predict_videos(Still(), clips, out, {"model": "other"}, resume=True)
    (out / RUN).unlink()
    with pytest.raises(InputError, match=r"run.json cannot be read"):
        predict_videos(Still(), clips, out, MODEL, resume=True)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="expected a folder for the predictions"):
        predict_videos(Still(), clips, tmp_path / "file", MODEL)


def test_bad_clips_are_named(youtube: Path, tmp_path: Path) -> None:
    picture = youtube / "JPEGImages" / "late" / "00010.png"
    picture.write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"late, frame 00010: .*cannot be decoded"):
        predict_videos(Still(), read_youtube(youtube).tasks, tmp_path / "a", MODEL)
    write_picture(picture, plain(10))
    write_mask(youtube / "Annotations" / "late" / "00000.png", np.ones((30, 40), np.uint8))
    with pytest.raises(InputError, match=r"late, frame 00000: the picture is \(60, 80\), its annotation \(30, 40\)"):
        predict_videos(Still(), read_youtube(youtube).tasks, tmp_path / "b", MODEL)
    write_mask(youtube / "Annotations" / "late" / "00000.png", box((4, 5, 5)))
    with pytest.raises(InputError, match="late, frame 00000: object 1 is given but not in the annotation"):
        predict_videos(Still(), read_youtube(youtube).tasks, tmp_path / "c", MODEL)
    without = [VideoTask("bare", {}, {}, {}, {}, ())]
    with pytest.raises(InputError, match="bare: there are no pictures"):
        predict_videos(Still(), without, tmp_path / "d", MODEL)
    assert not (tmp_path / "d").exists()


def test_what_a_tracker_refuses_is_named(youtube: Path, tmp_path: Path) -> None:
    class Refusing(Still):
        def step(self, frame: np.ndarray) -> SimpleNamespace:
            raise InputError("too small")

    with pytest.raises(InputError, match="late, frame 00005: too small"):
        predict_videos(Refusing(), read_youtube(youtube).tasks, tmp_path / "out", MODEL)


def test_submission(youtube: Path, tmp_path: Path) -> None:
    clips, out = read_youtube(youtube).tasks, tmp_path / "out"
    predict_videos(Still(), clips, out, MODEL)
    write_submission(clips, out, tmp_path / "submission.zip", "Annotations")
    with zipfile.ZipFile(tmp_path / "submission.zip") as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            *(f"Annotations/late/000{n}.png" for n in ("00", "05", "10", "15")),
            "Annotations/plain/00010.png",
            "Annotations/plain/00020.png",
        ]
        assert archive.read("Annotations/late/00015.png") == (out / "late" / "00015.png").read_bytes()
    (out / "late" / "00005.png").unlink()
    with pytest.raises(InputError, match="late, frame 00005: there is no prediction to submit"):
        write_submission(clips, out, tmp_path / "other.zip")
    assert not (tmp_path / "other.zip").exists()


def test_davis_with_ids_left_out_and_void(tmp_path: Path) -> None:
    """Only what is on frame 0 is given; void is not."""
    first = box((1, 5, 5), (3, 30, 40))
    first[0, :] = 255
    write_davis(tmp_path, {"clip": ([plain(time) for time in range(4)], [first] * 4)}, {"val": ["clip"]}, ending="png")
    clips = read_davis(tmp_path)
    tracker = Still()
    predict_videos(tracker, clips, tmp_path / "out", MODEL)
    assert tracker.calls[0] == ("start", 0, [0, 1, 3])
    scores = evaluate_davis(clips, tmp_path / "out").sequences[0]
    assert scores.objects == (1, 2, 3)
    assert scores.j.tolist() == [[1, 1]] * 3
