"""How long work tells how far it is: one signature for all of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
"""Told what is done and of how many frames (None where that is not known), it gives a function to tell how many are
finished."""


def no_progress(what: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    """Keeps quiet."""
    return contextlib.nullcontext(lambda done: None)
