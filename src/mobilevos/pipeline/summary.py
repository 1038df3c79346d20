"""How a run went, as a file that other programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.pipeline.run import Segmented


def write_summary(path: Path, result: Segmented) -> None:
    """Write what a program that started the run wants to know of it."""
    content = {
        "folder": str(result.folder),
        "complete": result.complete,
        "stopped": result.stopped,
        "frames": result.frames,
        "objects": list(result.objects),
        "frames_per_second": round(result.rate, 3),
        "alarms": [str(alarm) for alarm in result.alarms],
        "notes": list(result.notes),
    }
    with replacing(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_summary(path: Path) -> dict[str, Any]:
    """What `write_summary` wrote."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__}")
    except (OSError, ValueError) as error:
        raise InputError(f"expected the summary of a run, but {path} cannot be read ({error})") from error
    return dict(content)
