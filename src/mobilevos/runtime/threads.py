"""How many threads to compute with."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def wanted_threads() -> int | None:
    """What OMP_NUM_THREADS says, which only some engines read themselves; None where it says nothing of use."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) or None if first.isascii() and first.isdecimal() else None
