"""Outlines smoothed over time, while frames go by: a frame is given out when those after it are known."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mobilevos.arrays import Ids
from mobilevos.media.edges import smoothed
from mobilevos.media.video import Frame


class Drawn(NamedTuple):
    """A frame with its masks, as the sinks take it."""

    frame: Frame
    ids: Ids
    confidence: Mapping[int, float]


class Smoothing:
    """Holds as many frames as its reach, which may be 0.

    Each frame is averaged with as many before it as after it, fewer near the ends, so that even motion stays.
    """

    def __init__(self, reach: int) -> None:
        self._past: deque[Ids] = deque(maxlen=max(1, reach))
        self._ahead: deque[tuple[Drawn, bool]] = deque()
        self._reach = reach

    def put(self, drawn: Drawn, exact: bool = False) -> Iterator[Drawn]:
        """Take a frame, and give out what is ready; exact: it is to stay as it is."""
        self._ahead.append((drawn, exact))
        while len(self._ahead) > self._reach:
            yield self._next()

    def rest(self) -> Iterator[Drawn]:
        """What is left after the last frame."""
        while self._ahead:
            yield self._next()

    def _next(self) -> Drawn:
        drawn, exact = self._ahead.popleft()
        near = min(len(self._past), len(self._ahead), self._reach)
        before = list(self._past)[len(self._past) - near :]
        after = [later.ids for later, _ in list(self._ahead)[:near]]
        self._past.append(drawn.ids)
        if exact or not near:
            return drawn
        return drawn._replace(ids=smoothed([*before, drawn.ids, *after], near))
