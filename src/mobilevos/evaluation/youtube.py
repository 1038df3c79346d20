"""YouTube-VOS: objects that appear late, ids with gaps, and only some frames annotated.

`meta.json` lists the frames of every object. In the first of them the object is given; in the others it is scored.
The global figure G is the mean of four: J and F, each over the objects of classes that the training set has (seen) and
of classes that it has not (unseen).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mobilevos.datasets.youtube import YouTube
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import Evaluation, SequenceScores
from mobilevos.evaluation.scoring import score_videos
from mobilevos.progress import Progress, no_progress


def evaluate_youtube(
    dataset: YouTube, predictions: Path, processes: int = 1, progress: Progress = no_progress
) -> Evaluation:
    """Score a folder of predictions `<clip>/<frame>.png`, of which only the annotated frames are needed."""
    # clips all of whose objects have but the frame in which they are given
    idle = [task.name for task in dataset.tasks if not task.scored and set(task.wanted) == set(task.given)]
    tasks = [task for task in dataset.tasks if task.name not in idle]
    sequences, notes = score_videos(tasks, predictions, processes, progress)
    notes += tuple(f"{name}: no object has a frame to score" for name in idle)
    if dataset.seen is None:
        notes += ("the classes of the training set are not known: all count as seen",)
    return Evaluation("YouTube-VOS", summarise(sequences, dataset.categories, dataset.seen), sequences, notes)


def summarise(
    sequences: Sequence[SequenceScores], categories: Mapping[tuple[str, int], str], seen: frozenset[str] | None
) -> dict[str, float]:
    """G and what it is the mean of; means over objects. A group without an object has no figure and no part in G."""
    groups: dict[str, list[float]] = {"J-Seen": [], "J-Unseen": [], "F-Seen": [], "F-Unseen": []}
    for sequence in sequences:
        for index, j, f in zip(sequence.objects, sequence.j_statistics, sequence.f_statistics, strict=True):
            known = seen is None or categories[sequence.name, index] in seen
            groups["J-Seen" if known else "J-Unseen"].append(j.mean)
            groups["F-Seen" if known else "F-Unseen"].append(f.mean)
    means = {name: float(np.mean(values)) for name, values in groups.items() if values}
    if not means:
        raise InputError("there is no object to take the mean over")
    return {"G": float(np.mean(list(means.values()))), **means}
