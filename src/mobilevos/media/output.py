"""What comes out of tracking: a folder with the formats that were asked for, safe against being killed at any time.

    with Output("out", ["masks", "overlay"], source.info, audio=source.audio) as output:
        for frame in source:
            output.write(frame, ids, confidence)

How it survives a kill: the ids of each frame are stored as a palette PNG that is moved into place complete, after the
line of its confidence. These two are the record of the work. Everything else (videos, COCO, the sheet) is a function
of frame, ids and confidence, is written under a temporary name, and appears when it is complete. With `resume=True`
the caller reads the source from the start again; for each frame `stored` gives what an earlier run recorded, and
`write` draws it again without tracking it. So nothing has to mend half a video, and a video after a kill is the same
as one without.
"""

import contextlib
import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from mobilevos.errors import InputError
from mobilevos.media.atomic import replacing
from mobilevos.media.masks import read_mask
from mobilevos.media.sinks import FORMATS, MaskSink, Sink
from mobilevos.media.video import BrokenVideoError, Frame, VideoInfo

CONFIDENCE = "confidence.csv"
HIDDEN_MASKS = ".masks"
"""Where the record of the work lies while masks were not asked for; removed at the end."""


@dataclass(frozen=True)
class Stored:
    """What an earlier run recorded of a frame."""

    ids: np.ndarray
    confidence: dict[int, float]


class Output:
    """A folder of outputs, all written in step."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        formats: Sequence[str],
        info: VideoInfo,
        *,
        audio: str | None = None,
        resume: bool = False,
        force: bool = False,
    ) -> None:
        """An existing output is an InputError, unless it is to be resumed or (force) replaced."""
        self.folder = Path(folder)
        unknown = [name for name in formats if name not in FORMATS]
        if unknown or not formats:
            raise InputError(f"expected formats of {', '.join(FORMATS)}, got {', '.join(unknown) or 'none'}")
        self._record_folder = self.folder / (FORMATS["masks"].name if "masks" in formats else HIDDEN_MASKS)
        paths = {name: self.folder / FORMATS[name].name for name in formats}
        existing = [path for path in (*paths.values(), self.folder / CONFIDENCE) if _has_content(path)]
        if existing and not (resume or force):
            raise InputError(f"{existing[0]} exists already; give another folder, or resume, or force")
        folders = (self._record_folder, *paths.values(), self.folder, *self.folder.parents)
        self._made = [path for path in folders if not path.exists()]
        self._recorded = resume
        self._sinks: list[Sink] = []
        self._files = contextlib.ExitStack()
        try:
            with self._clear_errors():
                self.folder.mkdir(parents=True, exist_ok=True)
                if not resume:
                    _remove([*existing, self._record_folder])
                self._record = MaskSink(self._record_folder)
                self._log = self._files.enter_context(contextlib.closing(_ConfidenceLog(self.folder / CONFIDENCE)))
                for name, path in paths.items():
                    if name != "masks":
                        self._sinks.append(FORMATS[name].make(path, info, audio))
        except BaseException:
            self.abort()
            raise

    def stored(self, frame: Frame) -> Stored | None:
        """What was recorded of this frame before, if it was."""
        path = self._record.path(frame)
        if not path.exists():
            return None
        ids = read_mask(path)
        if ids.shape != frame.rgb.shape[:2]:
            raise InputError(f"{path} is a mask of {ids.shape}, but the frame is {frame.rgb.shape[:2]}; another video?")
        return Stored(ids, self._log.stored.get(frame.index, {}))

    def record(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float] | None = None) -> None:
        """Store a frame without drawing it, in any order: for a pass that goes backwards."""
        self._store(frame, ids, _rounded(confidence))
        self._log.stored[frame.index] = _rounded(confidence)

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float] | None = None) -> None:
        """Add the next frame to all outputs, the record first unless it has it. ids: (H, W) uint8."""
        rounded = _rounded(confidence)
        if not self._record.path(frame).exists():
            self._store(frame, ids, rounded)
        with self._clear_errors():
            for sink in self._sinks:
                sink.write(frame, ids, rounded)

    def _store(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        if ids.shape != frame.rgb.shape[:2]:
            raise InputError(f"expected a mask of shape {frame.rgb.shape[:2]}, got {ids.shape}")
        self._recorded = True
        with self._clear_errors():
            self._log.write(frame, confidence)
            self._record.write(frame, ids, confidence)

    def close(self) -> None:
        """Finish all outputs."""
        self._files.close()
        try:
            with self._clear_errors():
                while self._sinks:
                    self._sinks.pop(0).close()
        except BaseException:
            self.abort()
            raise
        if self._record_folder.name == HIDDEN_MASKS:
            _remove([self._record_folder])

    def abort(self) -> None:
        """Drop what is not finished; the record stays for resuming, unless there is nothing in it."""
        for sink in self._sinks:
            sink.abort()
        self._files.close()
        if not self._recorded:
            with contextlib.suppress(OSError):
                (self.folder / CONFIDENCE).unlink()
            for path in self._made:
                _remove_empty(path)

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"cannot write to {self.folder}: {error.strerror or error}") from error

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None or issubclass(kind, BrokenVideoError):  # a source that breaks: what came before is complete
            self.close()
        else:
            self.abort()


def _rounded(confidence: Mapping[int, float] | None) -> dict[int, float]:
    """As the log has it, so that what is drawn before and after resuming is the same."""
    return {int(identity): round(float(value), 4) for identity, value in (confidence or {}).items()}


class _ConfidenceLog:
    """confidence.csv: a line for each frame and object, on disk before the mask of the frame."""

    header = ("frame", "time", "object", "confidence")

    def __init__(self, path: Path) -> None:
        self.stored: dict[int, dict[int, float]] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1] or ",".join(self.header) + "\n"
        if text != whole:  # new, or a killed process left half a line
            with replacing(path) as part:
                part.write_text(whole, encoding="utf-8")
        for frame, _, identity, value in list(csv.reader(whole.splitlines()))[1:]:
            self.stored.setdefault(int(frame), {})[int(identity)] = float(value)
        self._file = path.open("a", newline="", encoding="utf-8")
        self._rows = csv.writer(self._file, lineterminator="\n")

    def write(self, frame: Frame, confidence: Mapping[int, float]) -> None:
        if self.stored.get(frame.index) == confidence:
            return  # the process was killed after the line and before the mask
        for identity, value in sorted(confidence.items()):
            self._rows.writerow((frame.index, f"{float(frame.time):.6f}", identity, f"{value:.4f}"))
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _has_content(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def _remove(paths: Sequence[Path]) -> None:
    """Remove outputs of an earlier run: files, and the pictures in folders."""
    for path in paths:
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            for picture in (*path.glob("*.png"), *path.glob("*.png.part")):
                picture.unlink()
            _remove_empty(path)


def _remove_empty(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
