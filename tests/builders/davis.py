"""DAVIS: `JPEGImages/480p/<clip>/`, `Annotations/480p/<clip>/`, and lists in `ImageSets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.builders.pictures import Frames, write_frames, write_masks

Clips = Mapping[str, tuple[Frames | None, Frames]]
"""Frames and masks of each clip; None for one that comes without its pictures."""


def write_davis(
    root: Path,
    clips: Clips,
    splits: Mapping[str, Iterable[str]] | None = None,
    *,
    ending: str = "jpg",
    mode: str = "P",
) -> Path:
    """A folder with these clips; splits: names of clips by list, such as {"2017/val": ["swim"]}; mode: of the masks."""
    for name, (frames, masks) in clips.items():
        if frames is not None:
            write_frames(davis_pictures(root, name), frames, ending)
        write_masks(davis_masks(root, name), masks, mode)
    for split, names in (splits or {}).items():
        path = root / "ImageSets" / f"{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(names) + "\n")
    return root


def davis_pictures(root: Path, name: str) -> Path:
    """Where the pictures of a clip are."""
    return root / "JPEGImages" / "480p" / name


def davis_masks(root: Path, name: str) -> Path:
    """Where the masks of a clip are."""
    return root / "Annotations" / "480p" / name
