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
run, and whatever the caller keeps there (`resume_folder`). A finished run leaves a note instead: see `media.finished`.
One that stopped by itself (`pipeline.stopping`) has finished videos and all that is needed to go on. The folder
`.again` has the record where masks were not asked for, and what it takes to go on with other marks: see
`pipeline.revision`.

Where earlier results are replaced (`force=True`), all of this happens in a folder beside them, and they stay as they
are until the new ones are complete: see `pipeline.staging`.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.pictures import find_pictures
from mobilevos.media.sinks import FORMATS, Look, Sink
from mobilevos.media.video import BrokenVideoError, Frame, Readable, VideoInfo, is_live
from mobilevos.pipeline.completion import difference, leave_note, read_note
from mobilevos.pipeline.record import Record, Stored, rounded
from mobilevos.pipeline.smoothing import Drawn, Smoothing
from mobilevos.pipeline.staging import NEW, replace_results, settle

CONFIDENCE = "confidence.csv"
FINISHED = ".finished.json"
RESUME = ".resume"
SETTINGS = "settings.json"
"""In the folder above; an unfinished run is one that has it."""
AGAIN = ".again"
MARKS = "marks.json"
BESIDE = "masks"
"""In the folder above: which marks there were, and the record where it is not among the outputs."""
PLAIN = Look()


class Output:
    """A folder of outputs, all written in step."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        formats: Sequence[str],
        info: VideoInfo,
        *,
        source: Readable | None = None,
        audio: str | None = None,
        look: Look = PLAIN,
        smooth: int = 0,
        settings: Mapping[str, str] | None = None,
        resume: bool = False,
        force: bool = False,
        inputs: Sequence[Path] = (),
        sinks: Sequence[Sink] = (),
    ) -> None:
        """An existing output is an InputError, unless it is to be resumed or (force) replaced.

        source: must not lie among the outputs. look: of cut-out objects. smooth: frames to either side over which
        outlines are averaged. settings: what the masks depend on; a run is resumed with the same only. inputs: further
        files that were read; where they lie among the outputs, they are kept. sinks: further ones.
        """
        self.folder = Path(folder)
        settle(self.folder)
        outputs = (*_paths(self.folder, formats).values(), self.folder / CONFIDENCE)
        if source is not None:
            check_apart(source, (*outputs, *(self.folder / name for name in (RESUME, AGAIN, NEW))))
        for path in inputs:
            check_apart(path, [self.folder / name for name in (RESUME, AGAIN, NEW)])
        self._inputs = inputs
        self.work = self._choose(outputs, settings or {}, resume and not force, force)
        """Where all is written: the folder itself or, where earlier results are replaced, one beside them."""
        paths = _paths(self.work, formats)
        self.resume_folder = self.work / RESUME
        self._recorded = unfinished(self.work) and resume and not force
        if self.work != self.folder and not self._recorded:
            shutil.rmtree(self.work, ignore_errors=True)
        record = record_of(self.work, formats, smooth)
        self.again_folder = self.work / AGAIN
        made = (record, *paths.values(), self.again_folder, self.resume_folder, self.work, self.folder)
        made = (*made, *self.folder.parents)
        self._made = [path for path in made if not path.exists()]
        self._made_with = with_look(settings or {}, look)
        self._start, self._frames = info.start, 0
        self.stopped = False
        """Whether the run stopped by itself: what is there is finished, and all that is needed to go on stays."""
        self.notes: tuple[str, ...] = ()
        """Sentences on what could not be kept."""
        self._sinks: list[Sink] = list(sinks)
        self._smoothing = Smoothing(smooth)
        self._files = contextlib.ExitStack()
        try:
            with self._clear_errors():
                self.work.mkdir(parents=True, exist_ok=True)
                if not self._recorded:
                    _forget(self.resume_folder)
                    shutil.rmtree(self.again_folder, ignore_errors=True)
                    self.resume_folder.mkdir()
                    with replacing(self.resume_folder / SETTINGS) as part:
                        part.write_text(json.dumps(dict(settings or {}), indent=2), encoding="utf-8")
                self._record = Record(record, self.work / CONFIDENCE)
                self._files.callback(self._record.close)
                for name, path in paths.items():
                    if path != record:
                        self._sinks.append(FORMATS[name].make(path, info, audio, look))
                self.notes = tuple(dict.fromkeys(note for sink in self._sinks for note in sink.notes))
        except BaseException:
            self.abort()
            raise

    def _choose(self, outputs: Sequence[Path], settings: Mapping[str, str], resume: bool, force: bool) -> Path:
        """Where to write; an InputError where something is in the way."""
        begun = [work for work in (self.folder / NEW, self.folder) if unfinished(work)]
        existing = [path for path in outputs if _has_content(path)]
        if begun and resume:
            same = [work for work in begun if not difference(settings_of(work), settings)]
            if not same:
                raise InputError(f"cannot resume in {self.folder}: {difference(settings_of(begun[0]), settings)}")
            return same[0]
        if begun and not force:
            raise InputError(f"{self.folder} holds an unfinished run: resume it, or force to begin anew")
        if existing and resume:
            raise InputError(f"nothing to resume in {self.folder}: it has {existing[0].name}, but no unfinished run")
        if existing and not force:
            raise InputError(f"{existing[0]} exists already; give another folder, or force to replace it")
        return self.folder / NEW if existing or unfinished(self.folder) else self.folder

    def stored(self, frame: Frame) -> Stored | None:
        """What was recorded of this frame before, if it was."""
        return self._record.stored(frame)

    def side_record(self, name: str) -> Record:
        """A record beside the outputs, for an intermediate result; it goes when the run is finished."""
        with self._clear_errors():
            return Record(self.resume_folder / name, self.resume_folder / f"{name}.csv")

    def write(
        self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float] | None = None, exact: bool = False
    ) -> None:
        """Add the next frame to all outputs, the record first unless it has it. ids: (H, W) uint8.

        exact: the outline of this frame is not smoothed.
        """
        shown = rounded(confidence)
        with self._clear_errors():
            if not self._record.has(frame):
                self._record.store(replace(frame, time=frame.time - self._start), ids, shown)
            self._recorded = True
            self._frames += 1
            self._draw(self._smoothing.put(Drawn(frame, ids, shown), exact))

    def _draw(self, ready: Iterable[Drawn]) -> None:
        for drawn in ready:
            for sink in self._sinks:
                sink.write(*drawn)

    def close(self, broken: str = "") -> None:
        """Finish all outputs; after this there is nothing to resume. broken: how the source ended too early."""
        self._files.close()
        try:
            with self._clear_errors():
                self._draw(self._smoothing.rest())
                while self._sinks:
                    self._sinks[0].close()
                    self._sinks.pop(0)
                if not self.stopped:
                    leave_note(self.work / FINISHED, self._made_with, frames=self._frames, broken=broken)
                    if not (self.again_folder / MARKS).exists():
                        shutil.rmtree(self.again_folder, ignore_errors=True)
                if self.work != self.folder:
                    # until it is noted what is to be moved, the run is one to be resumed
                    left = () if self.stopped else (RESUME,)
                    self.notes += tuple(replace_results(self.folder, (FINISHED, RESUME), self._inputs, left))
                elif not self.stopped:
                    _forget(self.resume_folder)
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Drop what is not finished; the record stays for resuming, unless there is nothing in it."""
        for sink in self._sinks:
            sink.abort()
        self._files.close()
        held = [path for folder in (self.resume_folder, self.again_folder) for path in folder.rglob("*.png")]
        if not self._recorded and not held:
            shutil.rmtree(self.again_folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                (self.work / CONFIDENCE).unlink()
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
        if kind is None:
            self.close()
        elif broken and self.work != self.folder and _is_complete(self.folder):  # half does not replace the whole
            self.abort()
            shutil.rmtree(self.work, ignore_errors=True)
            raise InputError(f"{error}; the earlier results in {self.folder} stay as they are") from error
        elif broken and self._recorded:  # what came before the break is complete
            self.close(str(error))
        else:
            self.abort()


def record_of(folder: str | os.PathLike[str], formats: Sequence[str], smooth: int = 0) -> Path:
    """Where the masks of a run are recorded, as they were before they were smoothed."""
    beside = Path(folder) / AGAIN / BESIDE
    return beside if smooth else _paths(Path(folder), formats).get("masks", beside)


def finished(
    folder: str | os.PathLike[str], formats: Sequence[str], settings: Mapping[str, str], look: Look = PLAIN
) -> dict[str, Any] | None:
    """The note of a run that came to its end and made all these formats (see `media.finished`), if there is one."""
    folder = Path(folder)
    if unfinished(folder) or not has_all(folder, formats):
        return None
    if unfinished(folder / NEW) and not difference(settings_of(folder / NEW), settings):
        return None
    return read_note(folder / FINISHED, with_look(settings, look))


def has_all(folder: Path, formats: Sequence[str]) -> bool:
    """Whether all these formats are there."""
    return all(map(_has_content, (*_paths(folder, formats).values(), folder / CONFIDENCE)))


def unfinished(work: Path) -> bool:
    """Whether a folder holds a run that can be resumed."""
    return (work / RESUME / SETTINGS).exists()


def check_apart(source: Readable, outputs: Iterable[Path]) -> None:
    """An InputError where a file of the source is one of the outputs or lies in one, and would be replaced."""
    if not isinstance(source, (str, os.PathLike)) or is_live(source):
        return
    places = {output.resolve(): output for output in outputs}
    for file in find_pictures(os.fspath(source)) or [Path(source)]:
        for path in (file.resolve(), file.parent.resolve() / file.name):
            for place in (path, *path.parents):
                if place in places:
                    raise InputError(f"{file} is to be read, but lies where {places[place]} goes; give another folder")


def with_look(settings: Mapping[str, str], look: Look) -> dict[str, str]:
    """What the masks depend on, and what else is seen."""
    return {**settings, "color": ",".join(map(str, look.color)), "feather": f"{look.feather:g}"}


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


def settings_of(work: Path) -> dict[str, str]:
    """What an unfinished run is made with."""
    return dict(json.loads((work / RESUME / SETTINGS).read_text(encoding="utf-8")))


def _is_complete(folder: Path) -> bool:
    try:
        return not json.loads((folder / FINISHED).read_text(encoding="utf-8"))["broken"]
    except (OSError, ValueError, LookupError):
        return False


def _remove_empty(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
