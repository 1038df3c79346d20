"""J and F of every object and frame of a sequence, and a whole evaluation: what the tables and the report show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import Statistics, boundary_radius, jaccard_and_f, joint_box, statistics

Ids = npt.NDArray[Any]
"""Object ids, an integer (or bool) array; 0 is background."""


@dataclass(frozen=True)
class SequenceScores:
    """J and F of each object in each scored frame of one sequence."""

    name: str
    objects: tuple[int, ...]
    """The ids, one a row of the values."""
    frames: tuple[str, ...]
    """The scored frames' names, one a column of the values."""
    j: npt.NDArray[np.float64]
    """(objects, frames); NaN where the object is not scored in the frame."""
    f: npt.NDArray[np.float64]
    """(objects, frames); NaN where the object is not scored in the frame."""

    @cached_property
    def j_statistics(self) -> tuple[Statistics, ...]:
        """Mean, recall and decay of J, one for each object."""
        return tuple(statistics(values[~np.isnan(values)]) for values in self.j)

    @cached_property
    def f_statistics(self) -> tuple[Statistics, ...]:
        """Mean, recall and decay of F, one for each object."""
        return tuple(statistics(values[~np.isnan(values)]) for values in self.f)

    @property
    def j_and_f(self) -> float:
        """Mean of J and F over the objects of this sequence."""
        return (mean_statistics(self.j_statistics).mean + mean_statistics(self.f_statistics).mean) / 2


@dataclass(frozen=True)
class Speed:
    """How fast a model went, over the clips that were predicted in this run."""

    frames: int
    """Frames given to `Tracker.step`, over all clips."""
    objects: float
    """Objects followed, mean over these frames."""
    step_seconds: float
    """Time inside `Tracker.step`."""
    all_seconds: float
    """Time of the whole loop."""

    INCLUDES = (
        "tracking: the whole of Tracker.step (resizing, network, aggregation, mask), without the first frame of a "
        "clip and without files; everything: also reading and decoding the pictures, first frames and added objects, "
        "and writing the masks"
    )

    @property
    def tracking_fps(self) -> float:
        """Frames per second of `Tracker.step` alone."""
        return self.frames / self.step_seconds

    @property
    def everything_fps(self) -> float:
        """Frames per second with all that is done for a frame, files included."""
        return self.frames / self.all_seconds


@dataclass(frozen=True)
class Evaluation:
    """The outcome for a dataset."""

    protocol: str
    """The dataset and its rules, such as "DAVIS 2017"."""
    figures: Mapping[str, float]
    """The global figures, by the name the field gives them; the first is the one that papers compare."""
    sequences: tuple[SequenceScores, ...]
    notes: tuple[str, ...] = field(default=())
    """What a reader of the figures has to know about the data."""
    speed: Speed | None = None


def score_frame(pred: Ids, truth: Ids, objects: Iterable[int]) -> npt.NDArray[np.float64]:
    """J and F of these objects in one frame; pred and truth: (H, W) ids. Returns (objects, 2)."""
    radius = boundary_radius(*truth.shape)
    box = joint_box(pred, truth)
    pred, truth = pred[box], truth[box]
    return np.array([jaccard_and_f(pred == index, truth == index, radius) for index in objects])


def extra_id(pred: Ids, objects: Sequence[int]) -> int | None:
    """An id in a prediction (H, W) that is none of the objects, or nothing."""
    lowest, highest = int(pred.min()), int(pred.max())
    if lowest < 0:
        return lowest
    if highest > max(objects):
        return highest
    gaps = set(range(1, max(objects))).difference(objects)
    return next((index for index in gaps if (pred == index).any()), None)


def mean_statistics(objects: Sequence[Statistics]) -> Statistics:
    """The mean over objects, each with the same weight however many frames it has."""
    if not objects:
        raise InputError("there is no object to take the mean over")
    return Statistics(
        mean=float(np.mean([each.mean for each in objects])),
        recall=float(np.mean([each.recall for each in objects])),
        decay=float(np.mean([each.decay for each in objects])),
    )
