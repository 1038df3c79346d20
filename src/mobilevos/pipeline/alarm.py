"""The drift alarm: where an object is lost, in doubt or taken for another, and which frame to correct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mobilevos.media.overlay import DOUBTFUL
from mobilevos.pipeline.record import Row

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
    alike: int = 0
    """Another object that it was taken for in most of these frames, probably; 0 for none."""

    @property
    def correct(self) -> int:
        """The frame to correct: where the doubt begins, so that all after it profits."""
        return self.first

    @property
    def kind(self) -> str:
        return "lost" if self.lost else "look-alike" if self.alike else "doubtful"

    def __str__(self) -> str:
        frames = f"frames {self.first} to {self.last}" if self.last > self.first else f"frame {self.first}"
        if self.lost:
            return f"object {self.identity} is lost in {frames}: correct frame {self.correct}, unless it has left"
        how = f"may be taken for a look-alike, object {self.alike}," if self.alike else "is doubtful"
        low = f"(confidence down to {self.lowest:.2f})"
        return f"object {self.identity} {how} in {frames} {low}: correct frame {self.correct}"


def find_alarms(rows: Iterable[Row]) -> list[Alarm]:
    """Alarms of the rows of a record in the order of frames; in the same order."""
    open_: dict[int, list[Row]] = {}
    closed: list[list[Row]] = []
    for row in rows:
        if row.confidence >= DOUBTFUL:
            continue
        stretch = open_.get(row.identity)
        if stretch is None or row.frame - stretch[-1].frame > GAP:
            stretch = open_[row.identity] = []
            closed.append(stretch)
        stretch.append(row)
    alarms = [_alarm(stretch) for stretch in closed if len(stretch) >= SHORTEST]
    return sorted(alarms, key=lambda alarm: (alarm.first, alarm.identity))


def _alarm(stretch: list[Row]) -> Alarm:
    half = len(stretch) / 2
    lost = sum(row.confidence == 0 for row in stretch) > half
    other, times = Counter(row.alike for row in stretch).most_common(1)[0]
    alike = other if times > half and not lost else 0
    lowest = min(row.confidence for row in stretch)
    return Alarm(stretch[0].identity, stretch[0].frame, stretch[-1].frame, lowest, lost, alike)
