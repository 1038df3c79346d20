"""One class for each output format, with one interface: `write` a frame, `close`, or `abort`.

`media.output` puts several of them to work on one folder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import av
import cv2
import numpy as np
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.coco import CocoWriter
from mobilevos.media.label_studio import LabelStudioSink
from mobilevos.media.masks import write_mask
from mobilevos.media.overlay import contact_sheet, cutout, draw_matte, draw_overlay, matte, with_alpha
from mobilevos.media.video import Frame, VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.media.yolo import YoloSink

Draw = Callable[[Frame, np.ndarray, Mapping[int, float]], np.ndarray]
Color = tuple[int, int, int]

GREEN = (0, 177, 64)
"""Behind cut-out objects, unless told otherwise."""

SOFTEST = 250.0


@dataclass(frozen=True)
class Look:
    """How cut-outs look; masks do not depend on it."""

    color: Color = GREEN
    """Behind cut-out objects."""
    feather: float = 1.0
    """Pixels to either side of the outline over which an edge is soft."""

    def __post_init__(self) -> None:
        if not 0 <= self.feather <= SOFTEST:
            raise InputError(f"expected to feather edges by 0 to {SOFTEST:.0f} pixels, got {self.feather:g}")


class Sink(Protocol):
    """One output format."""

    notes: Sequence[str]
    """Sentences on what could not be kept."""

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        """Add a frame; ids: (H, W) uint8, confidence: {id: 0..1}."""

    def close(self) -> None:
        """Finish; the output is in place after this."""

    def abort(self) -> None:
        """Drop what is not finished."""


class CallingSink:
    """Calls a function with each frame, its ids (H, W) and confidence."""

    notes: Sequence[str] = ()

    def __init__(self, function: Callable[[Frame, np.ndarray, Mapping[int, float]], object]) -> None:
        self._function = function

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        self._function(frame, ids, confidence)

    def close(self) -> None:
        """Nothing is held."""

    def abort(self) -> None:
        """Nothing is held."""


class MaskSink:
    """Palette PNGs of masks that are not the record itself."""

    notes: Sequence[str] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        write_mask(self.folder / f"{frame.name}.png", ids)

    def close(self) -> None:
        """Each picture is in place already."""

    def abort(self) -> None:
        """Pictures that are in place stay: each is whole."""


class AlphaPictureSink(MaskSink):
    """PNGs of the frame with a transparent background, of 8 or 16 bits."""

    def __init__(self, folder: Path, look: Look, deep: bool = False) -> None:
        super().__init__(folder)
        self.look, self.deep = look, deep

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        rgb = _deep_rgb(frame) if self.deep else frame.rgb
        picture = cv2.cvtColor(with_alpha(rgb, ids, self.look.feather), cv2.COLOR_RGBA2BGRA)
        with replacing(self.folder / f"{frame.name}.png") as part:
            part.write_bytes(cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes())


class ExrSink(MaskSink):
    """OpenEXR pictures of 32 bits with a transparent background, written by FFmpeg.

    Colours are as the source codes them, 0..1, and multiplied by alpha, as readers of EXR expect it.
    """

    def __init__(self, folder: Path, look: Look) -> None:
        super().__init__(folder)
        self.look = look

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        alpha = matte(ids, self.look.feather).astype(np.float32)[..., None]
        rgb = _deep_rgb(frame).astype(np.float32) / np.float32(65535)
        picture = np.concatenate([rgb * alpha, alpha], axis=2)
        encoder = av.CodecContext.create("exr", "w")
        encoder.width, encoder.height, encoder.pix_fmt = picture.shape[1], picture.shape[0], "gbrapf32le"
        encoder.time_base, encoder.options = Fraction(1, 25), {"compression": "zip16", "format": "float"}
        drawn = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="gbrapf32le")
        packets = [*encoder.encode(drawn), *encoder.encode(None)]
        with replacing(self.folder / f"{frame.name}.exr") as part:
            part.write_bytes(b"".join(map(bytes, packets)))


def _deep_rgb(frame: Frame) -> np.ndarray:
    """The picture as (H, W, 3) uint16, with all the steps the source has."""
    if frame.deep is None:
        return frame.rgb.astype(np.uint16) * 257
    return frame.deep.rgb()


class VideoSink:
    """A video of what `draw` makes of each frame."""

    def __init__(
        self, path: Path, info: VideoInfo, audio: str | None, codec: str, draw: Draw, colours: bool = True
    ) -> None:
        """colours: whether those of the source are in it, which may have more bits."""
        self._writer = VideoWriter(path, info, codec, audio)
        self._draw = draw
        self.notes: Sequence[str] = self._writer.notes
        if colours and info.depth and not self._writer.codec.deep:
            self._writer.notes.append(f"The source has {info.depth}: {path.name} has 8 bits, and is tagged as BT.709.")
        self.close = self._writer.close
        self.abort = self._writer.abort

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        self._writer.write(self._draw(frame, ids, confidence), frame.time)


class DeepVideoSink(VideoSink):
    """A transparent video with the colours of the source, at its depth."""

    def __init__(self, path: Path, info: VideoInfo, audio: str | None, codec: str, look: Look) -> None:
        super().__init__(path, info, audio, codec, _draw_alpha(look))
        self._look = look

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        if frame.deep is None:
            super().write(frame, ids, confidence)
        else:
            self._writer.write_deep(frame.deep, matte(ids, self._look.feather), frame.time)


class SheetSink:
    """Overlays of frames evenly spread over the whole source, on one picture."""

    most = 24
    notes: Sequence[str] = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tiles: list[tuple[int, np.ndarray]] = []
        self._step = 1

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        if frame.index % self._step:
            return
        picture = draw_overlay(frame.rgb, ids)
        height = max(1, round(picture.shape[0] * 320 / picture.shape[1]))
        self._tiles.append((frame.index, cv2.resize(picture, (320, height), interpolation=cv2.INTER_AREA)))
        if len(self._tiles) > self.most:  # nobody knows how long the source is: thin out, and go on at half the pace
            self._step *= 2
            self._tiles = [tile for tile in self._tiles if tile[0] % self._step == 0]

    def close(self) -> None:
        if self._tiles:
            captions = [str(index) for index, _ in self._tiles]
            sheet = contact_sheet([tile for _, tile in self._tiles], captions=captions)
            with replacing(self._path) as part:
                Image.fromarray(sheet).save(part, format="PNG")

    def abort(self) -> None:
        """Nothing is on disk before the end."""


def _draw_doubtful(look: Look) -> Draw:
    return lambda frame, ids, confidence: draw_overlay(frame.rgb, ids, confidence=confidence)


def _draw_cutout(look: Look) -> Draw:
    return lambda frame, ids, confidence: cutout(frame.rgb, ids, look.color, look.feather)


def _draw_matte(look: Look) -> Draw:
    return lambda frame, ids, confidence: draw_matte(ids, look.feather)


def _draw_alpha(look: Look) -> Draw:
    return lambda frame, ids, confidence: with_alpha(frame.rgb, ids, look.feather)


Make = Callable[[Path, VideoInfo, str | None, Look], Sink]
"""Makes the sink from its path, the source's form and sound, and how cut-outs look."""


@dataclass(frozen=True)
class Format:
    """An output format: the name of its file or folder, and what makes it."""

    name: str
    make: Make


def _video(codec: str, draw: Callable[[Look], Draw]) -> Make:
    return lambda path, info, audio, look: VideoSink(path, info, audio, codec, draw(look))


FORMATS = {
    "masks": Format("masks", lambda path, info, audio, look: MaskSink(path)),
    "overlay": Format("overlay.mp4", _video("h264", _draw_doubtful)),
    "cutout": Format("cutout.mp4", _video("h264", _draw_cutout)),
    "matte": Format(
        "matte.mp4",
        lambda path, info, audio, look: VideoSink(path, info, audio, "h264", _draw_matte(look), colours=False),
    ),
    "alpha": Format("alpha.webm", _video("vp9-alpha", _draw_alpha)),
    "prores": Format("alpha.mov", lambda path, info, audio, look: DeepVideoSink(path, info, audio, "prores4444", look)),
    "alpha-png": Format("alpha", lambda path, info, audio, look: AlphaPictureSink(path, look)),
    "alpha-png16": Format("alpha16", lambda path, info, audio, look: AlphaPictureSink(path, look, deep=True)),
    "exr": Format("exr", lambda path, info, audio, look: ExrSink(path, look)),
    "coco": Format("coco.json", lambda path, info, audio, look: CocoWriter(path, info)),
    "yolo": Format("yolo", lambda path, info, audio, look: YoloSink(path)),
    "label-studio": Format("label-studio", lambda path, info, audio, look: LabelStudioSink(path)),
    "sheet": Format("sheet.png", lambda path, info, audio, look: SheetSink(path)),
}
"""The masks are the record itself, unless their outline is smoothed over time: see `pipeline.record`."""
