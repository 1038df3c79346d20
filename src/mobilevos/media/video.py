"""Frames of whatever people have: a video, a folder of pictures, a pattern, standard input, a camera.

    with open_source("clip.mp4") as source:
        print(source.info.width, source.info.height)
        for frame in source:
            frame.index, frame.time, frame.rgb

Frames come as one sees them: turned by the rotation in the file, in 8-bit RGB, with exact times; where a file has more
bits, these come along (`Frame.deep`). Pixels that are not square stay as they are stored; their shape is in
`VideoInfo.pixel_aspect`. Frames of another size than the first are scaled to it; `Source.damage` says so.
"""

import heapq
import itertools
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import Colorspace

from mobilevos.errors import InputError
from mobilevos.media.damage import Damage
from mobilevos.media.excerpt import BEGINNING, Excerpt, Place
from mobilevos.media.pictures import find_pictures, read_picture
from mobilevos.media.timecode import advanced

Readable = str | os.PathLike[str] | Iterable[np.ndarray]
"""What `open_source` takes."""

GIVEN = "the given frames"
"""What a source is called that is no file."""

PICTURE_RATE = Fraction(24)
"""Frames a second of a folder of pictures, which has no times of its own."""

UNSPECIFIED_COLORSPACE = 2
VIDEO_RANGE = 1

RETRIES = 8
"""How often in a row reading is tried again at a damaged spot."""


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
    damaged: bool = False
    """Whether it could not be read, and shows the picture before it."""
    deep: "DeepPicture | None" = None
    """The picture with all its steps, where the source has more than 8 bits (`VideoInfo.depth`)."""


@dataclass(frozen=True)
class DeepPicture:
    """A picture of more than 8 bits, as it was decoded, and how it is to be shown."""

    decoded: Any
    turn: int
    mirrored: bool

    def rgb(self) -> np.ndarray:
        """(H, W, 3) uint16."""
        return _turned(np.asarray(self.decoded.to_ndarray(format="rgb48le")), self.turn, self.mirrored)

    def planes(self) -> list[np.ndarray]:
        """Luma and two planes of colour, each (H, W) uint16 with 10 bits in the range of video: 64 is black."""
        space = Colorspace.ITU709 if self.decoded.format.is_rgb else None
        frame = self.decoded.reformat(format="yuv444p10le", dst_colorspace=space, dst_color_range=VIDEO_RANGE)
        rows = [np.frombuffer(plane, np.uint16).reshape(plane.height, -1)[:, : plane.width] for plane in frame.planes]
        return [_turned(plane, self.turn, self.mirrored) for plane in rows]


@dataclass(frozen=True)
class Depth:
    """What 8 bits of BT.709 do not hold; numbers as in ITU-T H.273."""

    bits: int
    primaries: int
    transfer: int
    matrix: int

    def __str__(self) -> str:
        hdr = {16: ", HDR (PQ)", 18: ", HDR (HLG)"}.get(self.transfer, "")
        return f"{self.bits} bits{hdr}"


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
    timecode: str | None = None
    """Of the first frame, as the file says it."""
    depth: Depth | None = None
    """Where a colour has more than 8 bits."""
    first: int = 0
    """The number of the first frame: another than 0 in a part of a source."""
    ends_early: bool = False
    """Whether this is a part of a source that ends before the source does."""


class Source:
    """An open source of frames: iterate once, then close (or use `with`)."""

    def __init__(
        self,
        name: str,
        info: VideoInfo,
        frames: Iterator[Frame],
        audio: str | None = None,
        damage: Damage | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._names = names
        self.damage = damage or Damage()
        """What could not be read as it should be, so far."""
        self.info = info
        self.audio = audio
        """What VideoWriter takes the sound from: the file, or None where there is none to be had."""
        self._frames = frames

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    def name_of(self, index: int) -> str:
        """What `Frame.name` is of a frame, before it has been read."""
        return self._names[index] if index < len(self._names) else numbered(index)

    def close(self) -> None:
        close = getattr(self._frames, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def numbered(index: int) -> str:
    """The name of a frame that has none of its own."""
    return f"{index:05d}"


def read_frames(source: str | os.PathLike[str], rate: Fraction | None = None) -> Iterator[Frame]:
    """The frames of a source, one after the other; see `open_source`."""
    with open_source(source, rate) as opened:
        yield from opened


def is_live(source: Readable) -> bool:
    """Whether a source can be read only once."""
    if not isinstance(source, (str, os.PathLike)):
        return True
    name = os.fspath(source)
    return name == "-" or name.startswith("camera:") or "://" in name


def describe(source: Readable, info: VideoInfo) -> str:
    """A source in a few words that are others for most other sources."""
    if not isinstance(source, (str, os.PathLike)):
        return f"{GIVEN}, {info.width} x {info.height}"
    path = Path(source)
    part = f"frames {source.first} to {source.last or 'the end'}" if isinstance(source, Excerpt) else ""
    size = f"{path.stat().st_size} bytes" if path.is_file() else f"{info.frames} pictures" if info.frames else ""
    return ", ".join(filter(None, (path.name, f"{info.width} x {info.height}", size, part)))


def open_source(source: Readable, rate: Fraction | None = None, begin: Place = BEGINNING) -> Source:
    """Open a video file or address, a folder or pattern of pictures, `-` (standard input) or `camera:0`.

    Also whatever gives frames (H, W, 3) uint8 RGB one after the other: a list, a generator, a camera of one's own.

    rate: frames a second of pictures, which have no times of their own.
    begin: where frames are to begin; a video in which that place cannot be found begins at its start all the same.
    A part of any of them (`media.excerpt`) has the frames of that part only.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _open_given(source, rate or PICTURE_RATE)
    if isinstance(source, Excerpt):
        begin = begin if begin.index else _trusted(source)
        return _part(_open(source.path, rate, begin, source.skip_damaged), source)
    return _open(source, rate, begin, skip_damaged=False)


def _open(source: str | os.PathLike[str], rate: Fraction | None, begin: Place, skip_damaged: bool) -> Source:
    name = os.fspath(source)
    if name == "-":
        return _open_video(sys.stdin.buffer, "standard input", None, skip_damaged)
    if name.startswith("camera:"):
        return _open_camera(name)
    if "://" in name:
        return _open_video(name, name, None, skip_damaged)
    pictures = find_pictures(name)
    if pictures is not None:
        return _open_pictures(name, pictures, rate or PICTURE_RATE, begin.index, skip_damaged)
    if not Path(name).exists():
        raise InputError(f"no such file or folder: {name}")
    if not Path(name).stat().st_size:
        raise InputError(f"expected a video, but {name} is empty (0 bytes)")
    return _open_video(name, name, begin if begin.index else None, skip_damaged)


def _trusted(part: Excerpt) -> Place:
    """Where a part can be read from; its start where frames that cannot be decoded were counted along."""
    if not part.place.index:
        return BEGINNING
    with open_source(part.path) as whole:
        return part.place if whole.info.start == part.start else BEGINNING


def _part(whole: Source, part: Excerpt) -> Source:
    """The frames of a part."""
    frames = iter(whole)
    begun = next((frame for frame in frames if frame.index >= part.first), None)
    if begun is None:
        whole.close()
        raise InputError(f"expected frames from number {part.first} on, but {part} ends before it")

    def some(frame: Frame | None) -> Iterator[Frame]:
        try:
            while frame is not None and (part.last is None or frame.index <= part.last):
                yield frame
                frame = next(frames, None) if frame.index != part.last else None
        finally:
            whole.close()

    known = whole.info.frames if part.last is None else min(part.last + 1, whole.info.frames or part.last + 1)
    info = replace(
        whole.info,
        frames=None if known is None else max(1, known - part.first),
        duration=None,
        start=begun.time,
        first=part.first,
        timecode=advanced(whole.info.timecode or "", part.first, whole.info.rate),
        ends_early=part.last is not None,
    )
    return Source(whole.name, info, some(begun), whole.audio, whole.damage, whole._names)


def _open_pictures(name: str, paths: list[Path], rate: Fraction, begin: int, skip_damaged: bool) -> Source:
    height, width = read_picture(paths[0]).shape[:2]
    info = VideoInfo(width, height, rate, 1 / rate, frames=len(paths), duration=len(paths) / rate)
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):  # of several folders, or of several endings
        names = [numbered(index) for index in range(len(paths))]

    damage = Damage()

    def frames() -> Iterator[Frame]:
        rgb = None
        for index, path in enumerate(paths[begin:], start=begin):
            damaged = False
            try:
                rgb = _scaled(read_picture(path), info, index, damage)
            except InputError as error:
                damaged = skip_damaged and rgb is not None
                if not damaged:
                    raise BrokenVideoError(name, index, str(error)) from error
                damage.missing.append(index)
            assert rgb is not None
            yield Frame(index, index / rate, rgb, names[index], damaged=damaged)

    return Source(name, info, frames(), damage=damage, names=names)


def _scaled(rgb: np.ndarray, info: VideoInfo, index: int, damage: Damage) -> np.ndarray:
    """A picture at the size of the first one."""
    height, width = rgb.shape[:2]
    if (width, height) == (info.width, info.height):
        return rgb
    damage.sizes.setdefault((width, height), index)
    shrinks = info.width * info.height < width * height
    return cv2.resize(rgb, (info.width, info.height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)


def _open_given(pictures: Iterable[np.ndarray], rate: Fraction) -> Source:
    remaining = iter(pictures)
    first = next(remaining, None)
    if first is None:
        raise InputError(f"expected frames, but there are none in {GIVEN}")
    height, width = _checked(first, 0).shape[:2]
    info = VideoInfo(width, height, rate, 1 / rate)
    damage = Damage()

    def frames() -> Iterator[Frame]:
        try:
            for index, picture in enumerate(itertools.chain([first], remaining)):
                rgb = _scaled(_checked(picture, index), info, index, damage)
                yield Frame(index, index / rate, rgb, numbered(index))
        finally:
            getattr(remaining, "close", lambda: None)()

    return Source(GIVEN, info, frames(), damage=damage)


def _checked(picture: np.ndarray, index: int) -> np.ndarray:
    shape: tuple[int, ...] = getattr(picture, "shape", ())
    kind = getattr(picture, "dtype", type(picture).__name__)
    if len(shape) != 3 or shape[2] != 3 or kind != np.uint8:
        raise InputError(f"expected frames (H, W, 3) uint8, frame {index} is {shape} {kind}")
    return picture


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
                yield Frame(index, now, cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), numbered(index))
                opened, bgr = camera.read()
                last, index = now, index + 1
                if not opened:
                    return
        finally:
            camera.release()

    return Source(name, info, frames(bgr))


def _open_video(file: Any, name: str, begin: Place | None, skip_damaged: bool) -> Source:
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
        decoded = _decoded_from(container, stream, begin.time, skip_damaged)
        if decoded is None:
            container.close()
            return _open_video(file, name, None, skip_damaged)
    else:
        decoded = _decoded(container, stream, skip_damaged)
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
        timecode=_timecode(container, stream),
        depth=_depth(first),
    )
    damage = Damage()
    decoded = itertools.chain([first], decoded)
    frames = _frames(container, name, info, decoded, turn, mirrored, begin, damage, skip_damaged)
    return Source(name, info, frames, file if info.has_audio and isinstance(file, str) else None, damage)


def _frames(
    container: Any,
    name: str,
    info: VideoInfo,
    decoded: Iterator[Any],
    turn: int,
    mirrored: bool,
    begin: Place | None,
    damage: Damage,
    skip_damaged: bool,
) -> Iterator[Frame]:
    index, last, end = begin.index if begin else 0, None, Fraction(0)
    rgb: np.ndarray | None = None
    deep = None
    try:
        for picture in decoded:
            if isinstance(picture, str):
                raise BrokenVideoError(name, index, picture)
            if picture.pts is None:
                now = Fraction(0) if last is None else last + 1 / info.rate
            else:
                now = picture.pts * (picture.time_base or info.time_base)
            if last is not None and now <= last:
                now = last + info.time_base
            damaged = isinstance(picture, Missing)
            if damaged:
                damage.missing.append(index)
            else:
                whole = _to_rgb(picture, turn, mirrored)
                rgb = _scaled(whole, info, index, damage)
                deep = DeepPicture(picture, turn, mirrored) if info.depth and rgb is whole else None
            assert rgb is not None  # the first is never missing
            yield Frame(index, now, rgb, numbered(index), not damaged and bool(picture.key_frame), damaged, deep)
            length = 0 if damaged else (picture.duration or 0) * (picture.time_base or info.time_base)
            end = now + (length or 1 / info.rate)
            index, last = index + 1, now
        # Some containers end without an error where the file was cut off.
        if info.duration and info.duration - end > max(Fraction(1), 5 / info.rate):
            reason = f"it should last {float(info.duration):.1f} s, but ends here"
            if not skip_damaged:
                raise BrokenVideoError(name, index, reason)
            damage.end = f"it should last {float(info.duration):.1f} s, and lasts {float(end):.1f} s"
    finally:
        container.close()


@dataclass(frozen=True)
class Missing:
    """Stands for a frame that cannot be decoded."""

    pts: int
    time_base: Fraction


def _decoded(container: Any, stream: Any, skip_damaged: bool = False) -> Iterator[Any]:
    """The frames of a stream as PyAV gives them and, where it breaks, the reason (a string) as the last item.

    skip_damaged: go on instead, with a `Missing` for each frame that does not come.
    """
    if skip_damaged:
        yield from _decoded_all(container, stream)
        return
    started, broken = False, None
    try:
        for packet in container.demux(stream):
            if packet.is_corrupt and started:
                broken = packet.pts
                raise InputError("the file is cut off or damaged here")
            try:
                frames = packet.decode()
            except av.error.FFmpegError:
                if started:
                    broken = packet.pts
                    raise
                continue  # a recording may begin between two key frames
            for frame in frames:
                if frame.is_corrupt:
                    if started:
                        broken = frame.pts
                        raise InputError("its picture is damaged")
                    continue
                started = True
                yield frame
        return
    except (av.error.FFmpegError, InputError) as error:
        reason = _reason(error)
    try:  # frames before the break may still wait in the decoder, and so may some from behind it
        waiting = [frame for frame in stream.codec_context.decode(None) if not frame.is_corrupt]
    except av.error.FFmpegError:
        waiting = []
    yield from (frame for frame in waiting if broken is None or frame.pts is None or frame.pts < broken)
    yield reason


def _decoded_all(container: Any, stream: Any) -> Iterator[Any]:
    """All frames that can be decoded and, in its place, a `Missing` for each packet whose frame never comes."""
    expected: list[int] = []
    """Times of packets whose frames have not come yet, the smallest first."""
    damaged: set[int] = set()
    started = False

    def until(pts: int | None) -> Iterator[Missing]:
        while expected and (pts is None or expected[0] <= pts):
            time = heapq.heappop(expected)
            if time != pts and started:
                yield Missing(time, stream.time_base)

    for packet in _packets(container, stream):
        if packet.pts is not None and packet.size and not packet.is_discard:
            heapq.heappush(expected, packet.pts)
            if packet.is_corrupt:
                damaged.add(packet.pts)
        try:
            frames = packet.decode()
        except av.error.FFmpegError:
            continue
        for frame in frames:
            if not frame.is_corrupt and frame.pts not in damaged:
                if frame.pts is not None:
                    yield from until(frame.pts)
                started = True
                yield frame
    yield from until(None)


def _packets(container: Any, stream: Any) -> Iterator[Any]:
    """The packets of a stream; an error is tried again, as files go on after a damaged spot."""
    failures = 0
    while failures < RETRIES:
        try:
            for packet in container.demux(stream):
                failures = 0
                yield packet
            return
        except av.error.FFmpegError:
            failures += 1


def _decoded_from(container: Any, stream: Any, time: Fraction, skip_damaged: bool) -> Iterator[Any] | None:
    """As `_decoded`, from the frame of exactly this time on; None where it cannot be reached."""
    try:
        container.seek(round(time / stream.time_base), stream=stream)
    except av.error.FFmpegError:
        return None
    decoded = _decoded(container, stream, skip_damaged)
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


def _timecode(container: Any, stream: Any) -> str | None:
    """What the video, a track of its own, or the file says."""
    places = (stream, *container.streams.data, container)
    found = next((text for place in places for key, text in place.metadata.items() if key.lower() == "timecode"), None)
    return found if found and advanced(found, 0, stream.average_rate or PICTURE_RATE) else None


def _depth(frame: Any) -> Depth | None:
    bits = max(component.bits for component in frame.format.components)
    if bits <= 8:
        return None
    matrix = Colorspace.ITU709 if frame.format.is_rgb else frame.colorspace
    return Depth(bits, int(frame.color_primaries), int(frame.color_trc), int(matrix))


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
    return _turned(frame.to_ndarray(format="rgb24", src_colorspace=space), turn, mirrored)


def _turned(picture: np.ndarray, turn: int, mirrored: bool) -> np.ndarray:
    """A picture (H, W, ...) as it is shown."""
    return np.ascontiguousarray(np.rot90(picture[:, ::-1] if mirrored else picture, -turn))
