"""BL30K: `JPEGImages/<clip>/` and `Annotations/<clip>/` in the parts `a/` to `f/`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.builders.davis import Clips
from tests.builders.youtube import write_youtube


def write_bl30k(root: Path, parts: Mapping[str, Clips]) -> Path:
    """A folder with these clips, by part; a part is laid out as YouTube-VOS without `meta.json`."""
    for part, clips in parts.items():
        write_youtube(root / part, clips)
    return root
