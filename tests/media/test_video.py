"""Reading: whatever people have comes as it is seen, with exact times, or with one clear sentence."""

import itertools
import os
import subprocess
import sys
import threading
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.excerpt import excerpt
from mobilevos.media.pictures import natural_key, read_picture
from mobilevos.media.video import BrokenVideoError, open_source, read_frames
from tests.builders.films import TICK, VARIABLE, decode, quadrants, set_display_matrix, write_video


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def close_to(got: np.ndarray, expected: np.ndarray, tolerance: float = 4) -> bool:
    """Equal up to what a good encoder loses, away from edges."""
    return got.shape == expected.shape and float(np.abs(got.astype(int) - expected).mean()) < tolerance


def test_times_of_a_variable_rate_are_exact(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4")
    with open_source(path) as source:
        frames = list(source)
    assert [frame.time for frame in frames] == VARIABLE
    assert [frame.index for frame in frames] == list(range(len(VARIABLE)))
    assert frames[3].name == "00003"
    assert source.info.time_base == TICK
    assert (source.info.width, source.info.height) == (64, 48)
    assert source.info.frames == len(VARIABLE)
    assert not source.info.has_audio
    assert source.audio is None
    for index, frame in enumerate(frames):
        assert close_to(frame.rgb, quadrants(48, 64, index))


def test_an_address(tmp_path: Path) -> None:
    """Its frames are those of the file; it is not to be had in part, and one that is not there is a sentence."""
    path = write_video(tmp_path / "clip.mkv")
    handler = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            frames = list(read_frames(f"{address}/clip.mkv"))
            with pytest.raises(InputError, match="can be read only once"):
                excerpt(f"{address}/clip.mkv", "1", None, Fraction(24))
            with pytest.raises(InputError, match="404"):
                list(read_frames(f"{address}/none.mkv"))
        finally:
            server.shutdown()
    for frame, expected in zip(frames, read_frames(path), strict=True):
        assert frame.time == expected.time
        np.testing.assert_array_equal(frame.rgb, expected.rgb)


@pytest.mark.parametrize(
    ("matrix", "degrees", "turn"),
    [
        ((0, 1, -1, 0), 90, lambda p: np.rot90(p, -1)),
        ((-1, 0, 0, -1), 180, lambda p: np.rot90(p, 2)),
        ((0, -1, 1, 0), 270, lambda p: np.rot90(p, 1)),
        ((-1, 0, 0, 1), 0, lambda p: p[:, ::-1]),
        ((1, 0, 0, -1), 180, lambda p: p[::-1]),
        ((0, 1, 1, 0), 270, lambda p: p.transpose(1, 0, 2)),
    ],
    ids=["90", "180", "270", "mirrored", "upside down", "transposed"],
)
def test_rotation_is_applied(tmp_path: Path, matrix: tuple, degrees: int, turn) -> None:
    path = write_video(tmp_path / "clip.mp4")
    set_display_matrix(path, *matrix)
    expected = turn(quadrants(48, 64))
    with open_source(path) as source:
        frame = next(iter(source))
    assert close_to(frame.rgb, expected)
    assert source.info.rotation == degrees
    assert (source.info.height, source.info.width) == expected.shape[:2]


@pytest.mark.parametrize(
    ("encoder", "pixels", "size", "name"),
    [
        ("libx265", "yuv420p10le", (48, 64), "ten bits.mp4"),
        ("libx264", "yuv444p", (47, 65), "odd size.mp4"),
        ("libvpx-vp9", "yuv420p", (47, 65), "odd 4-2-0.webm"),
        ("ffv1", "yuv420p10le", (48, 64), "clip.mkv"),
        ("mpeg4", "yuv420p", (48, 64), "clip.avi"),
        ("libx264", "yuv420p", (48, 64), "clip.ts"),
    ],
)
def test_kinds_of_video(tmp_path: Path, encoder: str, pixels: str, size: tuple[int, int], name: str) -> None:
    options = {"x265-params": "log-level=none"} if encoder == "libx265" else {}
    times = [Fraction(i, 30) for i in range(6)]
    tick = Fraction(1, 30) if name.endswith(".avi") else TICK  # AVI knows constant rates only
    path = write_video(tmp_path / name, times, size, encoder, pixels, options=options, tick=tick)
    frames = list(read_frames(path))
    assert len(frames) == 6
    assert all(b.time > a.time for a, b in itertools.pairwise(frames))
    # Chroma at half the resolution blurs the inner edges, so compare the middle of each quadrant.
    height, width = size
    for y in (height // 4, 3 * height // 4):
        for x in (width // 4, 3 * width // 4):
            assert np.abs(frames[0].rgb[y, x].astype(int) - quadrants(*size)[y, x]).max() < 16


def test_unicode_and_spaces_in_paths(tmp_path: Path) -> None:
    folder = tmp_path / "мой клип – 我的 video"
    folder.mkdir()
    path = write_video(folder / "früh am Morgen.mp4")
    assert len(list(read_frames(path))) == len(VARIABLE)
    Image.fromarray(quadrants(8, 8)).save(folder / "ein bild.png")
    assert len(list(read_frames(folder))) == 1


def test_audio_is_noticed(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4", audio="aac")
    with open_source(path) as source:
        assert source.info.has_audio
        assert source.audio == str(path)


def test_folder_in_natural_order(tmp_path: Path) -> None:
    for number in (10, 9, 100, 1):
        Image.fromarray(np.full((4, 6, 3), number, np.uint8)).save(tmp_path / f"frame{number}.png")
    (tmp_path / "notes.txt").write_text("not a frame")
    (tmp_path / ".hidden.png").write_text("not a frame either")
    with open_source(tmp_path, rate=Fraction(30000, 1001)) as source:
        frames = list(source)
    assert [int(frame.rgb[0, 0, 0]) for frame in frames] == [1, 9, 10, 100]
    assert [frame.name for frame in frames] == ["frame1", "frame9", "frame10", "frame100"]
    assert [frame.time for frame in frames] == [Fraction(i * 1001, 30000) for i in range(4)]
    assert source.info.frames == 4
    assert [f.index for f in read_frames(str(tmp_path / "frame1*.png"))] == [0, 1, 2]


def test_natural_order_of_names() -> None:
    names = ["a1b10", "a1b9", "A1b1", "a10b1", "b", "07", "7a", "007"]
    assert sorted(names, key=natural_key) == ["07", "007", "7a", "A1b1", "a1b9", "a1b10", "a10b1", "b"]


def test_equal_names_of_several_folders_stay_apart(tmp_path: Path) -> None:
    for folder in ("2", "10"):
        (tmp_path / folder).mkdir()
        Image.fromarray(np.full((4, 6, 3), int(folder), np.uint8)).save(tmp_path / folder / "a.png")
    frames = list(read_frames(str(tmp_path / "*" / "*.png")))
    assert [int(frame.rgb[0, 0, 0]) for frame in frames] == [2, 10]
    assert [frame.name for frame in frames] == ["00000", "00001"]


def test_pictures_of_all_kinds_become_rgb(tmp_path: Path) -> None:
    gray = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10
    Image.fromarray(gray).save(tmp_path / "gray.png")
    Image.fromarray(gray.astype(np.uint16) * 257).save(tmp_path / "deep.png")
    Image.fromarray(np.dstack([gray] * 4)).save(tmp_path / "alpha.png")
    for name in ("gray", "deep", "alpha"):
        assert np.array_equal(read_picture(tmp_path / f"{name}.png"), np.dstack([gray] * 3))
    turned = Image.fromarray(quadrants(16, 24))
    exif = turned.getexif()
    exif[0x0112] = 6  # shown turned by 90 degrees clockwise
    turned.save(tmp_path / "turned.png", exif=exif)
    assert np.array_equal(read_picture(tmp_path / "turned.png"), np.rot90(quadrants(16, 24), -1))


def test_one_picture_is_a_video_of_one_frame(tmp_path: Path) -> None:
    Image.fromarray(quadrants(8, 8)).save(tmp_path / "only.png")
    assert len(list(read_frames(tmp_path / "only.png"))) == 1


def test_standard_input(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mkv", [Fraction(i, 30) for i in range(5)])
    code = "from mobilevos.media.video import read_frames; print(sum(1 for _ in read_frames('-')))"
    with path.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdin=file, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "5"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of open files on this system")
def test_closing_early_lets_go_of_the_file(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4")
    with open_source(path) as source:
        next(iter(source))
    assert str(path) not in {os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.exists()}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.mp4", b"", "is empty"),
        ("text.mp4", b"To whom it may concern\n" * 50, "cannot be read as one"),
        ("noise.mkv", np.random.default_rng(0).bytes(5000), "cannot be read as one"),
        ("none.mp4", None, "no such file"),
    ],
)
def test_no_video(tmp_path: Path, name: str, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence) as caught:
        open_source(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_truncated_before_its_index(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.mp4", noise=True)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match="expected a video"):
        open_source(path)


def test_sound_alone_is_no_video(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "song.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=48000, layout="mono")
        block = av.AudioFrame.from_ndarray(np.zeros((1, 4800), np.int16), format="s16", layout="mono")
        block.rate, block.pts = 48000, 0
        container.mux(stream.encode(block))
        container.mux(stream.encode(None))
    with pytest.raises(InputError, match="no pictures"):
        open_source(tmp_path / "song.mp4")


@pytest.mark.parametrize(
    ("name", "options"), [("clip.mp4", {"movflags": "faststart"}), ("clip.mkv", {}), ("clip.ts", {})]
)
@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_broken_in_the_middle_gives_all_good_frames(tmp_path: Path, name: str, options: dict, damage: str) -> None:
    times = [Fraction(i, 30) for i in range(90)]
    path = write_video(tmp_path / name, times, noise=True, options={"crf": "30", "g": "10"}, container_options=options)
    _, good = decode(path)
    data = path.read_bytes()
    with av.open(str(path)) as file:  # in the middle of a frame: between two of them nothing would be missing
        keep = next(int(p.pos + p.size / 2) for p in file.demux(video=0) if p.size and p.pos > len(data) / 2)
    tail = b"" if damage == "cut" else np.random.default_rng(0).bytes(len(data) - keep)
    path.write_bytes(data[:keep] + tail)
    frames = []
    with pytest.raises(BrokenVideoError, match="breaks at frame") as caught:  # noqa: PT012 (the frames before count)
        for frame in read_frames(path):
            frames.append(frame)
    assert caught.value.frame == len(frames)
    assert 30 < len(frames) < 60
    # Matroska has no checksums: a picture overwritten in part may still decode, to nonsense, as the last one before.
    for frame, expected in zip(frames[:-1], good, strict=False):
        assert np.array_equal(frame.rgb, expected)


def test_folder_that_breaks(tmp_path: Path) -> None:
    for number in range(3):
        Image.fromarray(quadrants(8, 8)).save(tmp_path / f"{number}.png")
    whole = (tmp_path / "2.png").read_bytes()
    (tmp_path / "2.png").write_bytes(whole[:40])
    with pytest.raises(BrokenVideoError, match=r"breaks at frame 2.*2\.png"):
        list(read_frames(tmp_path))


def test_nothing_to_read(tmp_path: Path) -> None:
    for source, sentence in {
        str(tmp_path): "no pictures in the folder",
        str(tmp_path / "*.png"): "no pictures match",
        "camera:front": "camera:0",
        "camera:99": "no picture from camera:99",
    }.items():
        with pytest.raises(InputError, match=sentence):
            open_source(source)
