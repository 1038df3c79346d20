"""Taking objects out of a video: the library behind `mobilevos remove`."""

from mobilevos.removal.run import Removed, check_target, remove

__all__ = ["Removed", "check_target", "remove"]
