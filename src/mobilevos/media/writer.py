"""Videos out: the timing and size of the source, its sound, and transparency where it is asked for.

    with VideoWriter("overlay.mp4", source.info, audio=source.audio) as writer:
        for frame in source:
            writer.write(frame.rgb, frame.time)

| codec        | file  | pixels                | times                                   |
| ------------ | ----- | --------------------- | --------------------------------------- |
| `h264`       | .mp4  | 4:2:0; odd sizes 4:4:4 | exact, in the time base of the source   |
| `vp9-alpha`  | .webm | 4:2:0 with alpha      | whole milliseconds, as WebM has no other |
| `prores4444` | .mov  | 4:4:4, 10 bits, alpha | exact                                   |

ProRes keeps the colours of a source of more than 8 bits as they are, HDR included, and is tagged like it; the others
have 8 bits of BT.709.

H.264 has no odd sizes in 4:2:0, as a pair of pixels shares its colour. Rather than cropping or stretching the picture,
an odd size is written with a colour for each pixel (4:4:4), which keeps the size; some hardware players decline it.

Videos begin at 0 with their first frame, whatever the clock of the source says; its timecode is kept. Sound is copied;
where the file cannot hold it as it is (AAC in WebM), it is encoded anew; where that cannot be done, it is left out, and
`notes` say so.

The video is written under a temporary name and moved when it is complete, so a killed process leaves no half video
behind: see `media.sinks` for how work goes on after that.
"""

import contextlib
import os
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
from mobilevos.files import replacing
from mobilevos.media.video import DeepPicture, VideoInfo

BT709 = 1
LIMITED_RANGE = 1
DEEP_BLACK = (64, 512, 512)
"""Black of 10 bits: luma and two colours."""
LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}
"""By channels, what every encoder of sound takes; any other sound becomes stereo."""
RATE = 48000
"""Samples a second, where the encoder does not take those of the source."""


@dataclass(frozen=True)
class Codec:
    """How one kind of video is made."""

    container: str
    encoder: str
    pixels: str
    odd_pixels: str
    """The pixel format for an odd width or height."""
    sound: frozenset[str]
    """The kinds of sound that players expect in the container, to be copied as they are."""
    sound_encoder: str
    """For any other sound."""
    options: dict[str, str]
    container_options: dict[str, str]
    alpha: bool = False
    deep: bool = False
    """Whether it holds 10 bits, and keeps the colours of such a source as they are."""
    time_base: Fraction | None = None
    """The only time base the container knows; None where it takes any."""


CODECS = {
    # No B-frames: they move the end of the video in the file's tables when the frame rate varies. No macroblock tree:
    # with several threads it makes the result depend on their timing, and a resumed run would differ from a whole one.
    "h264": Codec(
        container="mp4",
        encoder="libx264",
        pixels="yuv420p",
        odd_pixels="yuv444p",
        sound=frozenset(("aac", "mp3", "ac3", "eac3", "alac", "flac", "opus")),
        sound_encoder="aac",
        options={"preset": "veryfast", "crf": "18", "bf": "0", "x264-params": "mbtree=0"},
        container_options={"movflags": "faststart"},
    ),
    "vp9-alpha": Codec(
        container="webm",
        encoder="libvpx-vp9",
        pixels="yuva420p",
        odd_pixels="yuva420p",
        sound=frozenset(("opus", "vorbis")),
        sound_encoder="libopus",
        options={
            "deadline": "realtime",
            "cpu-used": "6",
            "row-mt": "1",
            "crf": "24",
            "b": "0",
            "auto-alt-ref": "0",  # hidden frames would have no alpha
        },
        container_options={},
        alpha=True,
        time_base=Fraction(1, 1000),
    ),
    "prores4444": Codec(
        container="mov",
        encoder="prores_ks",
        pixels="yuva444p10le",
        odd_pixels="yuva444p10le",
        sound=frozenset(("aac", "mp3", "ac3", "alac", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be")),
        sound_encoder="aac",
        options={"profile": "4444", "vendor": "apl0"},
        container_options={},
        alpha=True,
        deep=True,
    ),
}


class VideoWriter:
    """Writes a video frame by frame; leaves it in place only when everything went well."""

    def __init__(
        self, path: str | os.PathLike[str], info: VideoInfo, codec: str = "h264", audio: str | None = None
    ) -> None:
        """info: of the source, for size, rate, time base and start; audio: a file whose sound is to be kept."""
        if codec not in CODECS:
            raise InputError(f"expected a codec of {', '.join(CODECS)}, got {codec}")
        self.path = Path(path)
        self.info = info
        self.codec = CODECS[codec]
        self.time_base = self.codec.time_base or info.time_base
        self.notes: list[str] = []
        """Sentences on what could not be kept."""
        self._last: int | None = None
        self._audio: _Audio | None = None
        self._stack = contextlib.ExitStack()
        part = self._stack.enter_context(replacing(self.path))
        try:
            with self._clear_errors():
                part.touch()  # FFmpeg would find out only at the first frame
                self._container: Any = av.open(
                    str(part), "w", format=self.codec.container, container_options=self.codec.container_options
                )
                self._stream = self._add_video()
                if audio:
                    self._add_sound(audio)
        except BaseException as error:
            self._stack.__exit__(type(error), error, None)
            raise

    def _add_video(self) -> Any:
        info, codec = self.info, self.codec
        odd = info.width % 2 or info.height % 2
        stream = self._container.add_stream(codec.encoder, rate=info.rate, options=dict(codec.options))
        stream.width, stream.height = info.width, info.height
        stream.pix_fmt = codec.odd_pixels if odd else codec.pixels
        stream.time_base = self.time_base
        context = stream.codec_context
        context.time_base = self.time_base
        context.sample_aspect_ratio = info.pixel_aspect
        context.colorspace = context.color_primaries = context.color_trc = BT709
        if codec.deep and info.depth:
            context.colorspace, context.color_primaries = info.depth.matrix, info.depth.primaries
            context.color_trc = info.depth.transfer
        context.color_range = LIMITED_RANGE
        if info.timecode:
            stream.metadata["timecode"] = info.timecode
        return stream

    def _add_sound(self, source: str) -> None:
        try:
            self._audio = _Audio(self._container, self.codec, source, self.info.start)
        except NoSoundError as error:
            self.notes.append(f"The sound of {Path(source).name} is left out: {error}.")

    def write(self, picture: np.ndarray, time: Fraction) -> None:
        """Add a picture, (H, W, 3) uint8 RGB, or (H, W, 4) with straight alpha where the codec has alpha.

        time: when it is shown in the source.
        """
        self._check(picture)
        channels = picture.shape[2]
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgba" if channels == 4 else "rgb24")
        matrix = self.info.depth.matrix if self.codec.deep and self.info.depth else BT709
        space = next((known for known in Colorspace if known.value == matrix), Colorspace.ITU709)
        self._encode(frame.reformat(format=self._stream.pix_fmt, dst_colorspace=space), time)

    def write_deep(self, picture: DeepPicture, alpha: np.ndarray, time: Fraction) -> None:
        """Add a picture whose colours are copied, at 10 bits, with alpha (H, W) in 0..1.

        Far from where alpha is, the picture is black, which takes almost no room.
        """
        near = cv2.dilate((alpha > 0).view(np.uint8), np.ones((17, 17), np.uint8)) > 0
        colours = [np.where(near, p, black) for p, black in zip(picture.planes(), DEEP_BLACK, strict=True)]
        frame = av.VideoFrame(self.info.width, self.info.height, self._stream.pix_fmt)
        for plane, values in zip(frame.planes, (*colours, np.round(1023 * alpha)), strict=True):
            rows = np.zeros((plane.height, plane.line_size // 2), np.uint16)
            rows[:, : plane.width] = values
            plane.update(rows.tobytes())
        self._encode(frame, time)

    def _check(self, picture: np.ndarray) -> None:
        channels = 4 if self.codec.alpha else 3
        expected = (self.info.height, self.info.width, channels)
        if picture.shape != expected or picture.dtype != np.uint8:
            raise InputError(f"expected a picture of shape {expected} uint8, got {picture.shape} {picture.dtype}")

    def _encode(self, frame: Any, time: Fraction) -> None:
        time -= self.info.start
        tick = round(time / self.time_base)
        if self._last is not None and tick <= self._last:
            tick = self._last + 1
        self._last = tick
        frame.pts, frame.time_base = tick, self.time_base
        if self.codec.deep and self.info.depth:  # the encoder believes the frame
            frame.colorspace, frame.color_primaries = self.info.depth.matrix, self.info.depth.primaries
            frame.color_trc, frame.color_range = self.info.depth.transfer, LIMITED_RANGE
        with self._clear_errors():
            self._container.mux(self._stream.encode(frame))
            if self._audio:
                self._audio.advance(time)

    def close(self) -> None:
        """Finish the video and move it into place; one without a frame is dropped."""
        if self._last is None:
            return self.abort()
        try:
            with self._clear_errors():
                self._container.mux(self._stream.encode(None))
                if self._audio:
                    end = self._last * self.time_base + 1 / self.info.rate
                    self._audio.finish(end if self.info.ends_early else None)
                self._container.close()
        except BaseException:
            self.abort()
            raise
        self._stack.close()

    def abort(self) -> None:
        """Drop what was written."""
        if self._audio:
            self._audio.close()
        with contextlib.suppress(av.error.FFmpegError, OSError):
            self._container.close()
        self._stack.__exit__(InputError, InputError("dropped"), None)  # so that nothing is moved into place

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except (av.error.FFmpegError, OSError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot write {self.path}: {reason}") from error

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class NoSoundError(Exception):
    """Sound that cannot be handed on; the message says why."""


class _Audio:
    """The sound of another file, handed on in step with the pictures, so that none of it piles up in memory.

    start: the time in that file at which the pictures begin; sound before it is left out.
    """

    def __init__(self, output: Any, codec: Codec, source: str, start: Fraction) -> None:
        self._output, self._codec, self._start = output, codec, start
        self._input: Any = av.open(source)
        try:
            stream = next((s for s in self._input.streams.audio if s.codec_context is not None), None)
            if stream is None:
                raise NoSoundError("FFmpeg cannot decode it")
            self._copied = stream.codec_context.codec.canonical_name in codec.sound
            if self._copied:
                self._stream = output.add_stream_from_template(stream)
            else:
                self._stream = output.add_stream(codec.sound_encoder, **_encodable(stream, codec.sound_encoder))
        except BaseException:
            self.close()
            raise
        self._packets = self._timed(stream)
        self._next = next(self._packets, None)

    def _timed(self, stream: Any) -> Iterator[tuple[Fraction, Any]]:
        """(time, packet) pairs in order, of the sound as it is or encoded anew; ends where it cannot be read."""
        with contextlib.suppress(av.error.FFmpegError):
            for packet in self._input.demux(stream):
                if self._copied:
                    if packet.dts is None:
                        continue  # the empty packet at the end
                    time = self._shift(packet)
                    if self._begins(time, (packet.duration or 0) * packet.time_base):
                        packet.stream = self._stream
                        yield time, packet
                    continue
                for frame in packet.decode():
                    time = self._shift(frame)
                    late = round(-time * frame.sample_rate) if self._start and time < 0 else 0
                    if late < frame.samples:
                        for encoded in self._stream.encode(_without(frame, late) if late else frame):
                            yield time, encoded
        if not self._copied:
            for encoded in self._stream.encode(None):
                yield Fraction(0), encoded

    def _shift(self, item: Any) -> Fraction:
        """Count the time of a packet or frame from the start, in place."""
        ticks = round(self._start / item.time_base) if self._start else 0
        if item.pts is not None:
            item.pts -= ticks
        if item.dts is not None:
            item.dts -= ticks
        at = item.dts if item.pts is None else item.pts
        return Fraction(0) if at is None else at * item.time_base

    def _begins(self, time: Fraction, duration: Fraction) -> bool:
        """Whether a packet belongs to the video. One across its start does where the file can say to skip a part.

        Where the pictures begin at 0 all do: decoders need the packets before 0 that a file may begin with.
        """
        return not self._start or time >= 0 or (time + duration > 0 and self._codec.container != "webm")

    def advance(self, until: Fraction) -> None:
        while self._next is not None and self._next[0] <= until:
            self._output.mux(self._next[1])
            self._next = next(self._packets, None)

    def finish(self, until: Fraction | None = None) -> None:
        """Hand on the rest, up to a time where one is given."""
        while self._next is not None and (until is None or self._next[0] < until):
            self._output.mux(self._next[1])
            self._next = next(self._packets, None)
        self.close()

    def close(self) -> None:
        self._input.close()


def _without(frame: Any, count: int) -> Any:
    """A frame of sound without its first samples."""
    samples, channels = frame.to_ndarray(), frame.layout.nb_channels
    rest = samples[:, count * (1 if frame.format.is_planar else channels) :]
    cut = av.AudioFrame.from_ndarray(np.ascontiguousarray(rest), frame.format.name, frame.layout.name)
    cut.sample_rate, cut.time_base = frame.sample_rate, frame.time_base
    cut.pts = None if frame.pts is None else frame.pts + round(Fraction(count, frame.sample_rate) / frame.time_base)
    return cut


def _encodable(stream: Any, encoder: str) -> dict[str, Any]:
    """The rate and the layout for an encoder of sound, those of a stream as far as it takes them."""
    layout = LAYOUTS.get(stream.layout.nb_channels, "stereo")
    try:
        context: Any = av.CodecContext.create(encoder, "w")
        taken = encoder != "libopus" and stream.rate in context.codec.audio_rates
        rate = stream.rate if taken else RATE
        context.sample_rate, context.layout, context.format = rate, layout, context.codec.audio_formats[0]
        context.open()  # in time: a stream cannot be taken out of a file again
    except (av.error.FFmpegError, ValueError) as error:
        raise NoSoundError(f"{encoder} cannot encode it ({getattr(error, 'strerror', None) or error})") from error
    return {"rate": rate, "layout": layout}
