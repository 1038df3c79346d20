"""What comes out of tracking: a folder with the formats that were asked for, safe against being killed at any time.

    with Output("out", ["masks", "overlay"], source.info, audio=source.audio) as output:
        for frame in source:
            output.write(frame, ids, confidence)

How it survives a kill: see `media.record` for the ids and the confidence of each frame, the record of the work.
Everything else (videos, COCO, the sheet) is a function of frame, ids and confidence, is written under a temporary
name, and appears when it is complete. With `resume=True` the caller reads the source from the start again; for each
frame `stored` gives what an earlier run recorded, and `write` draws it again without tracking it. So nothing has to
mend half a video, and a video after a kill is the same as one without.

While the work is unfinished, the folder `.resume` in the output holds what is needed to go on: the settings of the
run, the record where masks were not asked for, and whatever the caller keeps there (`resume_folder`).
"""

import contextlib
import glob
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from mobilevos.errors import InputError
from mobilevos.media.atomic import replacing
from mobilevos.media.record import Record, Stored, rounded
from mobilevos.media.sinks import FORMATS, GREEN, Sink
from mobilevos.media.video import BrokenVideoError, Frame, VideoInfo

CONFIDENCE = "confidence.csv"
RESUME = ".resume"
SETTINGS = "settings.json"
"""In the folder above; an unfinished run is one that has it."""


class Output:
    """A folder of outputs, all written in step."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        formats: Sequence[str],
        info: VideoInfo,
        *,
        audio: str | None = None,
        color: tuple[int, int, int] = GREEN,
        settings: Mapping[str, str] | None = None,
        resume: bool = False,
        force: bool = False,
    ) -> None:
        """An existing output is an InputError, unless it is to be resumed or (force) replaced.

        color: behind cut-out objects. settings: what the masks depend on; a run is resumed with the same only.
        """
        self.folder = Path(folder)
        paths = _paths(self.folder, formats)
        self.resume_folder = self.folder / RESUME
        record = paths.get("masks", self.resume_folder / "masks")
        unfinished = (self.resume_folder / SETTINGS).exists()
        existing = [path for path in (*paths.values(), self.folder / CONFIDENCE) if _has_content(path)]
        if unfinished and resume:
            self._check_settings(settings or {})
        elif unfinished and not force:
            raise InputError(f"{self.folder} holds an unfinished run: resume it, or force to begin anew")
        elif existing and resume:
            raise InputError(f"nothing to resume in {self.folder}: it has {existing[0].name}, but no unfinished run")
        elif existing and not force:
            raise InputError(f"{existing[0]} exists already; give another folder, or force to replace it")
        made = (record, *paths.values(), self.resume_folder, self.folder, *self.folder.parents)
        self._made = [path for path in made if not path.exists()]
        self._recorded = unfinished and resume
        self._sinks: list[Sink] = []
        self._files = contextlib.ExitStack()
        try:
            with self._clear_errors():
                self.folder.mkdir(parents=True, exist_ok=True)
                if not self._recorded:
                    _remove([*paths.values(), self.folder / CONFIDENCE])
                    _forget(self.resume_folder)
                    self.resume_folder.mkdir()
                    with replacing(self.resume_folder / SETTINGS) as part:
                        part.write_text(json.dumps(dict(settings or {}), indent=2), encoding="utf-8")
                self._record = Record(record, self.folder / CONFIDENCE)
                self._files.callback(self._record.close)
                for name, path in paths.items():
                    make = FORMATS[name].make
                    if make:
                        self._sinks.append(make(path, info, audio, color))
        except BaseException:
            self.abort()
            raise

    def _check_settings(self, settings: Mapping[str, str]) -> None:
        before = json.loads((self.resume_folder / SETTINGS).read_text(encoding="utf-8"))
        for name in sorted({*before, *settings}):
            if before.get(name) != settings.get(name):
                was, now = before.get(name, "nothing"), settings.get(name, "nothing")
                raise InputError(f"cannot resume in {self.folder}: its {name} was {was}, now it is {now}")

    def stored(self, frame: Frame) -> Stored | None:
        """What was recorded of this frame before, if it was."""
        return self._record.stored(frame)

    def side_record(self, name: str) -> Record:
        """A record beside the outputs, for an intermediate result; it goes when the run is finished."""
        with self._clear_errors():
            return Record(self.resume_folder / name, self.resume_folder / f"{name}.csv")

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float] | None = None) -> None:
        """Add the next frame to all outputs, the record first unless it has it. ids: (H, W) uint8."""
        shown = rounded(confidence)
        with self._clear_errors():
            if not self._record.has(frame):
                self._record.store(frame, ids, shown)
            self._recorded = True
            for sink in self._sinks:
                sink.write(frame, ids, shown)

    def close(self) -> None:
        """Finish all outputs; after this there is nothing to resume."""
        self._files.close()
        try:
            with self._clear_errors():
                while self._sinks:
                    self._sinks[0].close()
                    self._sinks.pop(0)
                _forget(self.resume_folder)
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Drop what is not finished; the record stays for resuming, unless there is nothing in it."""
        for sink in self._sinks:
            sink.abort()
        self._files.close()
        if not self._recorded and not any(self.resume_folder.rglob("*.png")):
            with contextlib.suppress(OSError):
                (self.folder / CONFIDENCE).unlink()
            with contextlib.suppress(OSError):
                _forget(self.resume_folder)
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
        broken = kind is not None and issubclass(kind, BrokenVideoError)
        if kind is None or (broken and self._recorded):  # what came before the break is complete
            self.close()
        else:
            self.abort()


def is_finished(folder: str | os.PathLike[str], formats: Sequence[str]) -> bool:
    """Whether all these formats are there, of a run that came to its end."""
    folder = Path(folder)
    return not (folder / RESUME / SETTINGS).exists() and all(map(_has_content, _paths(folder, formats).values()))


def _paths(folder: Path, formats: Sequence[str]) -> dict[str, Path]:
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise InputError(f"expected formats of {', '.join(FORMATS)}, got {', '.join(unknown) or 'none'}")
    return {name: folder / FORMATS[name].name for name in formats}


def _has_content(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


def _forget(resume_folder: Path) -> None:
    """Remove what is there for resuming, the settings first, so that a kill in between leaves nothing to resume."""
    if resume_folder.exists():
        (resume_folder / SETTINGS).unlink(missing_ok=True)
        shutil.rmtree(resume_folder)


def _remove(paths: Sequence[Path]) -> None:
    """Remove outputs of an earlier run: files, and the pictures in folders."""
    for path in paths:
        for part in path.parent.glob(glob.escape(path.name) + "*.part"):
            part.unlink()
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            for picture in (*path.glob("*.png"), *path.glob("*.png.part")):
                picture.unlink()
            _remove_empty(path)


def _remove_empty(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
