"""BL30K on disk: `JPEGImages/<video>/` and `Annotations/<video>/`, below the folder or its parts `a/` to `f/`."""

from __future__ import annotations

from pathlib import Path

from mobilevos.datasets.video import VideoPlace, list_places
from mobilevos.errors import InputError


def bl30k_places(root: Path) -> list[VideoPlace]:
    """All videos of a BL30K folder."""
    parts = [part for part in (root, *(root / letter for letter in "abcdef")) if (part / "JPEGImages").is_dir()]
    if not parts:
        raise InputError(f"expected JPEGImages/ in {root} or in its folders a/ to f/, found none")
    return [place for part in parts for place in list_places(part / "JPEGImages", part / "Annotations")]
