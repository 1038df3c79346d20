"""Small videos made on the spot, with PyAV alone, so that the code under test reads what others wrote."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import count
from pathlib import Path

import av
import numpy as np

TICK = Fraction(1, 90000)

# Uneven on purpose: no two intervals are alike, one is a single tick, none is a whole number of milliseconds.
VARIABLE = [Fraction(x, 90000) for x in (0, 3001, 6007, 12345, 15001, 15002, 30011, 33017)]


def quadrants(height: int, width: int, index: int = 0) -> np.ndarray:
    """A picture whose corners tell which way up it is: red, green, blue, gray; (H, W, 3) uint8."""
    picture = np.empty((height, width, 3), np.uint8)
    picture[: height // 2, : width // 2] = (200, 40, 40)
    picture[: height // 2, width // 2 :] = (40, 200, 40)
    picture[height // 2 :, : width // 2] = (40, 40, 200)
    picture[height // 2 :, width // 2 :] = 60 + 10 * (index % 16)
    return picture


def write_video(
    path: Path,
    times: Sequence[Fraction] = VARIABLE,
    size: tuple[int, int] = (48, 64),
    encoder: str = "libx264",
    pixels: str = "yuv444p",
    audio: str | None = None,
    options: dict[str, str] | None = None,
    noise: bool = False,
    container_options: dict[str, str] | None = None,
    tick: Fraction = TICK,
    layout: str = "stereo",
) -> Path:
    """A video of `quadrants` (or of noise) at the given times, with a tone of two seconds if `audio` names a codec."""
    rng = np.random.default_rng(0)
    pictures = (
        rng.integers(0, 256, (*size, 3)).astype(np.uint8) if noise else quadrants(*size, index)
        for index in range(len(times))
    )
    return encode(path, pictures, times, encoder, pixels, audio, options, container_options, tick, layout)


def encode(
    path: Path,
    pictures: Iterable[np.ndarray],
    times: Iterable[Fraction],
    encoder: str = "libx264",
    pixels: str = "yuv420p",
    audio: str | None = None,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    tick: Fraction = TICK,
    layout: str = "stereo",
) -> Path:
    """A video of pictures (H, W, 3) at times that may go on; with a tone of two seconds if `audio` names a codec."""
    with av.open(str(path), "w", container_options=container_options or {}) as container:
        video = container.add_stream(encoder, rate=30, options=options or {"crf": "8"})
        video.time_base = video.codec_context.time_base = tick
        sound = container.add_stream(audio, rate=48000, layout=layout) if audio else None
        for index, (picture, time) in enumerate(zip(pictures, times, strict=False)):
            if not index:
                video.height, video.width, video.pix_fmt = *picture.shape[:2], pixels
            frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format=pixels)
            frame.pts, frame.time_base = round(time / tick), tick
            container.mux(video.encode(frame))
        if sound:
            tone = (8000 * np.sin(np.arange(96000) * 0.06)).astype(np.int16)
            samples = np.repeat(tone, av.AudioLayout(layout).nb_channels)[None]
            block = av.AudioFrame.from_ndarray(samples, format="s16", layout=layout)
            block.rate, block.pts = 48000, 0
            container.mux(sound.encode(block))
            container.mux(sound.encode(None))
        container.mux(video.encode(None))
    return path


def steady(rate: int) -> Iterator[Fraction]:
    """The times of frames at so many a second, without end."""
    return (Fraction(index, rate) for index in count())


def set_display_matrix(path: Path, a: int, b: int, c: int, d: int) -> None:
    """Write a display matrix into the track header of an MP4 file: x' = a x + c y, y' = b x + d y."""
    data = bytearray(path.read_bytes())
    start = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    assert struct.unpack(">9i", data[start : start + 36]) == (1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    data[start : start + 36] = struct.pack(">9i", a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30)
    path.write_bytes(data)


def decode(path: Path) -> tuple[list[Fraction], list[np.ndarray]]:
    """Times and RGB pictures of a video, by PyAV alone."""
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    return [f.pts * f.time_base for f in frames], [f.to_ndarray(format="rgb24") for f in frames]
