"""Lists of videos, as datasets bring them in text files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mobilevos.errors import InputError


def read_split(path: Path) -> list[str]:
    """The videos a text file names, one a line.

    The lists of DAVIS 2016 have a picture and its annotation a line, such as /JPEGImages/480p/bear/00000.jpg: there the
    video is the folder.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the list of videos {path}: {error}") from error
    words = [line.split()[0] for line in lines if line.strip()]
    names = list(dict.fromkeys(Path(word).parent.name if "/" in word else word for word in words))
    if not names:
        raise InputError(f"the list of videos {path} is empty")
    return names


def find_split(split: str, places: Sequence[Path]) -> Path:
    """The text file of a split: a file's name, or a name that one of the places has a list for."""
    if Path(split).is_file():
        return Path(split)
    for place in places:
        if (place / f"{split}.txt").is_file():
            return place / f"{split}.txt"
    there = sorted({path.stem for place in places for path in place.glob("*.txt")})
    raise InputError(f"there is no split {split!r} below {places[-1]}; there is {', '.join(there) or 'none'}")
