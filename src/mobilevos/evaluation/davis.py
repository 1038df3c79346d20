"""DAVIS 2016 and 2017, semi-supervised.

The first frame is given and the last is left out, so frames 1 .. n-2 are scored. In 2017 the objects are the ids 1 ..
the largest one on frame 0, and 255 in a ground truth is background. In 2016 there is one object, whatever is not 0; 255
in a ground truth is background there too, unless frame 0 has no other id. Global figures are means over objects, not
over sequences.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mobilevos.datasets.video import PICTURES, VOID, Clip, list_frames, read_split
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import Evaluation, Ids, SequenceScores, extra_id, mean_statistics, score_frame
from mobilevos.evaluation.scoring import Progress, score_clips

YEARS = (2016, 2017)


def read_davis(root: Path, split: str = "val", year: int = 2017, resolution: str = "480p") -> list[Clip]:
    """The clips of a split of DAVIS.

    root: the folder with `JPEGImages/<resolution>`, `Annotations/<resolution>` and `ImageSets`.
    split: a name, looked for below `ImageSets`, or a text file of sequence names. Where only first frames are
    annotated (test-dev), the clips can be predicted but not scored.
    """
    if year not in YEARS:
        raise InputError(f"expected DAVIS 2016 or 2017, got {year}")
    annotations = root / "Annotations" / resolution
    if not annotations.is_dir():
        raise InputError(f"expected a DAVIS folder with Annotations/{resolution} in it, got {root}")
    names = read_split(_split_file(root, split, year, resolution))
    return [_read_clip(root, name, year, resolution) for name in names]


def evaluate_davis(
    clips: Sequence[Clip], predictions: Path, processes: int = 1, progress: Progress | None = None
) -> Evaluation:
    """Score a folder of predictions `<sequence>/<frame>.png`; those of first and last frames are not needed."""
    sequences, notes = score_clips(clips, predictions, processes, progress)
    return Evaluation("DAVIS 2016" if clips[0].merged else "DAVIS 2017", summarise(sequences), sequences, notes)


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


def object_count(first_truth: Ids) -> int:
    """The number of objects of a sequence: the largest id on its first ground truth (H, W)."""
    return int(np.where(first_truth == VOID, 0, first_truth).max())


def _split_file(root: Path, split: str, year: int, resolution: str) -> Path:
    if Path(split).is_file():
        return Path(split)
    lists = root / "ImageSets"
    places = [lists / str(year), lists / resolution, lists]
    for place in places:
        if (place / f"{split}.txt").is_file():
            return place / f"{split}.txt"
    there = sorted({path.stem for place in places for path in place.glob("*.txt")})
    raise InputError(f"there is no split {split!r} below {lists}; there is {', '.join(there) or 'none'}")


def _read_clip(root: Path, name: str, year: int, resolution: str) -> Clip:
    truths = list_frames(root / "Annotations" / resolution / name, (".png",))
    pictures = list_frames(root / "JPEGImages" / resolution / name, PICTURES)
    if not truths:
        raise InputError(f"{name}: there is no annotation in {root / 'Annotations' / resolution / name}")
    frames = list(pictures or truths)
    if frames[0] not in truths:
        raise InputError(f"{name}, frame {frames[0]}: the first frame has no annotation")
    scored_frames = frames[1:-1] if len(truths) > 1 else []
    for frame in scored_frames:
        if frame not in truths:
            raise InputError(f"{name}, frame {frame}: there is a picture but no annotation")
    if len(truths) > 1 and not scored_frames:
        raise InputError(f"{name}: expected at least 3 frames, got {len(frames)}")
    clip = Clip(name, pictures, truths, {}, {}, tuple(frames))
    if year == 2016:
        clip = replace(clip, merged=True, void=object_count(clip.truth(frames[0])) > 0)
    first = clip.truth(frames[0])
    objects = tuple(range(1, object_count(first) + 1))
    if not objects:
        raise InputError(f"{name}, frame {frames[0]}: the annotation has no object (masks of 0 and 255 are year 2016)")
    # an id that frame 0 leaves out cannot be given, but the public tool does score it: 1 where the prediction is empty
    given = tuple(index for index in objects if (first == index).any())
    scored = dict.fromkeys(scored_frames, objects)
    return replace(clip, given={frames[0]: given}, scored=scored)
