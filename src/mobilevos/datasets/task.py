"""What is asked of a tracker in a video of a benchmark: the objects it is shown, and the frames that are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mobilevos.arrays import VOID, Ids
from mobilevos.datasets.video import Video
from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask


@dataclass(frozen=True)
class VideoTask(Video):
    """A video with what is given and what is wanted."""

    given: Mapping[str, tuple[int, ...]]
    """The objects a tracker is shown, by the frame in which it is shown them."""
    scored: Mapping[str, tuple[int, ...]]
    """The objects to score, by frame; empty where the ground truth is hidden."""
    wanted: tuple[str, ...]
    """The frames a tracker must write."""
    merged: bool = False
    """Whether everything but 0 is one object, in the ground truths as in the predictions."""
    void: bool = False
    """Whether 255 in the ground truths of a merged video is background, as it is in all others, and not the object."""

    @cached_property
    def objects(self) -> tuple[int, ...]:
        """All ids, ascending."""
        return tuple(sorted({index for part in (self.given, self.scored) for ids in part.values() for index in ids}))

    def truth(self, frame: str) -> Ids:
        """The ground truth of a frame: (H, W) ids."""
        return self._ids(self.truths[frame], frame, void=self.void)

    def prediction(self, folder: Path, frame: str) -> Ids:
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

    def _ids(self, path: Path, frame: str, void: bool = False) -> Ids:
        try:
            ids = read_mask(path)
        except InputError as error:
            raise InputError(f"{self.name}, frame {frame}: {error}") from error
        if not self.merged:
            return ids
        return ((ids != 0) & (ids != VOID)).view(np.uint8) if void else (ids != 0).view(np.uint8)


def check_predictions(tasks: Sequence[VideoTask], folder: Path) -> None:
    """Raise an InputError where a scored frame of a video has no prediction."""
    if not folder.is_dir():
        raise InputError(f"there is no folder of predictions {folder}")
    for task in tasks:
        missing = task.missing(folder, list(task.scored))
        if missing:
            raise InputError(
                f"{task.name}, frame {missing[0]}: there is no prediction {task.prediction_file(folder, missing[0])}"
                f" ({len(missing)} of the {len(task.scored)} scored frames of this video are missing)"
            )
