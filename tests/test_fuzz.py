"""Whatever is wrong with a file or a text, the answer is a result or an InputError in one line, and nothing is half.

Files are valid ones with bytes changed, cut out, cut off or put in. `MOBILEVOS_FUZZ=20000` tries so many of each.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from mobilevos.batch import read_jobs
from mobilevos.errors import InputError
from mobilevos.media.excerpt import excerpt
from mobilevos.media.masks import load_mask, read_mask, write_mask
from mobilevos.media.video import PICTURE_RATE, VideoInfo, open_source
from mobilevos.pipeline import FrameMarks, read_marks, segment
from mobilevos.pipeline.marks import check_marks
from mobilevos.pipeline.passes import read_state
from mobilevos.pipeline.summary import read_summary
from mobilevos.tracking.snapshot import save_state
from tests.pipeline.colours import squares, tracker, write_clip

fuzz = settings(
    max_examples=int(os.environ.get("MOBILEVOS_FUZZ", "60")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MOBILEVOS_FUZZ" not in os.environ,
)

Change = tuple[str, float, bytes]
changes = st.lists(
    st.tuples(
        st.sampled_from(["set", "cut", "end", "put", "swap"]),
        st.floats(0, 1, exclude_max=True),
        st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=4,
)


def spoilt(data: bytes, how: list[Change]) -> bytes:
    """A file that somebody or something has damaged."""
    for kind, place, other in how:
        at = int(place * len(data))
        if kind == "set":
            data = data[:at] + other + data[at + len(other) :]
        elif kind == "cut":
            data = data[:at] + data[at + 50 * len(other) :]
        elif kind == "end":
            data = data[:at]
        elif kind == "put":
            data = data[:at] + other + data[at:]
        else:
            data = data[at:] + data[:at]
    return data


def answer(function: Callable[[], Any]) -> str:
    """What is wrong, in one line; nothing where all is well. Any other error comes through."""
    try:
        function()
    except InputError as error:
        text = str(error)
        assert text
        assert "\n" not in text, text
        assert "<_io" not in text
        assert "site-packages" not in text
        return text
    return ""


def picture(mode: str, form: str) -> bytes:
    rng = np.random.default_rng(0)
    image = Image.fromarray(rng.integers(0, 3, (12, 16), np.uint8)).convert(mode)
    file = io.BytesIO()
    image.save(file, form)
    return file.getvalue()


PICTURES = [
    picture("L", "PNG"),
    picture("P", "PNG"),
    picture("RGB", "PNG"),
    picture("RGBA", "PNG"),
    picture("L", "JPEG"),
]


@fuzz
@given(how=changes, which=st.sampled_from(PICTURES))
def test_masks(tmp_path_factory: pytest.TempPathFactory, how: list[Change], which: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "mask.png"
    path.write_bytes(spoilt(which, how))
    answer(lambda: load_mask(path))
    answer(lambda: read_mask(path))


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("film") / "clip.mp4", 6)


@fuzz
@given(how=changes, skip=st.booleans())
def test_videos(tmp_path_factory: pytest.TempPathFactory, film: Path, how: list[Change], skip: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "film.mp4"
    path.write_bytes(spoilt(film.read_bytes(), how))

    def read() -> None:
        with open_source(excerpt(path, None, None, PICTURE_RATE, skip)) as source:
            for _ in source:
                pass

    answer(read)


@fuzz
@given(how=changes)
def test_a_run_over_a_damaged_video(tmp_path_factory: pytest.TempPathFactory, film: Path, how: list[Change]) -> None:
    """Nothing half is left: each mask can be read, and no file has a temporary name."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "film.mp4").write_bytes(spoilt(film.read_bytes(), how))
    marks = {0: FrameMarks(next(squares(1))[1])}
    said = answer(lambda: segment(tracker(), folder / "film.mp4", marks, folder / "out", formats=["masks", "matte"]))
    assert not list(folder.rglob("*.part"))
    for path in (folder / "out").rglob("*.png"):
        read_mask(path)
    if said and "breaks at frame" not in said:
        assert not (folder / "out").exists() or not list((folder / "out").rglob("*.mp4"))


texts = st.text(st.sampled_from("0123456789,=:.- x/é\0 1:5=2"), max_size=20)


@fuzz
@given(boxes=st.lists(texts, max_size=2), clicks=st.lists(texts, max_size=2), gone=st.lists(texts, max_size=1))
def test_marks(boxes: list[str], clicks: list[str], gone: list[str]) -> None:
    info = VideoInfo(64, 48, PICTURE_RATE, 1 / PICTURE_RATE, 10)
    answer(lambda: check_marks(read_marks(boxes=boxes, clicks=clicks, not_clicks=clicks[::-1], gone=gone)[0], info))
    answer(lambda: read_marks(masks=boxes))


@fuzz
@given(begin=texts, end=texts)
def test_places(tmp_path_factory: pytest.TempPathFactory, begin: str, end: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "pictures"
    folder.mkdir(exist_ok=True)
    Image.new("RGB", (8, 8)).save(folder / "0.png")
    answer(lambda: open_source(excerpt(folder, begin, end, PICTURE_RATE)).close())


JOBS = b'source,output,box,format,backward\na.mp4,out/a,"1,2,3,4",masks,no\nb.mp4,out/b,,"masks,alpha",\n'


@fuzz
@given(how=changes)
def test_tables_of_jobs(tmp_path_factory: pytest.TempPathFactory, how: list[Change]) -> None:
    path = tmp_path_factory.getbasetemp() / "jobs.csv"
    path.write_bytes(spoilt(JOBS, how))
    answer(lambda: read_jobs(path))


@fuzz
@given(how=changes)
def test_summaries(tmp_path_factory: pytest.TempPathFactory, how: list[Change]) -> None:
    path = tmp_path_factory.getbasetemp() / "summary.json"
    path.write_bytes(spoilt(json.dumps({"frames": 3, "notes": ["a"]}).encode(), how))
    answer(lambda: read_summary(path))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame, ids = next(squares(1))
    follower = tracker()
    follower.start(frame, ids)
    path = tmp_path_factory.mktemp("state") / "state.npz"
    save_state(path, follower.state(), 0)
    return path


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # numpy leaves broken archives open
@fuzz
@given(how=changes)
def test_states(tmp_path_factory: pytest.TempPathFactory, state: Path, how: list[Change]) -> None:
    path = tmp_path_factory.getbasetemp() / "state.npz"
    path.write_bytes(spoilt(state.read_bytes(), how))
    assert answer(lambda: read_state(path)) == ""  # a state that cannot be read is none


NAMES = ("confidence.csv", ".finished.json", ".again/marks.json", ".again/states/0.npz", "masks/00003.png")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@fuzz
@given(how=changes, name=st.sampled_from(NAMES), more=st.booleans())
def test_a_folder_in_which_something_was_damaged(
    tmp_path_factory: pytest.TempPathFactory, finished: Path, how: list[Change], name: str, more: bool
) -> None:
    """It is resumed, or refused in a line; the masks that were there are not lost."""
    folder = tmp_path_factory.mktemp("again")
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    (folder / "out" / name).write_bytes(spoilt((finished / "out" / name).read_bytes(), how))
    marks = {0: FrameMarks(next(squares(1))[1])} | ({4: FrameMarks(gone=frozenset({2}))} if more else {})
    answer(lambda: segment(tracker(), folder / "film.mp4", marks, folder / "out", formats=["masks"], resume=True))
    assert len(list((folder / "out" / "masks").glob("*.png"))) == 6


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, film: Path) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    shutil.copy(film, folder / "film.mp4")
    segment(tracker(), folder / "film.mp4", {0: FrameMarks(next(squares(1))[1])}, folder / "out", formats=["masks"])
    return folder


def test_the_answer_tells_other_errors(tmp_path: Path) -> None:
    """So that the tests above can fail."""
    with pytest.raises(ZeroDivisionError):
        answer(lambda: 1 // 0)
    write_mask(tmp_path / "mask.png", np.zeros((4, 4), np.uint8))
    assert answer(lambda: load_mask(tmp_path / "none.png"))
    assert spoilt(b"abcdef", [("end", 0.5, b"x"), ("put", 0, b"y"), ("swap", 0.5, b"z")]) == b"bcya"
