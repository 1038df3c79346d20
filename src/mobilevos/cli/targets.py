"""Where results are to go: what cannot be written is said before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from mobilevos.errors import InputError


def check_folder(folder: Path) -> None:
    """Raise an InputError where a folder neither is there nor can be made."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"cannot write to the folder {folder}: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to the folder {folder}: there is no permission for {there}")


def check_file(path: Path) -> None:
    """Raise an InputError where a file cannot be written; its folder need not be there yet."""
    if path.is_dir():
        raise InputError(f"expected a file to write, got the folder {path}")
    check_folder(path.parent)
