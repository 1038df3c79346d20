"""The record of the work: the ids of each frame as a palette PNG, and its confidence as lines of a CSV file.

A frame is recorded when its PNG is there: the lines are written before it, and it is moved into place complete. So a
process may be killed at any moment, and what is recorded is whole.
"""

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.masks import read_mask, write_mask
from mobilevos.media.video import Frame
from mobilevos.tracking.result import Confidence

HEADER = ("frame", "time", "object", "confidence", "alike")


@dataclass(frozen=True)
class Stored:
    """What an earlier run recorded of a frame."""

    ids: np.ndarray
    confidence: dict[int, Confidence]


class Record:
    """Masks in a folder and a CSV file beside it; goes on where both exist."""

    def __init__(self, folder: Path, log: str | os.PathLike[str]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._log = _ConfidenceLog(Path(log))

    def path(self, frame: Frame) -> Path:
        return self.folder / f"{frame.name}.png"

    def has(self, frame: Frame) -> bool:
        return self.path(frame).exists()

    def stored(self, frame: Frame) -> Stored | None:
        """What was recorded of this frame, if it was."""
        if not self.has(frame):
            return None
        ids = read_mask(self.path(frame))
        if ids.shape != frame.rgb.shape[:2]:
            raise InputError(
                f"{self.path(frame)} is a mask of {ids.shape}, but the frame is {frame.rgb.shape[:2]}; another video?"
            )
        return Stored(ids, self._log.stored.get(frame.index, {}))

    def store(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, Confidence]) -> None:
        """ids: (H, W) integers; confidence as `rounded` gives it."""
        if ids.shape != frame.rgb.shape[:2]:
            raise InputError(f"expected a mask of shape {frame.rgb.shape[:2]}, got {ids.shape}")
        self._log.write(frame, confidence)
        write_mask(self.path(frame), ids)

    def close(self) -> None:
        self._log.close()


def rounded(confidence: Mapping[int, float] | None) -> dict[int, Confidence]:
    """As the log has it, so that what is drawn before and after resuming is the same."""
    return {
        int(identity): Confidence(round(float(value), 4), getattr(value, "alike", 0))
        for identity, value in (confidence or {}).items()
    }


class Row(NamedTuple):
    """A line of the log."""

    frame: int
    time: str
    identity: int
    confidence: float
    alike: int = 0
    """See `Confidence`."""

    def cells(self) -> tuple[object, ...]:
        """As they are written."""
        return self.frame, self.time, self.identity, f"{self.confidence:.4f}", self.alike or ""


def read_rows(log: Path) -> list[Row]:
    """The lines of a log; half a line at its end, which a killed process left, is none."""
    try:
        text = log.read_text(encoding="utf-8")
        lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))[1:]
        return [
            Row(int(frame), time, int(identity), float(value), int(alike or 0))
            for frame, time, identity, value, alike in lines
        ]
    except OSError as error:
        raise InputError(f"cannot read {log}: {error.strerror or error}") from error
    except (ValueError, csv.Error) as error:
        expected = ",".join(HEADER)
        raise InputError(f"{log} is damaged: expected lines of {expected}; force to begin anew") from error


def keep_rows(log: Path, new: Path, begin: int) -> None:
    """Write the lines of frames before number `begin` to a log of their own."""
    rows = [row for row in read_rows(log) if row.frame < begin]
    with replacing(new) as part, part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(HEADER)
        lines.writerows(row.cells() for row in rows)


class _ConfidenceLog:
    """A line for each frame and object, on disk before the mask of the frame."""

    def __init__(self, path: Path) -> None:
        self.stored: dict[int, dict[int, Confidence]] = {}
        for row in read_rows(path) if path.exists() else ():
            self.stored.setdefault(row.frame, {})[row.identity] = Confidence(row.confidence, row.alike)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1] or ",".join(HEADER) + "\n"
        if text != whole:  # new, or a killed process left half a line
            with replacing(path) as part:
                part.write_text(whole, encoding="utf-8")
        self._file = path.open("a", newline="", encoding="utf-8")
        self._rows = csv.writer(self._file, lineterminator="\n")

    def write(self, frame: Frame, confidence: Mapping[int, Confidence]) -> None:
        known = self.stored.pop(frame.index, {})  # the process was killed after these lines and before the mask
        for identity, value in sorted(confidence.items()):
            if known.get(identity) != value:
                row = Row(frame.index, f"{float(frame.time):.6f}", identity, value, value.alike)
                self._rows.writerow(row.cells())
        self._file.flush()

    def close(self) -> None:
        self._file.close()
