"""Taking objects out of a video: the library behind `mobilevos remove`."""

from mobilevos.removal.run import Removed, remove

__all__ = ["Removed", "remove"]
