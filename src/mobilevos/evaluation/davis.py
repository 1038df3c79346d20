"""DAVIS 2016 and 2017, semi-supervised.

The first frame is given and the last is left out, so frames 1 .. n-2 are scored. In 2017 the objects are the ids 1 ..
the largest one on frame 0, and 255 in a ground truth is background. In 2016 there is one object, whatever is not 0; 255
in a ground truth is background there too, unless frame 0 has no other id. Global figures are means over objects, not
over sequences.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mobilevos.datasets.davis import object_count
from mobilevos.datasets.task import VideoTask
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import Evaluation, Ids, SequenceScores, extra_id, mean_statistics, score_frame
from mobilevos.evaluation.scoring import score_videos
from mobilevos.progress import Progress, no_progress


def evaluate_davis(
    tasks: Sequence[VideoTask], predictions: Path, processes: int = 1, progress: Progress = no_progress
) -> Evaluation:
    """Score a folder of predictions `<sequence>/<frame>.png`; those of first and last frames are not needed."""
    sequences, notes = score_videos(tasks, predictions, processes, progress)
    return Evaluation("DAVIS 2016" if tasks[0].merged else "DAVIS 2017", summarise(sequences), sequences, notes)


def score_sequence(predictions: Ids, truths: Ids, name: str = "sequence") -> SequenceScores:
    """Score a whole sequence held in memory.

    predictions, truths: (T, H, W) ids, all T frames from the given one to the last; T is at least 3.
    """
    predictions, truths = np.asarray(predictions), np.asarray(truths)
    if predictions.shape != truths.shape or truths.ndim != 3 or len(truths) < 3 or not truths.size:
        raise InputError(
            f"{name}: expected ids (T, H, W) of one shape with T >= 3, got {predictions.shape} and {truths.shape}"
        )
    objects = range(1, object_count(truths[0]) + 1)
    if not objects:
        raise InputError(f"{name}: the first frame's ground truth has no object")
    frames = tuple(f"{index:05d}" for index in range(1, len(truths) - 1))
    values = []
    for frame, pred, truth in zip(frames, predictions[1:-1], truths[1:-1], strict=True):
        extra = extra_id(pred, objects)
        if extra is not None:
            raise InputError(
                f"{name}, frame {frame}: the prediction has id {extra}, the objects are 1 to {objects[-1]}"
            )
        values.append(score_frame(pred, truth, objects))
    j, f = np.stack(values).transpose(2, 1, 0)
    return SequenceScores(name, tuple(objects), frames, j, f)


def summarise(sequences: Sequence[SequenceScores]) -> dict[str, float]:
    """The global figures of some sequences, by the names the public tool gives them."""
    j = mean_statistics([each for sequence in sequences for each in sequence.j_statistics])
    f = mean_statistics([each for sequence in sequences for each in sequence.f_statistics])
    return {
        "J&F-Mean": (j.mean + f.mean) / 2,
        "J-Mean": j.mean,
        "J-Recall": j.recall,
        "J-Decay": j.decay,
        "F-Mean": f.mean,
        "F-Recall": f.recall,
        "F-Decay": f.decay,
    }
