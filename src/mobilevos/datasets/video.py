"""A clip of a dataset on disk: its pictures, its ground truths, what a tracker is given and what is scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mobilevos.errors import InputError
from mobilevos.media.masks import open_image, read_mask

PICTURES = (".jpg", ".jpeg", ".png", ".webp")

VOID = 255
"""The label of pixels that belong to no object in a ground truth; they count as background."""


@dataclass(frozen=True)
class Clip:
    """One sequence. Frames go by their names, the files' names without the ending."""

    name: str
    pictures: Mapping[str, Path]
    """All frames in order; empty where a dataset has come without its pictures."""
    truths: Mapping[str, Path]
    """The annotated frames in order."""
    given: Mapping[str, tuple[int, ...]]
    """The objects a tracker is shown, by the frame in which it is shown them."""
    scored: Mapping[str, tuple[int, ...]]
    """The objects to score, by frame; empty where the ground truth is hidden."""
    wanted: tuple[str, ...]
    """The frames a tracker must write."""
    merged: bool = False
    """Whether everything but 0 is one object, in the ground truths as in the predictions."""
    void: bool = False
    """Whether 255 in the ground truths of a merged clip is background, as it is in all others, and not the object."""

    @cached_property
    def objects(self) -> tuple[int, ...]:
        """All ids, ascending."""
        return tuple(sorted({index for part in (self.given, self.scored) for ids in part.values() for index in ids}))

    def picture(self, frame: str) -> npt.NDArray[np.uint8]:
        """The picture of a frame: (H, W, 3) RGB."""
        try:
            return np.asarray(open_image(self.pictures[frame]).convert("RGB"))
        except InputError as error:
            raise InputError(f"{self.name}, frame {frame}: {error}") from error

    def truth(self, frame: str) -> npt.NDArray[np.uint8]:
        """The ground truth of a frame: (H, W) ids."""
        return self._ids(self.truths[frame], frame, void=self.void)

    def prediction(self, folder: Path, frame: str) -> npt.NDArray[np.uint8]:
        """What the folder of predictions has for a frame: (H, W) ids."""
        return self._ids(self.prediction_file(folder, frame), frame)

    def prediction_file(self, folder: Path, frame: str) -> Path:
        """Where the mask of a frame lies in a folder of predictions."""
        return folder / self.name / f"{frame}.png"

    def missing(self, folder: Path, frames: Sequence[str]) -> list[str]:
        """Those of the frames for which the folder of predictions has no file."""
        here = folder / self.name
        there = {path.stem for path in here.iterdir() if path.suffix == ".png"} if here.is_dir() else set()
        return [frame for frame in frames if frame not in there]

    def _ids(self, path: Path, frame: str, void: bool = False) -> npt.NDArray[np.uint8]:
        try:
            ids = read_mask(path)
        except InputError as error:
            raise InputError(f"{self.name}, frame {frame}: {error}") from error
        if not self.merged:
            return ids
        return ((ids != 0) & (ids != VOID)).view(np.uint8) if void else (ids != 0).view(np.uint8)


def check_predictions(clips: Sequence[Clip], folder: Path) -> None:
    """Raise an InputError where a scored frame of a clip has no prediction."""
    if not folder.is_dir():
        raise InputError(f"there is no folder of predictions {folder}")
    for clip in clips:
        missing = clip.missing(folder, list(clip.scored))
        if missing:
            raise InputError(
                f"{clip.name}, frame {missing[0]}: there is no prediction {clip.prediction_file(folder, missing[0])}"
                f" ({len(missing)} of the {len(clip.scored)} scored frames of this sequence are missing)"
            )


def list_frames(folder: Path, endings: Sequence[str]) -> dict[str, Path]:
    """The files of a folder with one of these endings, in order, by their names without it; none without the folder."""
    if not folder.is_dir():
        return {}
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in endings}


def read_split(path: Path) -> list[str]:
    """The sequences a text file names, one a line.

    The lists of DAVIS 2016 have a picture and its annotation a line, such as /JPEGImages/480p/bear/00000.jpg: there the
    sequence is the folder.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the list of sequences {path}: {error}") from error
    words = [line.split()[0] for line in lines if line.strip()]
    names = list(dict.fromkeys(Path(word).parent.name if "/" in word else word for word in words))
    if not names:
        raise InputError(f"the list of sequences {path} is empty")
    return names
