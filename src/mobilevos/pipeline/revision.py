"""Further marks for objects that were followed before: what they do not change stays, and nothing else.

A run leaves in the folder `.again` what that takes, also when it is finished: a note of its marks, its masks where they
are not among the outputs, and states of the tracker along the way. With other marks, a new run begins beside the
results (see `pipeline.staging`) with all frames before the first mark that differs and the last state before it.
Deleting the folder costs nothing but that.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mobilevos.files import replacing
from mobilevos.media.edges import Edges
from mobilevos.media.sinks import Look
from mobilevos.media.video import Source
from mobilevos.pipeline.completion import difference
from mobilevos.pipeline.marks import Marks, digest, first_marks
from mobilevos.pipeline.output import (
    AGAIN,
    BESIDE,
    CONFIDENCE,
    FINISHED,
    MARKS,
    RESUME,
    SETTINGS,
    has_all,
    record_of,
    settings_of,
    unfinished,
    with_look,
)
from mobilevos.pipeline.passes import SNAPSHOT, STATES, read_state
from mobilevos.pipeline.record import Record, Stored, keep_rows
from mobilevos.pipeline.staging import NEW

NEXT = ".next"
"""Where a new run is laid out, before it takes the place of another that was not finished."""

NOTE = "revision.json"
KEPT = "kept"
"""Frames that stay, but in which objects change. Both are in the folder for resuming."""


@dataclass(frozen=True)
class Revision:
    """What stays of an earlier run."""

    begin: int
    """Frames before this one stay."""
    anew: frozenset[int] = frozenset()
    """Objects whose first mark is another now: they are taken out of these frames, and followed back into them."""

    @staticmethod
    def read(resume: Path) -> Revision | None:
        """That of an unfinished run, if it is one with other marks."""
        try:
            note = json.loads((resume / NOTE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return Revision(note["begin"], frozenset(note["anew"]))

    def write(self, resume: Path) -> None:
        with replacing(resume / NOTE) as part:
            part.write_text(json.dumps({"begin": self.begin, "anew": sorted(self.anew)}), encoding="utf-8")

    def kept(self, resume: Path) -> Record | None:
        """The frames that stay, where objects in them change; None where they are among the results already."""
        return Record(resume / KEPT, resume / f"{KEPT}.csv") if self.anew else None

    def without_anew(self, stored: Stored) -> Stored:
        """A frame of the earlier run without the objects that are followed anew."""
        ids = np.where(np.isin(stored.ids, list(self.anew)), np.uint8(0), stored.ids)
        return Stored(ids, {i: value for i, value in stored.confidence.items() if i not in self.anew})

    def joined(self, before: np.ndarray, merged: np.ndarray, edges: Edges) -> np.ndarray:
        """The ids (H, W) of a frame that stays: those of before, and the objects that came into it, cleaned."""
        came = np.isin(merged, list(self.anew))
        clean = edges.cleaned(np.where(came, merged, np.uint8(0)))
        rest = np.where(came, np.uint8(0), merged)
        return np.where((clean > 0) & ((before == 0) | came), clean, rest)


def leave_marks(again: Path, marks: Marks) -> None:
    """Note the marks of a run that begins."""
    content = {
        "marks": {str(frame): digest({frame: at}) for frame, at in sorted(marks.items())},
        "first": {str(identity): first for identity, first in sorted(_firsts(marks).items())},
    }
    again.mkdir(exist_ok=True)
    with replacing(again / MARKS) as part:
        part.write_text(json.dumps(content), encoding="utf-8")


def revise(
    folder: str | os.PathLike[str],
    formats: Sequence[str],
    smooth: int,
    settings: Mapping[str, str],
    look: Look,
    marks: Marks,
    source: Source,
) -> None:
    """Where the folder holds a run that differs in its marks only, or lacks a format, begin a new one with what stays.

    The new run is unfinished, and resumed like any other; the results of the earlier one stay until it is complete.
    """
    folder = Path(folder)
    found: list[tuple[Revision, Path]] = []
    for work in (folder / NEW, folder):
        before, note = _before(work), _note(work)
        if before is None or note is None:
            continue
        ended = not unfinished(work)
        if difference({**before, "marks": ""}, {**settings, "marks": ""}):
            continue
        if before.get("marks") == settings["marks"]:
            if not ended or (has_all(work, formats) and _finished(work)["settings"] == with_look(settings, look)):
                return  # it goes on as it is, or is complete
            found.append((Revision(source.info.first + _finished(work)["frames"]), work))
            continue
        found.append((_compared(note, marks), work))
    if not found:
        return
    revision, work = max(found, key=lambda one: one[0].begin)
    if revision.begin > source.info.first:
        _lay_out(folder / NEXT, work, revision, formats, smooth, settings, marks, source)
        shutil.rmtree(folder / NEW, ignore_errors=True)
        (folder / NEXT).rename(folder / NEW)


def _lay_out(
    new: Path,
    old: Path,
    revision: Revision,
    formats: Sequence[str],
    smooth: int,
    settings: Mapping[str, str],
    marks: Marks,
    source: Source,
) -> None:
    """A new run with what stays of an old one."""
    shutil.rmtree(new, ignore_errors=True)
    resume, again = new / RESUME, new / AGAIN
    resume.mkdir(parents=True)
    leave_marks(again, marks)
    record, log = record_of(new, formats, smooth), new / CONFIDENCE
    if revision.anew:
        record, log = resume / KEPT, resume / f"{KEPT}.csv"
    record.mkdir(parents=True)
    masks = old / AGAIN / BESIDE
    masks = masks if masks.exists() else old / record_of("", ["masks"]).name
    for index in range(source.info.first, revision.begin):
        name = f"{source.name_of(index)}.png"
        if not (masks / name).exists():
            break
        _link(masks / name, record / name)
    keep_rows(old / CONFIDENCE, log, revision.begin)
    last = -1
    for state in (old / AGAIN / STATES).glob("*.npz"):
        if int(state.stem) < revision.begin:
            (again / STATES).mkdir(exist_ok=True)
            _link(state, again / STATES / state.name)
            if int(state.stem) > last:
                last = int(state.stem)
                (resume / SNAPSHOT).unlink(missing_ok=True)
                _link(state, resume / SNAPSHOT)
    latest = read_state(old / RESUME / SNAPSHOT)
    if latest and last < latest[1] < revision.begin:
        (resume / SNAPSHOT).unlink(missing_ok=True)
        _link(old / RESUME / SNAPSHOT, resume / SNAPSHOT)
    revision.write(resume)
    with replacing(resume / SETTINGS) as part:
        part.write_text(json.dumps(dict(settings), indent=2), encoding="utf-8")


def _compared(note: Mapping[str, Any], marks: Marks) -> Revision:
    """From where on marks differ from those of a note, and which objects are first marked otherwise."""
    old = note["marks"]
    new = {frame: digest({frame: at}) for frame, at in marks.items()}
    before = note["first"]
    now = _firsts(marks)
    return Revision(
        min(frame for frame in old.keys() | new.keys() if old.get(frame) != new.get(frame)),
        frozenset(identity for identity in before.keys() | now.keys() if before.get(identity) != now.get(identity)),
    )


def _firsts(marks: Marks) -> dict[int, list[object]]:
    """By object: the frame of its first mark, and what that is."""
    return {
        identity: [frame, digest({frame: marks[frame].only(frozenset({identity}))})]
        for identity, frame in first_marks(marks).items()
    }


def _before(work: Path) -> dict[str, str] | None:
    """What a run was made with, but for its look; None where there is none, or its source broke."""
    if unfinished(work):
        return settings_of(work)
    finished = _finished(work)
    if not finished or finished.get("broken"):
        return None
    return {name: value for name, value in finished["settings"].items() if name not in with_look({}, Look())}


def _finished(work: Path) -> dict[str, Any]:
    """The note of a finished run; nothing where there is none that can be read."""
    try:
        note = json.loads((work / FINISHED).read_text(encoding="utf-8"))
        return {"frames": int(note["frames"]), "broken": note["broken"], "settings": dict(note["settings"])}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _note(work: Path) -> dict[str, Any] | None:
    """The marks of a run; None where they are not known."""
    try:
        note = json.loads((work / AGAIN / MARKS).read_text(encoding="utf-8"))
        return {name: {int(key): value for key, value in note[name].items()} for name in ("marks", "first")}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _link(path: Path, new: Path) -> None:
    """The same file under another name; a copy where the drive has no such thing."""
    try:
        os.link(path, new)
    except OSError:
        shutil.copy2(path, new)
