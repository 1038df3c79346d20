"""MobileVOS: mark an object once, and it is followed through the whole video, on ordinary hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mobilevos.errors import InputError

if TYPE_CHECKING:
    from mobilevos.tracking import Tracker, TrackResult

__version__ = "0.1.0"

__all__ = ["InputError", "TrackResult", "Tracker", "__version__"]


def __getattr__(name: str) -> Any:
    """Imports the tracker when it is used, so that `mobilevos --help` answers at once."""
    if name in ("Tracker", "TrackResult"):
        from mobilevos import tracking

        return getattr(tracking, name)
    raise AttributeError(f"module 'mobilevos' has no attribute {name!r}")
