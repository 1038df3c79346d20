"""The drift alarm: where an object is lost or in doubt, and which frame to correct."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mobilevos.media.overlay import DOUBTFUL
from mobilevos.pipeline.record import read_rows

SHORTEST = 3
"""Frames; a shorter doubt is a flicker that passes by itself."""

GAP = 5
"""Doubts so few frames apart are one."""


@dataclass(frozen=True)
class Alarm:
    """A stretch of frames in which one object is in doubt."""

    identity: int
    first: int
    last: int
    lowest: float
    """Confidence."""
    lost: bool
    """Nothing was found of the object in most of these frames."""

    @property
    def correct(self) -> int:
        """The frame to correct: where the doubt begins, so that all after it profits."""
        return self.first

    @property
    def kind(self) -> str:
        return "lost" if self.lost else "doubtful"

    def __str__(self) -> str:
        frames = f"frames {self.first} to {self.last}" if self.last > self.first else f"frame {self.first}"
        how = f"object {self.identity} is {self.kind} in {frames}"
        if self.lost:
            return f"{how}: correct frame {self.correct}, unless it has left"
        return f"{how} (confidence down to {self.lowest:.2f}): correct frame {self.correct}"


def find_alarms(rows: Iterable[tuple[int, int, float]]) -> list[Alarm]:
    """Alarms of (frame, object, confidence) rows in the order of frames; in the same order."""
    open_: dict[int, list[tuple[int, float]]] = {}
    closed: list[list[tuple[int, float]]] = []
    owners: list[int] = []
    for frame, identity, value in rows:
        if value >= DOUBTFUL:
            continue
        stretch = open_.get(identity)
        if stretch is None or frame - stretch[-1][0] > GAP:
            stretch = open_[identity] = []
            closed.append(stretch)
            owners.append(identity)
        stretch.append((frame, value))
    alarms = [_alarm(owner, stretch) for owner, stretch in zip(owners, closed, strict=True) if len(stretch) >= SHORTEST]
    return sorted(alarms, key=lambda alarm: (alarm.first, alarm.identity))


def _alarm(identity: int, stretch: list[tuple[int, float]]) -> Alarm:
    values = [value for _, value in stretch]
    lost = sum(value == 0 for value in values) > len(values) / 2
    return Alarm(identity, stretch[0][0], stretch[-1][0], min(values), lost)


def read_confidence(path: str | os.PathLike[str]) -> Iterator[tuple[int, int, float]]:
    """(frame, object, confidence) rows of the CSV file of an output."""
    for row in read_rows(Path(path)):
        yield row.frame, row.identity, row.confidence
