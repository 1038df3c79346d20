"""A progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_EVERY = 5.0
"""Seconds between two plain lines."""


@contextmanager
def frame_progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Gives a function that takes the number of frames that are done."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    began = last = time.monotonic()

    def report(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_EVERY or done == total:
            last = now
            of = f" of {total}" if total is not None else ""
            print(
                f"{what}: {done}{of} frames, {done / max(now - began, 1e-9):.1f} a second", file=sys.stderr, flush=True
            )

    yield report
