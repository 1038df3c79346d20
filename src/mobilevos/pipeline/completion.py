"""The note that a finished run leaves: what it was made with, how long it is, and where its source broke.

So the same command is answered at once, and another one is not taken for done.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mobilevos.errors import InputError
from mobilevos.files import replacing


def leave_note(path: Path, settings: Mapping[str, str], **facts: Any) -> None:
    """Say that all is there. facts: what to know of it later; `broken` is where and how the source broke."""
    with replacing(path) as part:
        part.write_text(json.dumps({"settings": dict(settings), **facts}, indent=2), encoding="utf-8")


def read_note(path: Path, settings: Mapping[str, str]) -> dict[str, Any] | None:
    """The facts of a finished run, None where there is none; an InputError where it is not what is asked for."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        before = note.pop("settings")
    except (OSError, ValueError, LookupError):
        return None
    differs = difference(before, settings)
    if differs:
        raise InputError(f"{path.parent} was made otherwise: {differs}; give another folder, or force to replace it")
    if note.get("broken"):
        raise InputError(f"{path.parent} is not complete: {note['broken']}; mend the source, and force to begin anew")
    return note


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What is another setting now, in words; nothing where all are the same."""
    for name in sorted({*before, *now} - {"marks"}):
        if before.get(name) != now.get(name):
            return f"its {name} was {before.get(name, 'nothing')}, now it is {now.get(name, 'nothing')}"
    if before.get("marks") != now.get("marks"):
        return "its first marks were others (all of them are to be given again, and further ones)"
    return ""
