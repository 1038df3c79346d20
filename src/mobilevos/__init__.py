"""MobileVOS: mark an object once, and it is followed through the whole video, on ordinary hardware.

What is named here is the promise: it stays, or is deprecated for a release first. Everything below may move.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mobilevos.errors import InputError
from mobilevos.version import VERSION as __version__

if TYPE_CHECKING:
    from mobilevos.evaluation import evaluate_davis
    from mobilevos.media.masks import load_mask
    from mobilevos.media.video import open_source, read_frames
    from mobilevos.pipeline import segment
    from mobilevos.removal import remove
    from mobilevos.runtime import load_runtime
    from mobilevos.tracking import Tracker, TrackResult

PLACES = {
    "TrackResult": "tracking",
    "Tracker": "tracking",
    "evaluate_davis": "evaluation",
    "load_mask": "media.masks",
    "load_runtime": "runtime",
    "open_source": "media.video",
    "read_frames": "media.video",
    "remove": "removal",
    "segment": "pipeline",
}
"""Where each name comes from; imported when it is used, so that `mobilevos --help` answers at once."""

__all__ = [
    "InputError",
    "TrackResult",
    "Tracker",
    "__version__",
    "evaluate_davis",
    "load_mask",
    "load_runtime",
    "open_source",
    "read_frames",
    "remove",
    "segment",
]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module 'mobilevos' has no attribute {name!r}")
    return getattr(importlib.import_module(f"mobilevos.{PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
