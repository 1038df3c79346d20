"""Reading backwards gives the frames of reading forwards, whatever the video and however little may be held."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.backwards import Timeline, read_backwards
from mobilevos.media.video import Frame, open_source, read_frames
from tests.builders.films import quadrants, write_video

TIMES = [Fraction(1001 * i, 30000) for i in range(13)]


def h264_with_b_frames(folder: Path) -> Path:
    return write_video(folder / "b.mp4", TIMES, options={"g": "5", "bf": "2", "crf": "8"}, noise=True)


def one_key_frame(folder: Path) -> Path:
    return write_video(folder / "one.mkv", TIMES, options={"g": "500", "crf": "8"}, noise=True, tick=Fraction(1, 1000))


def transport_stream(folder: Path) -> Path:
    times = [Fraction(i, 25) for i in range(13)]
    return write_video(folder / "a.ts", times, options={"g": "4", "bf": "0"}, noise=True, tick=Fraction(1, 25))


def pictures(folder: Path) -> Path:
    (folder / "pictures").mkdir()
    for i in range(12):
        Image.fromarray(quadrants(20, 30, i)).save(folder / "pictures" / f"{i}.png")
    return folder / "pictures"


@pytest.mark.parametrize("make", [h264_with_b_frames, one_key_frame, transport_stream, pictures])
@pytest.mark.parametrize("held", [1, 4, 100])
def test_it_is_the_same_in_reverse(tmp_path: Path, make: Callable[[Path], Path], held: int) -> None:
    source = make(tmp_path)
    frames = list(read_frames(source))[:-2]
    timeline = Timeline()
    for frame in frames:
        timeline.add(frame)
    backwards = list(read_backwards(source, timeline, len(frames), held * frames[0].rgb.nbytes))
    assert [f.index for f in backwards] == list(range(len(frames)))[::-1]
    for a, b in zip(frames, reversed(backwards), strict=True):
        assert (a.time, a.name, a.key) == (b.time, b.name, b.key)
        np.testing.assert_array_equal(a.rgb, b.rgb)


def test_seeking_spares_decoding(tmp_path: Path) -> None:
    """From a place in the middle the first frame that comes is that very frame."""
    source = h264_with_b_frames(tmp_path)
    timeline = Timeline()
    for frame in read_frames(source):
        timeline.add(frame)
    place = timeline.place_before(8)
    assert 0 < place.index <= 8
    with open_source(source, begin=place) as opened:
        first = next(iter(opened))
    assert (first.index, first.time, first.key) == (place.index, place.time, True)


def test_another_video_is_noticed(tmp_path: Path) -> None:
    source = h264_with_b_frames(tmp_path)
    timeline = Timeline()
    for i in range(3):
        timeline.add(Frame(i, Fraction(i), np.zeros((48, 64, 3), np.uint8), str(i)))
    with pytest.raises(InputError, match="has changed"):
        list(read_backwards(source, timeline, 3))
    with pytest.raises(InputError, match="expected frame 3"):
        timeline.add(Frame(7, Fraction(7), np.zeros((48, 64, 3), np.uint8), "7"))
