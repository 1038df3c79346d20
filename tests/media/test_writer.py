"""Writing: every kind of video read back by PyAV alone, with the times, size, colours, alpha and sound it was given."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.video import VideoInfo, open_source
from mobilevos.media.writer import CODECS, VideoWriter
from tests.builders.films import TICK, VARIABLE, decode, quadrants, write_video

FILES = {"h264": "out.mp4", "vp9-alpha": "out.webm", "prores4444": "out.mov"}


def info(height: int = 48, width: int = 64, time_base: Fraction = TICK) -> VideoInfo:
    return VideoInfo(width, height, Fraction(30), time_base)


def pictures(codec: str, height: int, width: int, count: int) -> list[np.ndarray]:
    result = [quadrants(height, width, index) for index in range(count)]
    if codec == "h264":
        return result
    alpha = np.repeat(np.linspace(0, 255, width).astype(np.uint8)[None], height, axis=0)
    return [np.dstack([picture, alpha]) for picture in result]


def decode_alpha(path: Path) -> list[np.ndarray]:
    """Every frame's alpha; for VP9 only libvpx decodes it."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        if stream.codec_context.name != "vp9":
            return [frame.to_ndarray(format="rgba")[..., 3] for frame in container.decode(stream)]
        decoder = av.CodecContext.create("libvpx-vp9", "r")
        frames = [frame for packet in container.demux(stream) for frame in decoder.decode(packet)]
    assert {frame.format.name for frame in frames} == {"yuva420p"}
    return [frame.to_ndarray(format="rgba")[..., 3] for frame in frames]


@pytest.mark.parametrize("size", [(48, 64), (47, 65), (48, 65), (47, 64)])
@pytest.mark.parametrize("codec", FILES)
def test_round_trip(tmp_path: Path, codec: str, size: tuple[int, int]) -> None:
    path = tmp_path / FILES[codec]
    given = pictures(codec, *size, len(VARIABLE))
    with VideoWriter(path, info(*size), codec) as writer:
        for picture, time in zip(given, VARIABLE, strict=True):
            writer.write(picture, time)
        assert not path.exists()
    times, got = decode(path)
    if codec == "vp9-alpha":
        # WebM counts milliseconds; two frames a tick apart are kept apart.
        assert len(set(times)) == len(VARIABLE)
        assert max(abs(a - b) for a, b in zip(times, VARIABLE, strict=True)) <= Fraction(3, 2000)
    else:
        assert times == VARIABLE
    height, width = size
    for picture, expected in zip(got, given, strict=True):
        assert picture.shape[:2] == size
        for y in (height // 4, 3 * height // 4):
            for x in (width // 4, 3 * width // 4):
                assert np.abs(picture[y, x].astype(int) - expected[y, x, :3]).max() <= 14
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("codec", ["vp9-alpha", "prores4444"])
def test_alpha_survives(tmp_path: Path, codec: str) -> None:
    path = tmp_path / FILES[codec]
    given = pictures(codec, 48, 64, 4)
    with VideoWriter(path, info(), codec) as writer:
        for index, picture in enumerate(given):
            writer.write(picture, Fraction(index, 30))
    alphas = decode_alpha(path)
    assert len(alphas) == 4
    for alpha, picture in zip(alphas, given, strict=True):
        assert np.abs(alpha.astype(int) - picture[..., 3]).mean() < (1 if codec == "prores4444" else 5)
    if codec == "vp9-alpha":
        assert bytes.fromhex("53c08101") in path.read_bytes()  # Matroska's AlphaMode = 1, which browsers look for


def test_h264_plays_everywhere(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "out.mp4", info()) as writer:
        writer.write(quadrants(48, 64), Fraction(0))
    with av.open(str(tmp_path / "out.mp4")) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.pix_fmt == "yuv420p"
        frame = next(container.decode(stream))
        assert (frame.colorspace, frame.color_range) == (1, 1)  # BT.709, limited range
    data = (tmp_path / "out.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # plays before all of it has arrived


def test_times_and_pixel_shape_are_kept(tmp_path: Path) -> None:
    wide = VideoInfo(64, 48, Fraction(25), Fraction(1, 12800), pixel_aspect=Fraction(16, 15))
    times = [Fraction(1, 2) + Fraction(i, 25) for i in range(4)]
    with VideoWriter(tmp_path / "out.mp4", wide) as writer:
        for time in times:
            writer.write(quadrants(48, 64), time)
    with open_source(tmp_path / "out.mp4") as source:
        assert [frame.time for frame in source] == times
        assert source.info.pixel_aspect == Fraction(16, 15)


@pytest.mark.parametrize("codec", FILES)
@pytest.mark.parametrize("sound", ["aac", "libopus"])
def test_sound_is_kept(tmp_path: Path, codec: str, sound: str) -> None:
    source_path = write_video(tmp_path / "source.mp4", [Fraction(i, 10) for i in range(20)], audio=sound)
    path = tmp_path / FILES[codec]
    with open_source(source_path) as source, VideoWriter(path, source.info, codec, source.audio) as writer:
        for frame in source:
            writer.write(pictures(codec, 48, 64, 1)[0], frame.time)
    streams = {}
    for name, file in (("source", source_path), ("output", path)):
        with av.open(str(file)) as container:
            stream = container.streams.audio[0]
            packets = [(bytes(p), p.pts * p.time_base) for p in container.demux(stream) if p.size]
            container.seek(0)
            samples = np.concatenate([f.to_ndarray().astype(float)[0] for f in container.decode(stream)])
            streams[name] = stream.codec_context.name, packets, samples
    encoded_anew = {("vp9-alpha", "aac"): "opus", ("prores4444", "libopus"): "aac"}
    if (codec, sound) in encoded_anew:
        assert streams["output"][0] == encoded_anew[codec, sound]
    else:
        assert [data for data, _ in streams["output"][1]] == [data for data, _ in streams["source"][1]]
        pairs = zip(streams["output"][1], streams["source"][1], strict=True)
        slack = Fraction(1, 100) if codec == "vp9-alpha" else 0  # milliseconds, and the start-up of Opus
        assert max(abs(a[1] - b[1]) for a, b in pairs) <= slack
    assert abs(len(streams["output"][2]) - 96000) < 3000
    assert streams["output"][2][4800:90000].std() > 0.05


def copied(source_path: Path, path: Path, codec: str) -> list[str]:
    """Write the sound of a video and pictures at its times; the writer's notes."""
    with open_source(source_path) as source, VideoWriter(path, source.info, codec, source.audio) as writer:
        for frame in source:
            writer.write(pictures(codec, 48, 64, 1)[0], frame.time)
    return writer.notes


@pytest.mark.parametrize("codec", FILES)
@pytest.mark.parametrize(
    ("name", "sound", "layout", "channels"),
    [
        ("source.avi", "pcm_s16le", "stereo", 2),
        ("source.mkv", "pcm_s16le", "mono", 1),
        ("source.mkv", "pcm_s16le", "5.1", 6),
        ("source.mkv", "ac3", "5.1(side)", 6),
    ],
)
def test_sound_of_any_layout(tmp_path: Path, codec: str, name: str, sound: str, layout: str, channels: int) -> None:
    """AVI and Matroska do not say which channel of PCM is which."""
    made = {"encoder": "mpeg4", "pixels": "yuv420p", "options": {"q": "3"}, "tick": Fraction(1, 10)}
    source = write_video(tmp_path / name, [Fraction(i, 10) for i in range(20)], audio=sound, layout=layout, **made)
    assert copied(source, tmp_path / FILES[codec], codec) == []
    with av.open(str(tmp_path / FILES[codec])) as container:
        frames = list(container.decode(audio=0))
    assert {frame.layout.nb_channels for frame in frames} == {channels}
    assert abs(sum(frame.samples for frame in frames) - 96000) < 3000
    assert max(float(np.abs(frame.to_ndarray()).max()) for frame in frames) > 0.05


@pytest.mark.parametrize("codec", FILES)
@pytest.mark.parametrize(
    ("name", "sound"), [("source.ts", "aac"), ("source.ts", "mp2"), ("source.mkv", "pcm_s16le"), ("source.mkv", "flac")]
)
@pytest.mark.parametrize("before", [0, 5])
def test_a_clock_that_does_not_begin_at_0(tmp_path: Path, codec: str, name: str, sound: str, before: int) -> None:
    """Pictures from 10 s on, with the sound or half a second later: both begin at 0, and stay together."""
    times = [Fraction(i, 10) for i in range(before, 20)]
    source = write_video(tmp_path / name, times, audio=sound, container_options={"output_ts_offset": "10"})
    with open_source(source) as opened:
        assert opened.info.start == 10 + times[0]
    assert copied(source, tmp_path / FILES[codec], codec) == []
    assert decode(tmp_path / FILES[codec])[0] == [time - times[0] for time in times]
    with av.open(str(tmp_path / FILES[codec])) as container:
        frames = list(container.decode(audio=0))
    assert abs(frames[0].pts * frames[0].time_base) < Fraction(1, 20)
    assert abs(sum(frame.samples for frame in frames) - 48000 * (2 - times[0])) < 3000


def test_sound_that_cannot_be_kept_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_video(tmp_path / "source.mkv", [Fraction(i, 10) for i in range(20)], audio="pcm_s16le")
    with monkeypatch.context() as patch:
        patch.setitem(CODECS, "h264", replace(CODECS["h264"], sound_encoder="none"))
        notes = copied(source, tmp_path / "none.mp4", "h264")
    assert notes == ["The sound of source.mkv is left out: none cannot encode it (none)."]
    source.write_bytes(source.read_bytes().replace(b"A_PCM/INT/LIT", b"A_PCM/INT/???"))
    notes = copied(source, tmp_path / "unknown.mp4", "h264")
    assert notes == ["The sound of source.mkv is left out: FFmpeg cannot decode it."]
    for name in ("none.mp4", "unknown.mp4"):
        with av.open(str(tmp_path / name)) as container:
            assert not container.streams.audio
        assert len(decode(tmp_path / name)[0]) == 20


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with VideoWriter(tmp_path / "out.mp4", info()) as writer:
            writer.write(quadrants(48, 64), Fraction(0))
            raise RuntimeError("outside")

    with pytest.raises(RuntimeError, match="outside"):
        fail_half_way()
    with VideoWriter(tmp_path / "empty.mp4", info()):
        pass
    assert not list(tmp_path.iterdir())


def test_refuses_what_it_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a codec"):
        VideoWriter(tmp_path / "out.gif", info(), "gif")
    with pytest.raises(InputError, match=r"cannot write .*out\.mp4: No such file"):
        VideoWriter(tmp_path / "no folder" / "out.mp4", info())
    for bad in (quadrants(48, 60), quadrants(48, 64).astype(float), np.zeros((48, 64, 4), np.uint8)):
        with (
            pytest.raises(InputError, match="expected a picture of shape"),
            VideoWriter(tmp_path / "out.mp4", info()) as writer,
        ):
            writer.write(bad, Fraction(0))
    assert not list(tmp_path.iterdir())
