"""Sources that are not as they should be: damaged spots are skipped where asked for, and other sizes are scaled."""

import collections
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from mobilevos.media.damage import listed
from mobilevos.media.excerpt import excerpt
from mobilevos.media.video import BrokenVideoError, Frame, Source, open_source
from tests.builders.films import encode, quadrants, write_video

COUNT = 24
RATE = Fraction(24)


def read(source: object, skip: bool = True) -> tuple[list[Frame], Source]:
    with open_source(excerpt(source, None, None, RATE, skip_damaged=skip)) as opened:  # type: ignore[arg-type]
        return list(opened), opened


def spoil(path: Path, *numbers: int, part: float = 1.0) -> None:
    """Overwrite the packets of some frames, or the last part of them, in the order in which they are stored."""
    with av.open(str(path)) as file:
        places = [(p.pos, p.size) for p in file.demux(video=0) if p.size]
    data = bytearray(path.read_bytes())
    for number in numbers:
        start, size = places[number]
        start, size = start + size - int(part * size), int(part * size)
        data[start : start + size] = bytes(255 for _ in range(size))
    path.write_bytes(data)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Each frame can be decoded by itself."""
    return write_video(tmp_path / "clip.mp4", [Fraction(i, 10) for i in range(COUNT)], options={"crf": "8", "g": "1"})


def test_damaged_frames_are_skipped_where_asked_for(clip: Path) -> None:
    whole, _ = read(clip)
    spoil(clip, 5, 6, 7, 15)
    with pytest.raises(BrokenVideoError, match="breaks at frame 5"):
        read(clip, skip=False)
    frames, source = read(clip)
    assert [f.index for f in frames] == list(range(COUNT))
    assert [f.time for f in frames] == [f.time for f in whole]
    assert [f.index for f in frames if f.damaged] == [5, 6, 7, 15]
    for frame, good in zip(frames, whole, strict=True):
        expected = whole[4] if frame.index in (5, 6, 7) else whole[14] if frame.index == 15 else good
        np.testing.assert_array_equal(frame.rgb, expected.rgb)
    assert source.damage.sentences("clip.mp4", 64, 48) == [
        "Frames 5 to 7, 15 of clip.mp4 cannot be read: picture and masks are those of the frame before."
    ]


def test_frames_that_are_stored_out_of_order(tmp_path: Path) -> None:
    """The last of three packets that depend on one another: what is missing is told by its time."""
    options = {"crf": "8", "g": "8", "bf": "2", "sc_threshold": "0"}
    clip = write_video(tmp_path / "clip.mp4", [Fraction(i, 10) for i in range(COUNT)], options=options, noise=True)
    with av.open(str(clip)) as file:
        stored = [p.pts for p in file.demux(video=0) if p.size]
    spoil(clip, 10)
    frames, _ = read(clip)
    assert [f.time for f in frames] == [Fraction(i, 10) for i in range(COUNT)]
    assert sorted(stored).index(stored[10]) in [f.index for f in frames if f.damaged]


@pytest.mark.parametrize("number", [8, 9, 16])
def test_what_lies_behind_the_break_is_not_given_out_in_its_place(tmp_path: Path, number: int) -> None:
    """The decoder may hold frames from behind a damaged one already: the frames before it are all that there is."""
    options = {"crf": "8", "g": "8", "bf": "2", "sc_threshold": "0"}
    clip = write_video(tmp_path / "clip.mp4", [Fraction(i, 10) for i in range(COUNT)], options=options, noise=True)
    spoil(clip, number, part=0.5)
    missing = read(clip)[1].damage.missing
    times: list[Fraction] = []
    with open_source(clip) as source, pytest.raises(BrokenVideoError) as broken:
        collections.deque((times.append(frame.time) for frame in source), maxlen=0)
    assert times == [Fraction(index, 10) for index in range(len(times))]
    assert broken.value.frame == len(times) == missing[0]


def test_a_damaged_end(clip: Path) -> None:
    spoil(clip, COUNT - 1)
    frames, source = read(clip)
    assert len(frames) == COUNT
    assert source.damage.missing == [COUNT - 1]


def test_a_damaged_picture(tmp_path: Path) -> None:
    for number in range(4):
        Image.fromarray(quadrants(8, 8, number)).save(tmp_path / f"{number}.png")
    (tmp_path / "2.png").write_bytes((tmp_path / "2.png").read_bytes()[:40])
    with pytest.raises(BrokenVideoError, match="breaks at frame 2"):
        read(tmp_path, skip=False)
    frames, source = read(tmp_path)
    assert [f.damaged for f in frames] == [False, False, True, False]
    np.testing.assert_array_equal(frames[2].rgb, frames[1].rgb)
    assert source.damage.missing == [2]


def test_pictures_of_another_size_are_scaled_and_that_is_said(tmp_path: Path) -> None:
    for number, size in enumerate([(8, 12), (8, 12), (16, 24), (16, 24), (8, 12)]):
        Image.fromarray(quadrants(*size)).save(tmp_path / f"{number}.png")
    frames, source = read(tmp_path, skip=False)
    assert [f.rgb.shape for f in frames] == [(8, 12, 3)] * 5
    np.testing.assert_array_equal(frames[2].rgb, frames[0].rgb)
    assert source.damage.sentences("in", 12, 8) == [
        "From frame 2 on, pictures of in have 24 x 16 pixels; they were scaled to 12 x 8, the size of the first."
    ]


def test_a_video_that_changes_its_size(tmp_path: Path) -> None:
    parts = [
        encode(tmp_path / f"{i}.ts", [quadrants(*size, j) for j in range(6)], times)
        for i, (size, times) in enumerate(
            [((48, 64), [Fraction(j, 10) for j in range(6)]), ((96, 128), [1 + Fraction(j, 10) for j in range(6)])]
        )
    ]
    (tmp_path / "both.ts").write_bytes(b"".join(part.read_bytes() for part in parts))
    frames, source = read(tmp_path / "both.ts", skip=False)
    assert {f.rgb.shape for f in frames} == {(48, 64, 3)}
    assert len(frames) == 12
    assert source.damage.sizes == {(128, 96): 6}
    corner = frames[-1].rgb[:20, :28].reshape(-1, 3).mean(0)
    assert np.abs(corner - (200, 40, 40)).max() < 12


def test_many_stretches_are_cut_short() -> None:
    assert listed([7]) == "Frame 7"
    assert listed([1, 2, 3, 9]) == "Frames 1 to 3, 9"
    assert listed(range(0, 100, 2)).endswith("20, 22, and more, 50 in all")
