"""Parts of sources: the same frames as in the whole, with their numbers, times, sound and timecode."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media import video
from mobilevos.media.excerpt import Excerpt, excerpt
from mobilevos.media.timecode import advanced
from mobilevos.media.video import open_source, read_frames
from mobilevos.media.writer import VideoWriter
from tests.builders.films import VARIABLE, encode, quadrants, steady, write_video
from tests.builders.pictures import write_frames

RATE = Fraction(24)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 frames at 10 a second, a key frame every 8, with frames that are stored out of order, and sound."""
    options = {"g": "8", "bf": "2", "keyint_min": "8", "sc_threshold": "0"}
    times = [Fraction(i, 10) for i in range(40)]
    return write_video(tmp_path_factory.mktemp("clip") / "clip.mp4", times, options=options, audio="aac")


@pytest.mark.parametrize(
    ("begin", "end", "numbers"),
    [
        ("20", "25", range(20, 26)),
        ("8", "8", [8]),
        ("35", None, range(35, 40)),
        (None, "3", range(4)),
        ("2s", "2.5s", range(20, 26)),
        ("00:02", "00:00:02.55", range(20, 26)),
        ("1.95s", "900", range(20, 40)),
    ],
)
def test_the_same_frames_as_in_the_whole(
    clip: Path, begin: str | None, end: str | None, numbers: "range | list[int]"
) -> None:
    whole = {frame.index: frame for frame in read_frames(clip)}
    part = excerpt(clip, begin, end, RATE)
    with open_source(part) as opened:
        frames = list(opened)
        info = opened.info
    assert [frame.index for frame in frames] == list(numbers)
    for frame in frames:
        same = whole[frame.index]
        assert (frame.time, frame.name, frame.key) == (same.time, same.name, same.key)
        np.testing.assert_array_equal(frame.rgb, same.rgb)
    assert (info.first, info.start, info.frames) == (frames[0].index, frames[0].time, len(frames))


def test_what_comes_before_is_not_decoded(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    to_rgb = video._to_rgb
    monkeypatch.setattr(video, "_to_rgb", lambda *rest: (seen.append(1), to_rgb(*rest))[1])
    assert len(list(read_frames(excerpt(clip, "33", "34", RATE)))) == 2
    assert len(seen) == 3  # the key frame 32, and two


def test_pictures_and_uneven_times(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "in", [quadrants(8, 8, i) for i in range(12)])
    assert [f.index for f in read_frames(excerpt(folder, "0.25s", "10", RATE))] == [6, 7, 8, 9, 10]
    uneven = write_video(tmp_path / "uneven.mkv", VARIABLE)
    begin = f"{float(VARIABLE[3]) - 0.001:.6f}"
    assert [f.index for f in read_frames(excerpt(uneven, begin, "5", RATE))] == [3, 4, 5]


@pytest.mark.parametrize(
    ("source", "begin", "end", "message"),
    [
        ("CLIP", "soon", None, "expected --from the number of a frame or a time such as .*, got soon"),
        ("CLIP", "1:2:3:4", None, "expected --from"),
        ("CLIP", "40", None, "--from 40 is after the end of .*, which has 40 frames"),
        ("CLIP", "20", "10", "expected --to after --from, but there is no frame from 20 to 10"),
        ("CLIP", "5s", None, "after the end"),
        ("-", "1", None, "cannot take a part of -: it can be read only once"),
        ("camera:0", None, "1", "cannot take a part of camera:0"),
    ],
)
def test_parts_that_are_not_there(clip: Path, source: str, begin: str, end: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        excerpt(clip if source == "CLIP" else source, begin, end, RATE)


def test_nothing_is_cut_where_nothing_is_asked_for(clip: Path) -> None:
    assert excerpt(clip, None, None, RATE) == clip
    assert not isinstance(excerpt(clip, None, None, RATE), Excerpt)


def test_sound_ends_with_the_part(clip: Path, tmp_path: Path) -> None:
    with (
        open_source(excerpt(clip, "5", "9", RATE)) as source,
        VideoWriter(tmp_path / "out.mp4", source.info, audio=source.audio) as writer,
    ):
        for frame in source:
            writer.write(frame.rgb, frame.time)
    with av.open(str(tmp_path / "out.mp4")) as file:
        sound = [frame.time + frame.samples / frame.sample_rate for frame in file.decode(audio=0)]
    assert 0.45 < sound[-1] < 0.6
    with av.open(str(tmp_path / "out.mp4")) as file:
        assert [frame.pts * frame.time_base for frame in file.decode(video=0)] == [Fraction(i, 10) for i in range(5)]


def with_timecode(path: Path, timecode: str, rate: Fraction, count: int = 6) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "8"})
        stream.width = stream.height = 32
        stream.pix_fmt, stream.time_base = "yuv420p", 1 / rate
        stream.metadata["timecode"] = timecode
        for index in range(count):
            frame = av.VideoFrame.from_ndarray(quadrants(32, 32, index), "rgb24").reformat(format="yuv420p")
            frame.pts, frame.time_base = index, 1 / rate
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("codec", "name"), [("h264", "out.mp4"), ("prores4444", "out.mov"), ("vp9-alpha", "out.webm")])
def test_timecode_is_kept(tmp_path: Path, codec: str, name: str) -> None:
    rate = Fraction(30000, 1001)
    source = with_timecode(tmp_path / "in.mov", "01:00:59;28", rate)
    for part, expected in ((source, "01:00:59;28"), (excerpt(source, "3", None, RATE), "01:01:00;03")):
        with open_source(part) as opened, VideoWriter(tmp_path / name, opened.info, codec) as writer:
            assert opened.info.timecode == expected
            for frame in opened:
                alpha = np.full((*frame.rgb.shape[:2], 1), 255, np.uint8)
                writer.write(np.dstack([frame.rgb, alpha]) if codec != "h264" else frame.rgb, frame.time)
        with av.open(str(tmp_path / name)) as file:
            said = {k.lower(): v for s in file.streams for k, v in s.metadata.items()}
        assert said["timecode"] == expected


def test_a_source_without_timecode_has_none(tmp_path: Path) -> None:
    plain = encode(tmp_path / "plain.mp4", [quadrants(32, 32)] * 3, steady(25))
    with open_source(plain) as opened:
        assert opened.info.timecode is None


@pytest.mark.parametrize(
    ("timecode", "frames", "rate", "expected"),
    [
        ("10:00:00:00", 0, 25, "10:00:00:00"),
        ("09:59:59:24", 1, 25, "10:00:00:00"),
        ("00:00:00:00", 25 * 3600 * 24, 25, "00:00:00:00"),
        ("00:00:59;29", 1, Fraction(30000, 1001), "00:01:00;02"),
        ("00:09:59;29", 1, Fraction(30000, 1001), "00:10:00;00"),
        ("00:00:00;00", 107892, Fraction(30000, 1001), "01:00:00;00"),
        ("00:00:59;59", 1, Fraction(60000, 1001), "00:01:00;04"),
        ("00:00:59:29", 1, Fraction(30000, 1001), "00:01:00:00"),
        ("nonsense", 1, 25, None),
    ],
)
def test_timecode_counts(timecode: str, frames: int, rate: Fraction | int, expected: str | None) -> None:
    assert advanced(timecode, frames, Fraction(rate)) == expected
