"""mobilevos segment: what people type, and everything that can be wrong with it."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mobilevos.cli.segment import segment
from mobilevos.media.masks import read_mask, write_mask
from mobilevos.tracking import Tracker
from tests.builders.films import write_video
from tests.builders.pictures import write_frames
from tests.cli.command import Ran, run_command
from tests.pipeline.colours import squares, tracker, write_clip

COUNT = 8
Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command with a network that follows plain colours."""

    def load(model: str, runtime: str, *, queue: int | None, size: int, window: str) -> Tracker:
        return tracker(size, queue)

    monkeypatch.setattr(Tracker, "load", load)
    return lambda *arguments: run_command(segment, list(arguments), monkeypatch, capfd)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clips") / "Mein Film – 映画.mp4", COUNT)


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    write_mask(tmp_path / "mask.png", next(squares(1))[1])
    return tmp_path / "mask.png"


def test_a_mask_and_every_format(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    out = tmp_path / "Ausgabe mit Leerzeichen é"
    formats = "masks,overlay,cutout,matte,alpha,prores,alpha-png,alpha-png16,exr,coco,sheet"
    ran = run(clip, "--mask", mask, "-o", out, "--format", formats, "--color", "#ffffff")
    assert ran.code == 0
    assert f"{COUNT} frames, 2 objects: " in ran.out
    assert "without reading and writing" in ran.out
    assert len(list((out / "masks").glob("*.png"))) == len(list((out / "alpha").glob("*.png"))) == COUNT
    assert len(list((out / "exr").glob("*.exr"))) == COUNT
    assert len(json.loads((out / "coco.json").read_text())["images"]) == COUNT
    for name in ("overlay.mp4", "cutout.mp4", "alpha.webm", "alpha.mov", "sheet.png", "confidence.csv"):
        assert (out / name).stat().st_size > 0
    assert not (out / ".resume").exists()
    import av

    with av.open(str(out / "cutout.mp4")) as video:
        corner = next(video.decode(video=0)).to_ndarray(format="rgb24")[0, -1]
    assert corner.min() > 240  # white, as asked for


def test_boxes_clicks_and_corrections(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    arguments = ["--box", "2,6,24,24", "--click", "2:76,46", "--not", "2:10,50", "--mask", f"5={mask}", "--gone", "7=2"]
    ran = run(clip, *arguments, "-o", tmp_path / "out", "--format", "masks", "--queue", "unbounded")
    assert ran.code == 0, ran.err
    masks = [read_mask(p) for p in sorted((tmp_path / "out" / "masks").iterdir())]
    assert set(np.unique(masks[3])) == {0, 1, 2}
    np.testing.assert_array_equal(masks[5], read_mask(mask))
    assert 2 not in masks[7]


def test_an_output_is_replaced_only_by_force(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    command = (clip, "--mask", mask, "-o", tmp_path / "out", "--format", "masks")
    assert run(*command).code == 0
    again = run(*command)
    assert again.code == 2
    assert "exists already" in again.err
    assert run(*command, "--resume").out == f"{tmp_path / 'out'} is complete already.\n"
    other = run(clip, "--box", "2,6,24,24", *command[3:], "--resume")
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "was made otherwise: its first marks were others" in other.err
    assert run(*command, "--force").code == 0


def test_force_with_a_slip_loses_nothing(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    """A video of 8 frames, in which frame 9 is marked: it is found only when the video has been read."""
    out = tmp_path / "out"
    assert run(clip, "--mask", mask, "-o", out).code == 0
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    for slip in (("--box", "9=3:2,6,24,24"), ("--box", "2,6"), ("--format", "gif"), ("--color", "reddish")):
        ran = run(clip, "--mask", mask, "-o", out, "--force", *slip)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_a_mask_is_edited_in_place(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(clip, "--mask", mask, "-o", out, "--format", "masks").code == 0
    edited = out / "masks" / "00004.png"
    write_mask(edited, np.where(list(squares(5))[4][1] == 1, np.uint8(1), np.uint8(0)))  # object 2 is not drawn
    mine = edited.read_bytes()
    ran = run(clip, "--mask", mask, "--mask", f"4={edited}", "-o", out, "--format", "masks", "--force")
    assert ran.code == 0, ran.err
    kept = out / "kept" / "00004.png"
    assert kept.read_bytes() == mine
    assert f"{edited} was read as a mark, and now holds the result; as it was, it is {kept}.\n" in ran.out


def test_edges(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    edges = ("--despeckle", "9", "--fill-holes", "9", "--grow", "-2", "--smooth", "1", "--feather", "0")
    ran = run(clip, "--mask", mask, "-o", tmp_path, "--format", "masks,alpha-png,matte", *edges)
    assert ran.code == 0, ran.err
    ids = read_mask(tmp_path / "masks" / "00003.png")
    inside = list(squares(4))[3][1]
    assert 0.5 < (ids > 0).sum() / (inside > 0).sum() < 0.75  # squares of 20 pixels are 16 now: 0.64
    alpha = np.array(Image.open(tmp_path / "alpha" / "00003.png"))[..., 3]
    np.testing.assert_array_equal(alpha, np.where(ids > 0, 255, 0))
    import av

    with av.open(str(tmp_path / "matte.mp4")) as video:
        gray = list(video.decode(video=0))[3].to_ndarray(format="rgb24").astype(int)
    assert np.abs(gray - alpha[..., None]).mean() < 3


def test_a_part(run: Run, clip: Path, tmp_path: Path) -> None:
    """A mark without a frame is in the first of the part."""
    write_mask(tmp_path / "mask.png", list(squares(4))[3][1])
    part = ("--from", "3", "--to", "0.2s")
    ran = run(clip, "--mask", tmp_path / "mask.png", "-o", tmp_path / "out", "--format", "masks", *part)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("3 frames, 2 objects")
    assert sorted(p.name for p in (tmp_path / "out" / "masks").iterdir()) == [f"0000{i}.png" for i in (3, 4, 5)]
    assert run(clip, "--box", "2,6,24,24", *part, "-o", tmp_path / "out", "--preview").out.startswith("Frame 3 with")


def test_force_does_not_remove_the_source(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source = tmp_path / "out" / "overlay.mp4"
    source.write_bytes(clip.read_bytes())
    ran = run(source, "--mask", mask, "-o", tmp_path / "out", "--force")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "give another folder" in ran.err
    assert source.read_bytes() == clip.read_bytes()


def test_sound_that_is_left_out_is_said(run: Run, mask: Path, tmp_path: Path) -> None:
    times = [Fraction(i, 10) for i in range(20)]
    source = write_video(tmp_path / "clip.mkv", times, (64, 96), audio="pcm_s16le")
    source.write_bytes(source.read_bytes().replace(b"A_PCM/INT/LIT", b"A_PCM/INT/???"))
    ran = run(source, "--mask", mask, "-o", tmp_path / "out", "--format", "overlay,cutout")
    assert ran.code == 0
    assert ran.out.count("The sound of clip.mkv is left out: FFmpeg cannot decode it.") == 1


def test_control_c_says_how_to_go_on(
    run: Run, clip: Path, mask: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mobilevos.pipeline.follow import MarkFollower

    take = MarkFollower.take

    def interrupted(self: MarkFollower, index: int, frame: np.ndarray) -> Any:
        if index == 4:
            raise KeyboardInterrupt
        return take(self, index, frame)

    command = (clip, "--mask", mask, "-o", tmp_path / "out", "--format", "masks,overlay")
    with monkeypatch.context() as patch:
        patch.setattr(MarkFollower, "take", interrupted)
        ran = run(*command)
    assert ran.code == 1
    assert "--resume goes on" in ran.err
    assert len(list((tmp_path / "out" / "masks").iterdir())) == 4
    assert run(*command, "--resume").code == 0
    assert len(list((tmp_path / "out" / "masks").iterdir())) == COUNT


def test_a_preview_and_nothing_else(run: Run, clip: Path, mask: Path, tmp_path: Path) -> None:
    """The masks of the first marked frame with their numbers; an output that is there stays as it is."""
    marks = ("--box", "3=2,6,32,24", "--click", "3=2:70,46", "--mask", f"6={mask}")
    ran = run(clip, *marks, "-o", tmp_path / "new" / "out", "--preview")
    assert (ran.code, ran.err) == (0, "")
    picture = tmp_path / "new" / "out" / "preview.png"
    assert ran.out == f"Frame 3 with 2 objects: {picture}\n"
    assert [p for p in (tmp_path / "new").rglob("*") if p.is_file()] == [picture]
    drawn, plain = np.array(Image.open(picture)), list(squares(4))[3][0]
    assert drawn.shape == plain.shape
    changed = (drawn != plain).any(-1)
    assert changed[10:26, 10:24].mean() > 0.9  # object 1
    assert changed[40:55, 66:80].mean() > 0.9  # object 2
    assert not changed[:, 90:].any()
    assert (drawn == 255).all(-1)[:34, :40].any()  # the number, in white

    assert run(clip, "--mask", mask, "-o", tmp_path / "out").code == 0
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    for _ in range(2):  # an earlier preview is replaced
        assert run(clip, *marks, "-o", tmp_path / "out", "--preview").code == 0
    after = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert after.keys() - before.keys() == {tmp_path / "out" / "preview.png"}
    assert {p: after[p] for p in before} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--click", "4,5", "--not", "4,5"], "clicked as on object 1 and as not on it"),
        (["--click", "99=4,5"], "frame 99 is marked"),
        (["--click", "9=4,5"], "has fewer frames"),  # a video says only roughly how long it is
        (["--box", "2,6,24,24", "--summary", "how.json"], "either --preview, which follows nothing, or --summary"),
    ],
)
def test_a_preview_of_bad_marks(run: Run, clip: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    ran = run(clip, *arguments, "-o", tmp_path / "out", "--preview")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_it_stops_where_an_object_is_lost(run: Run, mask: Path, tmp_path: Path) -> None:
    """Object 2 has another colour from frame 2 on; told that it is gone, the run goes on."""
    (tmp_path / "in").mkdir()
    for index, (picture, ids) in enumerate(squares(16)):
        frame = np.where((ids == 2)[..., None] & (index >= 2), np.uint8((240, 220, 40)), picture)
        Image.fromarray(frame).save(tmp_path / "in" / f"{index}.png")
    command = (tmp_path / "in", "--mask", mask, "-o", tmp_path / "out", "--stop-when-lost")
    ran = run(*command)
    assert ran.code == 0
    assert "Stopped after frame 11: object 2 is lost since frame 2." in ran.out
    assert "Look here: object 2 is lost in frames 2 to 11: correct frame 2, unless it has left" in ran.out
    assert ran.out.endswith(f"Stopped: {tmp_path / 'out'}\n")
    on = run(*command, "--gone", "2=2", "--resume")
    assert on.code == 0, on.err
    assert "16 frames, 2 objects" in on.out
    assert on.out.endswith(f"Done: {tmp_path / 'out'}\n")


def truncated(folder: Path) -> list[Any]:
    whole = write_clip(folder / "whole.mp4", COUNT)
    (folder / "cut.mp4").write_bytes(whole.read_bytes()[:-600])
    return [folder / "cut.mp4", "--box", "2,6,24,24"]


def zero_bytes(folder: Path) -> list[Any]:
    (folder / "empty.mp4").touch()
    return [folder / "empty.mp4", "--box", "2,6,24,24"]


def text(folder: Path) -> list[Any]:
    (folder / "text.mp4").write_text("this is no video\n" * 100)
    return [folder / "text.mp4", "--box", "2,6,24,24"]


def no_such_file(folder: Path) -> list[Any]:
    return [folder / "nothing.mp4", "--box", "2,6,24,24"]


def no_pictures(folder: Path) -> list[Any]:
    (folder / "empty").mkdir()
    return [folder / "empty", "--box", "2,6,24,24"]


def mask_of_another_size(folder: Path) -> list[Any]:
    write_mask(folder / "small.png", np.ones((10, 10), np.uint8))
    return ["CLIP", "--mask", folder / "small.png"]


def empty_mask(folder: Path) -> list[Any]:
    write_mask(folder / "black.png", np.zeros((64, 96), np.uint8))
    return ["CLIP", "--mask", folder / "black.png"]


def mask_that_is_a_text(folder: Path) -> list[Any]:
    (folder / "mask.png").write_text("no picture")
    return ["CLIP", "--mask", folder / "mask.png"]


def one_pixel(folder: Path) -> list[Any]:
    ids = np.zeros((64, 96), np.uint8)
    ids[3, 3] = 1
    write_mask(folder / "pixel.png", ids)
    return ["CLIP", "--mask", folder / "pixel.png"]


def output_below_a_file(folder: Path) -> list[Any]:
    (folder / "file").write_text("in the way")
    return ["CLIP", "--box", "2,6,24,24", "-o", folder / "file" / "out"]


BAD: list[tuple[Callable[[Path], list[Any]], str]] = [
    (truncated, "expected a video"),
    (zero_bytes, "is empty (0 bytes)"),
    (text, "cannot be read as one"),
    (no_such_file, "no such file or folder"),
    (no_pictures, "no pictures in the folder"),
    (mask_of_another_size, "expected a mask of 96 x 64 pixels like the video, got one of 10 x 10"),
    (empty_mask, "all of it is background"),
    (mask_that_is_a_text, "expected a picture"),
    (one_pixel, "object 1 has 1 pixels, too few to be followed"),
    (output_below_a_file, "cannot write to"),
    (lambda folder: ["CLIP"], "nothing is marked"),
    (lambda folder: ["CLIP", "--box", "5,5,0,10"], "the box 5,5,0,10 of object 1 is empty"),
    (lambda folder: ["CLIP", "--box", "96,0,10,10"], "outside the frame of 96 x 64"),
    (lambda folder: ["CLIP", "--box", "1,2,3"], "expected 4 numbers"),
    (lambda folder: ["CLIP", "--click", "500,5"], "outside the frame"),
    (lambda folder: ["CLIP", "--box", "99=2,6,24,24"], "frame 99 is marked, but the source has the frames 0 to 7"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--format", "gif"], "expected formats of masks, overlay"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--queue", "0"], "expected a queue"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--color", "reddish"], "expected a colour"),
    (lambda folder: ["camera:77", "--box", "2,6,24,24"], "no picture from camera:77"),
    (lambda folder: ["-", "--box", "2,6,24,24", "--resume"], "can be read only once"),
    (lambda folder: ["x" * 300, "--box", "2,6,24,24"], "a name is too long for a file: xxx"),
    (lambda folder: ["CLIP", "--mask", "x" * 300], "no such file: xxx"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "-o", folder / ("x" * 300)], "a name is too long"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "-o", ""], "expected a folder for --output, got nothing"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--grow", "100000"], "cannot grow masks by 100000 pixels"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--smooth", "100"], "expected to smooth over 0 to 8 frames"),
    (lambda folder: ["CLIP", "--box", "2,6,24,24", "--feather", "-1"], "expected to feather edges by 0 to 250"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(
    run: Run, clip: Path, tmp_path: Path, make: Callable[[Path], list[Any]], message: str
) -> None:
    arguments = [clip if argument == "CLIP" else argument for argument in make(tmp_path)]
    before = sorted(tmp_path.rglob("*"))
    ran = run("-o", tmp_path / "out" / "deep", *arguments)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("mobilevos: ")
    assert message in ran.err
    assert not any(word in ran.err for word in ("<_io", "site-packages", "Error", "modules/"))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_video_that_breaks_keeps_what_came_before(run: Run, tmp_path: Path) -> None:
    """Pictures, of which the sixth is damaged."""
    folder = write_frames(tmp_path / "in", [picture for picture, _ in squares(COUNT)])
    (folder / "00005.png").write_bytes((folder / "00005.png").read_bytes()[:200])
    ran = run(folder, "--box", "2,6,24,24", "-o", tmp_path / "out", "--format", "masks,overlay")
    assert ran.code == 2
    assert "breaks at frame 5" in ran.err
    assert ran.err.count("\n") == 1
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        ".again",
        "masks",
        "overlay.mp4",
        "confidence.csv",
        ".finished.json",
    }
    assert len(list((tmp_path / "out" / "masks").iterdir())) == 5
    again = run(folder, "--box", "2,6,24,24", "-o", tmp_path / "out", "--format", "masks,overlay", "--resume")
    assert (again.code, again.out, again.err.count("\n")) == (2, "", 1)
    assert "is not complete" in again.err
    assert "breaks at frame 5" in again.err


def test_one_frame_is_a_video(run: Run, mask: Path, tmp_path: Path) -> None:
    one = write_clip(tmp_path / "one.mp4", 1)
    ran = run(one, "--mask", mask, "-o", tmp_path / "out")
    assert ran.code == 0
    assert ran.out.startswith("1 frame, 2 objects")
    np.testing.assert_array_equal(read_mask(tmp_path / "out" / "masks" / "00000.png"), read_mask(mask))


def test_an_8k_frame(run: Run, tmp_path: Path) -> None:
    picture, ids = next(squares(1))
    Image.fromarray(picture).resize((7680, 4320), Image.Resampling.NEAREST).save(tmp_path / "8k.bmp")
    ran = run(tmp_path / "8k.bmp", "--box", "320,540,1600,1350", "-o", tmp_path / "out", "--format", "masks")
    assert ran.code == 0
    found = read_mask(tmp_path / "out" / "masks" / "8k.png")
    assert found.shape == (4320, 7680)
    found = found[33::68, 40::80][:63]  # a pixel of the middle of each of the 64 x 96 large ones, but the last row
    assert ((found == 1) == (ids[: len(found)] == 1)).mean() > 0.97
