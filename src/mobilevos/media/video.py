"""Frames of whatever people have: a video, a folder of pictures, a pattern, standard input, a camera.

    with open_source("clip.mp4") as source:
        print(source.info.width, source.info.height)
        for frame in source:
            frame.index, frame.time, frame.rgb

Frames come as one sees them: turned by the rotation in the file, in 8-bit RGB, with exact times. Pixels that are not
square stay as they are stored; their shape is in `VideoInfo.pixel_aspect`.
"""

import itertools
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import Colorspace

from mobilevos.errors import InputError
from mobilevos.media.pictures import find_pictures, read_picture

PICTURE_RATE = Fraction(24)
"""Frames a second of a folder of pictures, which has no times of its own."""

UNSPECIFIED_COLORSPACE = 2


class BrokenVideoError(InputError):
    """A source that breaks in the middle; all frames before `frame` were given out."""

    def __init__(self, name: str, frame: int, reason: str) -> None:
        super().__init__(f"{name} breaks at frame {frame}: {reason}")
        self.frame = frame


@dataclass(frozen=True)
class Frame:
    """One picture of a source."""

    index: int
    """0, 1, 2 ..."""
    time: Fraction
    """When it is shown, in seconds of the source's clock; strictly increasing, the first at `VideoInfo.start`."""
    rgb: np.ndarray
    """(H, W, 3) uint8."""
    name: str
    """What to call files made from it: the name of the picture without its ending, or the index in five digits."""
    key: bool = True
    """Whether it can be decoded without those before it."""


@dataclass(frozen=True)
class VideoInfo:
    """What is known of a source before its frames are read."""

    width: int
    """As displayed: after rotation."""
    height: int
    rate: Fraction
    """Frames a second, on average."""
    time_base: Fraction
    """Every frame's time is a multiple of this."""
    frames: int | None = None
    """How many; an estimate for a video, None where nobody knows (standard input, camera)."""
    duration: Fraction | None = None
    """Seconds."""
    rotation: int = 0
    """By how many degrees clockwise the stored picture was turned: 0, 90, 180, 270."""
    has_audio: bool = False
    pixel_aspect: Fraction = Fraction(1)
    """Width of a pixel over its height."""
    start: Fraction = Fraction(0)
    """Time of the first frame: a recording may begin in the middle of the clock. What is made from it begins at 0."""


@dataclass(frozen=True)
class Place:
    """A frame to begin with: a key frame, its number and the time at which it was found before."""

    index: int
    time: Fraction


BEGINNING = Place(0, Fraction(0))


class Source:
    """An open source of frames: iterate once, then close (or use `with`)."""

    def __init__(self, name: str, info: VideoInfo, frames: Iterator[Frame], audio: str | None = None) -> None:
        self.name = name
        self.info = info
        self.audio = audio
        """What VideoWriter takes the sound from: the file, or None where there is none to be had."""
        self._frames = frames

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    def close(self) -> None:
        close = getattr(self._frames, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def read_frames(source: str | os.PathLike[str], rate: Fraction | None = None) -> Iterator[Frame]:
    """The frames of a source, one after the other; see `open_source`."""
    with open_source(source, rate) as opened:
        yield from opened


def is_live(source: str | os.PathLike[str]) -> bool:
    """Whether a source can be read only once."""
    name = os.fspath(source)
    return name == "-" or name.startswith("camera:") or "://" in name


def describe(source: str | os.PathLike[str], info: VideoInfo) -> str:
    """A source in a few words that are others for most other sources."""
    path = Path(source)
    size = f"{path.stat().st_size} bytes" if path.is_file() else f"{info.frames} pictures" if info.frames else ""
    return ", ".join(filter(None, (path.name, f"{info.width} x {info.height}", size)))


def open_source(source: str | os.PathLike[str], rate: Fraction | None = None, begin: Place = BEGINNING) -> Source:
    """Open a video file or address, a folder or pattern of pictures, `-` (standard input) or `camera:0`.

    rate: frames a second of pictures, which have no times of their own.
    begin: where frames are to begin; a video in which that place cannot be found begins at its start all the same.
    """
    name = os.fspath(source)
    if name == "-":
        return _open_video(sys.stdin.buffer, "standard input")
    if name.startswith("camera:"):
        return _open_camera(name)
    if "://" in name:
        return _open_video(name, name)
    pictures = find_pictures(name)
    if pictures is not None:
        return _open_pictures(name, pictures, rate or PICTURE_RATE, begin.index)
    if not Path(name).exists():
        raise InputError(f"no such file or folder: {name}")
    if not Path(name).stat().st_size:
        raise InputError(f"expected a video, but {name} is empty (0 bytes)")
    return _open_video(name, name, begin if begin.index else None)


def _open_pictures(name: str, paths: list[Path], rate: Fraction, begin: int) -> Source:
    height, width = read_picture(paths[0]).shape[:2]
    info = VideoInfo(width, height, rate, 1 / rate, frames=len(paths), duration=len(paths) / rate)
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):  # of several folders, or of several endings
        names = [f"{index:05d}" for index in range(len(paths))]

    def frames() -> Iterator[Frame]:
        for index, path in enumerate(paths[begin:], start=begin):
            try:
                rgb = read_picture(path)
            except InputError as error:
                raise BrokenVideoError(name, index, str(error)) from error
            if rgb.shape[:2] != (height, width):
                came = f"{path.name} is {rgb.shape[1]} x {rgb.shape[0]} pixels, the first picture {width} x {height}"
                raise BrokenVideoError(name, index, came)
            yield Frame(index, index / rate, rgb, names[index])

    return Source(name, info, frames())


def _open_camera(name: str) -> Source:
    number = name.removeprefix("camera:")
    if not number.isdecimal():
        raise InputError(f"expected a camera such as camera:0, got {name}")
    missing = f"no picture from {name}: is it connected and free?"
    if sys.platform == "linux" and not Path(f"/dev/video{number}").exists():
        raise InputError(missing)  # before OpenCV writes lines of its own about it
    camera = cv2.VideoCapture(int(number))
    opened, bgr = camera.read()
    if not opened:
        camera.release()
        raise InputError(missing)
    rate = Fraction(camera.get(cv2.CAP_PROP_FPS) or 30).limit_denominator(1001)
    tick = Fraction(1, 1000)  # milliseconds since the first picture
    info = VideoInfo(bgr.shape[1], bgr.shape[0], rate, tick)

    def frames(bgr: np.ndarray) -> Iterator[Frame]:
        start, last, index = time.monotonic(), Fraction(-1), 0
        try:
            while True:
                now = max(last + tick, Fraction(round((time.monotonic() - start) * 1000), 1000))
                yield Frame(index, now, cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), f"{index:05d}")
                opened, bgr = camera.read()
                last, index = now, index + 1
                if not opened:
                    return
        finally:
            camera.release()

    return Source(name, info, frames(bgr))


def _open_video(file: Any, name: str, begin: Place | None = None) -> Source:
    try:
        container = av.open(file)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise InputError(f"expected a video, but {name} cannot be read as one ({_reason(error)})") from error
    if not container.streams.video:
        container.close()
        raise InputError(f"expected a video, but {name} has no pictures in it")
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    if begin:
        decoded = _decoded_from(container, stream, begin.time)
        if decoded is None:
            container.close()
            return _open_video(file, name)
    else:
        decoded = _decoded(container, stream)
    first = next(decoded, None)
    if not isinstance(first, av.VideoFrame):
        container.close()
        raise InputError(f"expected a video, but no frame of {name} can be decoded")

    turn, mirrored = _orientation(first)
    width, height = (first.height, first.width) if turn % 2 else (first.width, first.height)
    aspect = stream.sample_aspect_ratio or Fraction(1)
    rate = stream.average_rate or stream.base_rate or PICTURE_RATE
    duration = _duration(container, stream)
    time_base = stream.time_base or 1 / rate
    info = VideoInfo(
        width=width,
        height=height,
        rate=rate,
        time_base=time_base,
        frames=stream.frames or (round(duration * rate) if duration else None),
        duration=duration,
        rotation=turn * 90,
        has_audio=bool(container.streams.audio),
        pixel_aspect=1 / aspect if turn % 2 else aspect,
        start=(first.pts or 0) * (first.time_base or time_base),
    )
    frames = _frames(container, name, info, first, decoded, turn, mirrored, begin.index if begin else 0)
    return Source(name, info, frames, audio=file if info.has_audio and isinstance(file, str) else None)


def _frames(
    container: Any,
    name: str,
    info: VideoInfo,
    first: Any,
    decoded: Iterator[Any],
    turn: int,
    mirrored: bool,
    index: int,
) -> Iterator[Frame]:
    last, end = None, Fraction(0)
    picture = first
    try:
        while isinstance(picture, av.VideoFrame):
            if picture.pts is None:
                now = Fraction(0) if last is None else last + 1 / info.rate
            else:
                now = picture.pts * (picture.time_base or info.time_base)
            if last is not None and now <= last:
                now = last + info.time_base
            rgb = _to_rgb(picture, turn, mirrored)
            if rgb.shape[:2] != (info.height, info.width):
                came = f"it is {rgb.shape[1]} x {rgb.shape[0]} pixels, the first frame {info.width} x {info.height}"
                raise BrokenVideoError(name, index, came)
            yield Frame(index, now, rgb, f"{index:05d}", bool(picture.key_frame))
            end = now + ((picture.duration or 0) * (picture.time_base or info.time_base) or 1 / info.rate)
            index, last = index + 1, now
            picture = next(decoded, None)
        if picture is not None:
            raise BrokenVideoError(name, index, picture)
        # Some containers end without an error where the file was cut off.
        if info.duration and info.duration - end > max(Fraction(1), 5 / info.rate):
            raise BrokenVideoError(name, index, f"it should last {float(info.duration):.1f} s, but ends here")
    finally:
        container.close()


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    """The frames of a stream as PyAV gives them and, where it breaks, the reason (a string) as the last item."""
    started = False
    try:
        for packet in container.demux(stream):
            if packet.is_corrupt and started:
                raise InputError("the file is cut off or damaged here")
            try:
                frames = packet.decode()
            except av.error.FFmpegError:
                if started:
                    raise
                continue  # a recording may begin between two key frames
            for frame in frames:
                if frame.is_corrupt:
                    if started:
                        raise InputError("its picture is damaged")
                    continue
                started = True
                yield frame
        return
    except (av.error.FFmpegError, InputError) as error:
        reason = _reason(error)
    try:  # frames before the break may still wait in the decoder
        waiting = [frame for frame in stream.codec_context.decode(None) if not frame.is_corrupt]
    except av.error.FFmpegError:
        waiting = []
    yield from waiting
    yield reason


def _decoded_from(container: Any, stream: Any, time: Fraction) -> Iterator[Any] | None:
    """As above, from the frame of exactly this time on; None where it cannot be reached."""
    try:
        container.seek(round(time / stream.time_base), stream=stream)
    except av.error.FFmpegError:
        return None
    decoded = _decoded(container, stream)
    for frame in decoded:
        if not isinstance(frame, av.VideoFrame) or frame.pts is None:
            return None
        now = frame.pts * (frame.time_base or stream.time_base)
        if now >= time:
            return itertools.chain([frame], decoded) if now == time else None
    return None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _duration(container: Any, stream: Any) -> Fraction | None:
    if stream.duration:
        return stream.duration * stream.time_base
    if "DURATION" in stream.metadata:  # Matroska
        hours, minutes, seconds = stream.metadata["DURATION"].split(":")
        return int(hours) * 3600 + int(minutes) * 60 + Fraction(seconds)
    if container.duration and not container.streams.audio:
        return Fraction(container.duration, av.time_base)
    return None


def _orientation(frame: Any) -> tuple[int, bool]:
    """How the file says to show its pictures: quarter turns clockwise, after mirroring left to right or not."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return 0, False
    a, b, _, c, d, *_ = np.frombuffer(matrix, np.int32).tolist()  # x' = a x + c y, y' = b x + d y
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    return round(np.arctan2(b, a) / (np.pi / 2)) % 4, mirrored


def _to_rgb(frame: Any, turn: int, mirrored: bool) -> np.ndarray:
    space = None
    if frame.colorspace == UNSPECIFIED_COLORSPACE and frame.height >= 720:
        space = Colorspace.ITU709  # what every player takes for granted
    rgb = frame.to_ndarray(format="rgb24", src_colorspace=space)
    if mirrored:
        rgb = rgb[:, ::-1]
    return np.ascontiguousarray(np.rot90(rgb, -turn))
