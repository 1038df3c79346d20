"""Following objects through a video."""

from mobilevos.tracking.result import TrackResult
from mobilevos.tracking.tracker import Tracker, TrackerState

__all__ = ["TrackResult", "Tracker", "TrackerState"]
