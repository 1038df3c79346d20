"""More than 8 bits, and HDR: from source to output by PyAV alone on both sides."""

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from mobilevos.media.sinks import FORMATS, Look
from mobilevos.media.video import Frame, open_source
from tests.builders.films import set_display_matrix, write_video

HEIGHT, WIDTH = 64, 1024
BT2020, HLG, BT709 = 9, 18, 1
INSIDE = slice(8, 56), slice(100, 900)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ramp of all 10-bit steps, 4:2:2, HLG in BT.2020, without loss."""
    path = tmp_path_factory.mktemp("deep") / "ramp.mov"
    ramp = np.tile(np.clip(np.arange(WIDTH), 64, 940).astype(np.uint16), (HEIGHT, 1))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"qp": "0"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv422p10le"
        context = stream.codec_context
        context.colorspace, context.color_primaries, context.color_trc, context.color_range = BT2020, BT2020, HLG, 1
        for index in range(3):
            frame = av.VideoFrame(WIDTH, HEIGHT, "yuv422p10le")
            for plane, level in zip(frame.planes, (ramp, 480, 540), strict=True):
                rows = np.zeros((plane.height, plane.line_size // 2), np.uint16)
                rows[:, : plane.width] = level
                plane.update(rows.tobytes())
            frame.pts = index
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def frames(clip: Path) -> list[Frame]:
    with open_source(clip) as source:
        return list(source)


def written(clip: Path, path: Path, name: str) -> list[str]:
    """The notes of a format, written with an object in the middle."""
    ids = np.zeros((HEIGHT, WIDTH), np.uint8)
    ids[INSIDE] = 1
    with open_source(clip) as source:
        sink = FORMATS[name].make(path, source.info, None, Look(feather=4))
        for frame in source:
            sink.write(frame, ids, {})
        sink.close()
    return list(sink.notes)


def test_a_source_says_its_depth(clip: Path) -> None:
    with open_source(clip) as source:
        assert str(source.info.depth) == "10 bits, HDR (HLG)"
    assert [frame.deep is not None for frame in frames(clip)] == [True] * 3


def test_prores_keeps_levels_and_tags(clip: Path, tmp_path: Path) -> None:
    assert written(clip, tmp_path / "alpha.mov", "prores") == []
    with av.open(str(tmp_path / "alpha.mov")) as file:
        frame = next(file.decode(video=0))
        assert (frame.colorspace, frame.color_primaries, frame.color_trc) == (BT2020, BT2020, HLG)
        planes = [
            np.frombuffer(plane, np.uint16).reshape(plane.height, -1)[:, :WIDTH].astype(int)
            for plane in frame.reformat(format="yuva444p10le").planes
        ]
    luma, blue, red, alpha = planes
    ramp = np.clip(np.arange(WIDTH), 64, 940)
    middle = luma[32, 108:892]
    assert np.abs(middle - ramp[108:892]).mean() < 1.0  # a step of 8 bits is 4
    assert len(np.unique(middle)) > 500  # of 784; 8 bits have 196
    assert abs(blue[32, 200] - 480) <= 2
    assert abs(red[32, 200] - 540) <= 2
    assert alpha[32, 500] == 1023
    assert alpha[32, 20] == 0
    assert len(np.unique(alpha)) > 8
    assert luma[32, 20] <= 66  # black far from the object


def test_pictures_of_16_bits_have_all_steps(clip: Path, tmp_path: Path) -> None:
    assert written(clip, tmp_path / "alpha16", "alpha-png16") == []
    picture = cv2.imread(str(tmp_path / "alpha16" / "00000.png"), cv2.IMREAD_UNCHANGED)
    assert picture.dtype == np.uint16
    green = picture[32, 110:890, 1].astype(int)
    assert len(np.unique(green)) > 700
    assert (np.diff(green) >= 0).all()


def test_a_turned_source_keeps_its_depth(clip: Path, tmp_path: Path) -> None:
    """As phones record: a quarter turn clockwise."""
    turned = tmp_path / "turned.mov"
    turned.write_bytes(clip.read_bytes())
    set_display_matrix(turned, 0, 1, -1, 0)
    plain = frames(clip)[0].deep
    with open_source(turned) as source:
        assert (source.info.width, source.info.height, source.info.rotation) == (HEIGHT, WIDTH, 90)
        sink = FORMATS["prores"].make(tmp_path / "out.mov", source.info, None, Look())
        for frame in source:
            assert frame.deep is not None
            assert plain is not None
            np.testing.assert_array_equal(frame.deep.planes()[0], np.rot90(plain.planes()[0], -1))
            np.testing.assert_array_equal(frame.deep.rgb(), np.rot90(plain.rgb(), -1))
            sink.write(frame, np.ones((WIDTH, HEIGHT), np.uint8), {})
        sink.close()
    with av.open(str(tmp_path / "out.mov")) as file:
        luma = np.frombuffer(next(file.decode(video=0)).planes[0], np.uint16)
    assert luma.max() > 930


def test_what_has_8_bits_says_so(clip: Path, tmp_path: Path) -> None:
    for name in ("overlay", "cutout", "alpha"):
        path = tmp_path / FORMATS[name].name
        said = f"The source has 10 bits, HDR (HLG): {path.name} has 8 bits, and is tagged as BT.709."
        assert written(clip, path, name) == [said]


def test_8_bits_are_as_before(tmp_path: Path) -> None:
    plain = write_video(tmp_path / "plain.mp4", [Fraction(i, 10) for i in range(3)])
    with open_source(plain) as source:
        assert source.info.depth is None
        assert all(frame.deep is None for frame in source)


def test_exr_has_all_steps_multiplied_by_alpha(clip: Path, tmp_path: Path) -> None:
    """Read back by FFmpeg's decoder, which shares no code with its encoder but the library."""
    assert written(clip, tmp_path / "exr", "exr") == []
    with av.open(str(tmp_path / "exr" / "00000.exr")) as file:
        found = next(file.decode(video=0)).to_ndarray(format="gbrapf32le")
    assert (tmp_path / "exr" / "00000.exr").read_bytes()[:4] == b"v/1\x01"
    rgb = frames(clip)[0].deep.rgb() / 65535  # type: ignore[union-attr]
    colours, alpha = found[..., :3], found[..., 3]
    np.testing.assert_allclose(colours, rgb * alpha[..., None], atol=1e-6)
    assert alpha[32, 500] == pytest.approx(1, abs=1e-6)
    assert alpha[32, 20] == 0
    assert len(np.unique(alpha)) > 8
    assert len(np.unique(colours[32, 108:892, 1])) > 500
