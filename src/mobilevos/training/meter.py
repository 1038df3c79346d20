"""Means of what a run logs."""

from __future__ import annotations

import time

from mobilevos.training.objective import LossReport


class Meter:
    """Means since the last time they were asked for."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._sums: dict[str, float] = {}
        self._count, self._clips, self._waited, self._began = 0, 0, 0.0, time.monotonic()

    def add(self, report: LossReport, clips: int, waited: float) -> None:
        for name, value in {"loss": report.total.detach(), **report.terms, **report.measured}.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value)
        self._count += 1
        self._clips += clips
        self._waited += waited

    def flush(self) -> dict[str, float]:
        took = time.monotonic() - self._began
        means = {name: total / self._count for name, total in self._sums.items()}
        means |= {"its_per_s": self._count / took, "data_wait": self._waited / took}
        self._reset()
        return means
