"""Threads: how many to compute with, one that reads ahead and one that works behind.

OpenCV, FFmpeg and the network's engines let go of Python's lock while they work, so threads are enough.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")

BYTES = 128 << 20
"""Of pictures that wait in one queue."""

DEEPEST = 8
POLL = 0.1
"""Seconds after which a waiting thread looks whether it is still wanted."""


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def wanted_threads() -> int | None:
    """What OMP_NUM_THREADS says, which only some engines read themselves; None where it says nothing of use."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) or None if first.isascii() and first.isdecimal() else None


def depth_for(item_bytes: int) -> int:
    """How many items of a size may wait."""
    return int(min(DEEPEST, max(1, BYTES // max(1, item_bytes))))


class _End:
    """Comes after the last item, with the error that ended it, if one did."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_ahead(items: Iterable[Item], depth: int) -> Generator[Item, None, None]:
    """The same items, fetched by a thread while the caller works. An error comes after the items before it."""
    waiting: queue.Queue[Item | _End] = queue.Queue(depth)
    stop = threading.Event()

    def put(item: Item | _End) -> bool:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=POLL)
                return True
            except queue.Full:
                continue
        return False

    def fetch() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_End())
        except BaseException as error:
            put(_End(error))

    thread = threading.Thread(target=fetch, name="read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item = waiting.get()
            if isinstance(item, _End):
                if item.error:
                    raise item.error
                return
            yield item
    finally:
        stop.set()
        thread.join()


class WorkBehind(Generic[Item]):
    """Does `work` on items in their order, in a thread, while the caller goes on.

    An error of the work is raised at the next `put`, or at the end. Where the caller fails, items that wait are worked
    on all the same, so that nothing that was computed is lost.
    """

    def __init__(self, work: Callable[[Item], None], depth: int) -> None:
        self._work = work
        self._waiting: queue.Queue[Item | _End] = queue.Queue(depth)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="work-behind", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Hand over an item; waits while too many are waiting."""
        if self._error:
            raise self._error
        self._waiting.put(item)

    def _run(self) -> None:
        while not isinstance(item := self._waiting.get(), _End):
            if self._error:
                continue  # what waits is dropped, so that `put` never blocks for ever
            try:
                self._work(item)
            except BaseException as error:
                self._error = error

    def __enter__(self) -> WorkBehind[Item]:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._waiting.put(_End())
        self._thread.join()
        if self._error and error is not self._error:
            raise self._error from error
