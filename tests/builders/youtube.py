"""YouTube-VOS: `JPEGImages/<clip>/`, `Annotations/<clip>/` for some of the frames, and `meta.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.builders.davis import Clips
from tests.builders.pictures import write_frames, write_masks


def write_youtube(root: Path, clips: Clips, videos: Mapping[str, Any] | None = None, *, ending: str = "png") -> Path:
    """A folder with these clips; videos: what `meta.json` says of them, see `objects_of`; None for no such file."""
    for name, (frames, masks) in clips.items():
        if frames is not None:
            write_frames(root / "JPEGImages" / name, frames, ending)
        write_masks(root / "Annotations" / name, masks)
    if videos is not None:
        (root / "meta.json").write_text(json.dumps({"videos": videos}))
    return root


def objects_of(categories: Mapping[int, str], frames: Iterable[int]) -> dict[str, Any]:
    """What `meta.json` says of a clip whose objects, by id, are all listed in these frames."""
    listed = [f"{number:05d}" for number in frames]
    return {"objects": {str(i): {"category": name, "frames": listed} for i, name in categories.items()}}
