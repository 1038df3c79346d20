"""One class for each output format, with one interface: `write` a frame, `close`, or `abort`.

`media.output` puts several of them to work on one folder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from PIL import Image

from mobilevos.files import replacing
from mobilevos.media.coco import CocoWriter
from mobilevos.media.overlay import contact_sheet, cutout, draw_overlay, with_alpha
from mobilevos.media.video import Frame, VideoInfo
from mobilevos.media.writer import VideoWriter

Draw = Callable[[Frame, np.ndarray, Mapping[int, float]], np.ndarray]
Color = tuple[int, int, int]

GREEN = (0, 177, 64)
"""Behind cut-out objects, unless told otherwise."""


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


class AlphaPictureSink:
    """PNGs of the frame with a transparent background."""

    notes: Sequence[str] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        with replacing(self.folder / f"{frame.name}.png") as part:
            Image.fromarray(with_alpha(frame.rgb, ids)).save(part, format="PNG", compress_level=3)

    def close(self) -> None:
        """Each picture is in place already."""

    def abort(self) -> None:
        """Pictures that are in place stay: each is whole."""


class VideoSink:
    """A video of what `draw` makes of each frame."""

    def __init__(self, path: Path, info: VideoInfo, audio: str | None, codec: str, draw: Draw) -> None:
        self._writer = VideoWriter(path, info, codec, audio)
        self._draw = draw
        self.notes: Sequence[str] = self._writer.notes
        self.close = self._writer.close
        self.abort = self._writer.abort

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        self._writer.write(self._draw(frame, ids, confidence), frame.time)


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


def _draw_doubtful(frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> np.ndarray:
    return draw_overlay(frame.rgb, ids, confidence=confidence)


def _draw_cutout(color: Color) -> Draw:
    return lambda frame, ids, confidence: cutout(frame.rgb, ids, color)


def _draw_alpha(frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> np.ndarray:
    return with_alpha(frame.rgb, ids)


Make = Callable[[Path, VideoInfo, str | None, Color], Sink]
"""Makes the sink from its path, the source's form and sound, and the colour behind cut-out objects."""


@dataclass(frozen=True)
class Format:
    """An output format: the name of its file or folder, and what makes it."""

    name: str
    make: Make | None
    """None for the masks, which are the record itself: see `media.record`."""


def _video(codec: str, draw: Draw) -> Make:
    return lambda path, info, audio, color: VideoSink(path, info, audio, codec, draw)


FORMATS = {
    "masks": Format("masks", None),
    "overlay": Format("overlay.mp4", _video("h264", _draw_doubtful)),
    "cutout": Format("cutout.mp4", lambda path, info, audio, c: VideoSink(path, info, audio, "h264", _draw_cutout(c))),
    "alpha": Format("alpha.webm", _video("vp9-alpha", _draw_alpha)),
    "prores": Format("alpha.mov", _video("prores4444", _draw_alpha)),
    "alpha-png": Format("alpha", lambda path, info, audio, c: AlphaPictureSink(path)),
    "coco": Format("coco.json", lambda path, info, audio, c: CocoWriter(path, info)),
    "sheet": Format("sheet.png", lambda path, info, audio, c: SheetSink(path)),
}
