"""Where people work already: annotation tools, video libraries. One module each; its package is an extra."""

from __future__ import annotations

import importlib
from typing import Any

from mobilevos.errors import InputError


def needed(package: str, extra: str) -> Any:
    """An optional package; where it is absent, a sentence says what installs it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise InputError(f"this needs {package}: pip install 'mobilevos[{extra}]' ({error})") from error
