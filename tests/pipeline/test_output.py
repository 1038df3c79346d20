"""The folder of outputs: every format read back, and nothing lost or half-written when things go wrong."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask
from mobilevos.media.overlay import draw_overlay, with_alpha
from mobilevos.media.sinks import FORMATS, Look, SheetSink
from mobilevos.media.video import BrokenVideoError, Frame, VideoInfo
from mobilevos.pipeline.output import Output, finished
from mobilevos.synthetic.clip import synthetic_frames
from tests.builders.films import decode

COUNT = 7
INFO = VideoInfo(96, 64, Fraction(24), Fraction(1, 24), frames=COUNT)


def clip() -> Iterator[tuple[Frame, np.ndarray, dict[int, float]]]:
    for index, (rgb, ids) in enumerate(synthetic_frames(frames=COUNT, height=64, width=96, objects=2)):
        yield Frame(index, Fraction(index, 24), rgb, f"{index:05d}"), ids, {1: 0.9, 2: 1 / (index + 2)}


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_every_format(tmp_path: Path) -> None:
    folder = tmp_path / "mein Ausgang" / "输出"
    with Output(folder, list(FORMATS), INFO) as output:
        for frame, ids, confidence in clip():
            output.write(frame, ids, confidence)
    names = {FORMATS[name].name for name in FORMATS}
    assert {p.name for p in folder.iterdir()} == names | {"confidence.csv", ".finished.json"}
    times = [Fraction(i, 24) for i in range(COUNT)]
    for video in ("overlay.mp4", "cutout.mp4", "alpha.mov", "alpha.webm"):
        got, pictures = decode(folder / video)
        slack = Fraction(1, 2000) if video.endswith("webm") else 0
        assert len(got) == COUNT
        assert all(abs(a - b) <= slack for a, b in zip(got, times, strict=True))
        assert pictures[0].shape == (64, 96, 3)
    _, drawn = decode(folder / "overlay.mp4")
    for (frame, ids, confidence), picture in zip(clip(), drawn, strict=True):
        assert np.array_equal(read_mask(folder / "masks" / f"{frame.name}.png"), ids)
        with Image.open(folder / "alpha" / f"{frame.name}.png") as image:
            assert np.array_equal(np.array(image), with_alpha(frame.rgb, ids))
        deep = cv2.imread(str(folder / "alpha16" / f"{frame.name}.png"), cv2.IMREAD_UNCHANGED)
        assert (deep.dtype, deep.shape) == (np.uint16, (64, 96, 4))
        inside = deep[..., 3] == 65535
        assert np.array_equal(deep[..., 2::-1][inside], 257 * frame.rgb[inside].astype(int))
        assert len(np.unique(deep[..., 3])) > 5  # edges are soft
        expected = draw_overlay(frame.rgb, ids, confidence=confidence).astype(int)
        assert np.abs(picture - expected).mean() < 12
    assert len(json.loads((folder / "coco.json").read_text())["images"]) == COUNT
    lines = (folder / "confidence.csv").read_text().splitlines()
    assert lines[0] == "frame,time,object,confidence,alike"
    assert lines[1:4] == ["0,0.000000,1,0.9000,", "0,0.000000,2,0.5000,", "1,0.041667,1,0.9000,"]
    assert len(lines) == 1 + 2 * COUNT
    with Image.open(folder / "sheet.png") as sheet:
        assert sheet.size[0] == 4 * 326 + 6


def test_without_masks_only_what_was_asked_for_remains(tmp_path: Path) -> None:
    with Output(tmp_path / "out", ["coco"], INFO) as output:
        for frame, ids, confidence in clip():
            output.write(frame, ids, confidence)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"coco.json", "confidence.csv", ".finished.json"}


def test_kill_and_resume_give_the_same_files(tmp_path: Path) -> None:
    """A process is killed (SIGKILL) in the middle of its fifth frame; another resumes; nothing differs."""
    formats = ["masks", "overlay", "coco", "sheet"]
    with Output(tmp_path / "whole", formats, INFO) as output:
        for frame, ids, confidence in clip():
            output.write(frame, ids, confidence)
    code = """
import os, signal, sys
from mobilevos.media import masks
from mobilevos.pipeline.output import Output
from tests.pipeline.test_output import INFO, clip
output = Output(sys.argv[1], sys.argv[2].split(","), INFO)
for frame, ids, confidence in clip():
    if frame.index == 4:
        masks.davis_palette = lambda: os.kill(os.getpid(), signal.SIGKILL)
    output.write(frame, ids, confidence)
"""
    cut = tmp_path / "cut"
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code, cut, ",".join(formats)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(p.name for p in (cut / "masks").glob("*.png")) == [f"{i:05d}.png" for i in range(4)]
    assert not (cut / "overlay.mp4").exists()
    with (cut / "confidence.csv").open("a") as file:
        file.write("4,0.16")  # and half a line for good measure

    tracked = []
    with Output(cut, formats, INFO, resume=True) as output:
        for frame, ids, confidence in clip():
            stored = output.stored(frame)
            if stored is None:
                tracked.append(frame.index)
                output.write(frame, ids, confidence)
            else:
                output.write(frame, stored.ids, stored.confidence)
    assert tracked == [4, 5, 6]
    assert files(cut) == files(tmp_path / "whole")


def test_existing_output_is_not_overwritten_unless_forced(tmp_path: Path) -> None:
    def run(**options: bool) -> None:
        with Output(tmp_path, ["masks", "sheet"], INFO, **options) as output:
            for frame, ids, _ in clip():
                output.write(frame, ids)

    run()
    before = files(tmp_path)
    (tmp_path / "masks" / "99999.png").write_bytes(before["masks/00000.png"])
    with pytest.raises(InputError, match="exists already"):
        run()
    assert len(files(tmp_path)) == len(before) + 1
    run(force=True)
    assert files(tmp_path) == before


def write_until(error: BaseException, folder: Path, formats: list[str]) -> None:
    """Three frames, then the error."""
    with Output(folder, formats, INFO) as output:
        for frame, ids, confidence in clip():
            if frame.index == 3:
                raise error
            output.write(frame, ids, confidence)


def test_an_error_keeps_the_record_and_drops_half_videos(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_until(KeyboardInterrupt(), tmp_path / "out", ["masks", "overlay", "coco"])
    kept = {"confidence.csv", ".resume/settings.json", *(f"masks/{i:05d}.png" for i in range(3))}
    assert set(files(tmp_path / "out")) == kept


def test_an_unfinished_run_is_resumed_with_the_same_settings_or_replaced(tmp_path: Path) -> None:
    def begin(**options: Any) -> Output:
        return Output(tmp_path, ["masks", "sheet"], INFO, **options)

    frame, ids, confidence = next(clip())
    output = begin(settings={"size": "480"}, resume=True)  # nothing is there: it begins
    output.write(frame, ids, confidence)
    output.abort()
    assert finished(tmp_path, ["masks"], {"size": "480"}) is None
    with pytest.raises(InputError, match="unfinished run: resume it"):
        begin(settings={"size": "480"})
    with pytest.raises(InputError, match="its size was 480, now it is 320"):
        begin(settings={"size": "320"}, resume=True)
    with begin(settings={"size": "480"}, resume=True) as output:
        stored = output.stored(frame)
        assert stored is not None
        assert stored.confidence == {1: 0.9, 2: 0.5}
        output.write(frame, stored.ids, stored.confidence)
    assert finished(tmp_path, ["masks", "sheet"], {"size": "480"}) == {"frames": 1, "broken": ""}
    assert finished(tmp_path, ["masks", "overlay"], {"size": "480"}) is None
    with pytest.raises(InputError, match="nothing to resume"):
        begin(settings={"size": "480"}, resume=True)
    with begin(settings={"size": "320"}, force=True) as output:
        assert output.stored(frame) is None


def test_a_source_that_breaks_leaves_complete_outputs(tmp_path: Path) -> None:
    with pytest.raises(BrokenVideoError):
        write_until(BrokenVideoError("clip.mp4", 3, "damaged"), tmp_path / "out", ["overlay", "coco"])
    assert set(files(tmp_path / "out")) == {"confidence.csv", "coco.json", "overlay.mp4", ".finished.json"}
    assert len(decode(tmp_path / "out" / "overlay.mp4")[0]) == 3
    with pytest.raises(InputError, match=r"out is not complete: clip\.mp4 breaks at frame 3: damaged; mend the source"):
        finished(tmp_path / "out", ["overlay", "coco"], {})


def test_a_finished_run_is_known_by_its_settings(tmp_path: Path) -> None:
    with Output(tmp_path, ["masks", "cutout"], INFO, settings={"marks": "a"}, look=Look((1, 2, 3))) as output:
        output.write(*next(clip()))
    assert finished(tmp_path, ["masks"], {"marks": "a"}, Look((1, 2, 3))) == {"frames": 1, "broken": ""}
    with pytest.raises(InputError, match=r"was made otherwise: its first marks were others .*; give another folder"):
        finished(tmp_path, ["masks"], {"marks": "b"}, Look((1, 2, 3)))
    with pytest.raises(InputError, match="its color was 1,2,3, now it is 0,0,0"):
        finished(tmp_path, ["cutout"], {"marks": "a"}, Look((0, 0, 0)))
    (tmp_path / ".finished.json").write_text("{")
    assert finished(tmp_path, ["masks"], {"marks": "a"}, Look((1, 2, 3))) is None
    with pytest.raises(InputError, match="nothing to resume"):
        Output(tmp_path, ["masks"], INFO, settings={"marks": "a"}, resume=True)


def test_a_source_among_the_outputs_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "alpha").mkdir()
    for path in (tmp_path / "overlay.mp4", tmp_path / "alpha" / "0.png"):
        path.write_bytes(b"mine")
    (tmp_path / "link.mp4").symlink_to(tmp_path / "overlay.mp4")
    (tmp_path / "mine.png").write_bytes(b"mine")
    (tmp_path / "alpha" / "1.png").symlink_to(tmp_path / "mine.png")
    before = files(tmp_path)
    for source, formats in (
        (tmp_path / "overlay.mp4", ["overlay"]),
        (tmp_path / "alpha" / ".." / "overlay.mp4", ["overlay"]),
        (tmp_path / "link.mp4", ["masks", "overlay"]),
        (tmp_path / "alpha", ["alpha-png"]),
        (tmp_path / "alpha" / "1.png", ["alpha-png"]),
        (f"{tmp_path}/*/*.png", ["alpha-png"]),
    ):
        with pytest.raises(InputError, match=r"is to be read, but lies where .* goes; give another folder"):
            Output(tmp_path, formats, INFO, source=source, force=True)
        assert files(tmp_path) == before
    with Output(tmp_path, ["masks"], INFO, source=tmp_path / "alpha", force=True) as output:
        output.write(*next(clip()))
    assert {name: content for name, content in files(tmp_path).items() if name in before} == before


def test_times_begin_with_the_first_frame(tmp_path: Path) -> None:
    """Also where the run is resumed in the middle of a source whose clock began before it."""
    late = replace(INFO, start=Fraction(10))

    def write(resume: bool, stop: int) -> None:
        with Output(tmp_path, ["masks", "coco"], late, resume=resume) as output:
            for frame, ids, confidence in clip():
                if frame.index == stop:
                    raise KeyboardInterrupt
                output.write(replace(frame, time=10 + frame.time), ids, confidence)

    with pytest.raises(KeyboardInterrupt):
        write(resume=False, stop=3)
    write(resume=True, stop=COUNT)
    times = [f"{float(Fraction(i, 24)):.6f}" for i in range(COUNT) for _ in range(2)]
    assert [line.split(",")[1] for line in (tmp_path / "confidence.csv").read_text().splitlines()[1:]] == times
    images = json.loads((tmp_path / "coco.json").read_text())["images"]
    assert [image["time"] for image in images] == [i / 24 for i in range(COUNT)]


def test_nothing_is_left_where_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="bad mask"), Output(tmp_path / "a" / "b", list(FORMATS), INFO):
        raise InputError("bad mask")
    assert not list(tmp_path.iterdir())


def test_bad_targets(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot write to"):
        Output(tmp_path / "file", ["masks"], INFO)
    with pytest.raises(InputError, match="cannot write to"):
        Output(tmp_path / "file" / "out", ["masks"], INFO)
    with pytest.raises(InputError, match="expected formats of masks, overlay"):
        Output(tmp_path / "out", ["gif"], INFO)
    with pytest.raises(InputError, match="expected formats"):
        Output(tmp_path / "out", [], INFO)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_wrong_sizes(tmp_path: Path) -> None:
    frames = list(clip())
    with Output(tmp_path, ["masks"], INFO) as output:
        with pytest.raises(InputError, match="expected a mask of shape"):
            output.write(frames[0][0], np.zeros((3, 3), np.uint8))
        output.write(*frames[0])
    other = Frame(0, Fraction(0), np.zeros((10, 10, 3), np.uint8), "00000")
    with pytest.raises(KeyboardInterrupt):
        write_until(KeyboardInterrupt(), tmp_path / "cut", ["masks"])
    with (
        Output(tmp_path / "cut", ["masks"], INFO, resume=True) as output,
        pytest.raises(InputError, match="another video"),
    ):
        output.stored(other)


def test_sheet_spreads_over_a_source_of_any_length(tmp_path: Path) -> None:
    rgb, ids = next(synthetic_frames(frames=1, height=32, width=48, objects=1))
    for length in (1, 24, 25, 1000):
        sink = SheetSink(tmp_path / f"{length}.png")
        for index in range(length):
            sink.write(Frame(index, Fraction(index), rgb, str(index)), ids, {})
        shown = [index for index, _ in sink._tiles]
        assert shown[0] == 0
        assert len(shown) <= SheetSink.most
        assert len(shown) >= min(length, SheetSink.most // 2)
        assert len(set(np.diff(shown))) <= 1
        sink.close()
        assert (tmp_path / f"{length}.png").exists()
