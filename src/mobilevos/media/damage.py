"""What of a source could not be read as it should be, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

MOST = 12
"""Stretches of frames that are listed."""


@dataclass
class Damage:
    """Filled while a source is read."""

    missing: list[int] = field(default_factory=list)
    """Frames that could not be decoded: the picture before them stands in."""
    sizes: dict[tuple[int, int], int] = field(default_factory=dict)
    """Widths and heights other than that of the first frame, and the first frame with each."""
    end: str = ""
    """How it ended too early."""

    def sentences(self, name: str, width: int, height: int) -> list[str]:
        """What to tell whoever gets the result. width, height: of the first frame."""
        said = [
            f"From frame {frame} on, pictures of {name} have {w} x {h} pixels; they were scaled to {width} x {height}, "
            "the size of the first."
            for (w, h), frame in self.sizes.items()
        ]
        if self.missing:
            said.append(
                f"{listed(self.missing)} of {name} cannot be read: picture and masks are those of the frame before."
            )
        return [*said, f"{name} ends too early: {self.end}."] if self.end else said


def listed(frames: Sequence[int]) -> str:
    """Numbers of frames in words.

    >>> listed([3, 4, 5, 9])
    'Frames 3 to 5, 9'
    """
    stretches: list[list[int]] = []
    for frame in frames:
        if stretches and frame == stretches[-1][-1] + 1:
            stretches[-1].append(frame)
        else:
            stretches.append([frame])
    texts = [f"{s[0]} to {s[-1]}" if len(s) > 1 else str(s[0]) for s in stretches[:MOST]]
    if len(stretches) > MOST:
        texts.append(f"and more, {len(frames)} in all")
    return ("Frames " if len(frames) > 1 else "Frame ") + ", ".join(texts)
