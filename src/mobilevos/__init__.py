"""MobileVOS: mark an object once, and it is followed through the whole video, on ordinary hardware."""

from mobilevos.errors import InputError

__version__ = "0.1.0"

__all__ = ["InputError", "__version__"]
