"""YouTube-VOS: objects that appear late, ids with gaps, and only some frames annotated.

`meta.json` lists the frames of every object. In the first of them the object is given; in the others it is scored.
The global figure G is the mean of four: J and F, each over the objects of classes that the training set has (seen) and
of classes that it has not (unseen).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mobilevos.datasets.video import PICTURES, Clip, list_frames, read_split
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import Evaluation, SequenceScores
from mobilevos.evaluation.scoring import Progress, score_clips

META = "meta.json"


@dataclass(frozen=True)
class YouTube:
    """A split of YouTube-VOS."""

    clips: list[Clip]
    categories: Mapping[tuple[str, int], str]
    """The class of each object, by clip and id."""
    seen: frozenset[str] | None
    """The classes of the training set; nothing where they are not known."""


def read_youtube(root: Path, split: Path | None = None, seen: Path | None = None) -> YouTube:
    """The clips of a split of YouTube-VOS.

    root: the folder with `meta.json`, `JPEGImages` and `Annotations`.
    split: a text file of clip names; all clips of `meta.json` without it.
    seen: the classes of the training set, as its `meta.json` or as a text file of one a line; without it
    `../train/meta.json` is taken where there is one, as the dataset is distributed.
    Where only the given frames are annotated (the hidden validation set) the clips can be predicted but not scored.
    """
    videos = _read_meta(root / META)
    names = read_split(split) if split else list(videos)
    categories: dict[tuple[str, int], str] = {}
    clips = []
    for name in names:
        if name not in videos:
            raise InputError(f"{name} is in the list of sequences but not in {root / META}")
        objects = _read_objects(name, videos[name])
        categories |= {(name, index): category for index, (category, _) in objects.items()}
        clips.append(_read_clip(root, name, {index: frames for index, (_, frames) in objects.items()}))
    beside = root.parent / "train" / META
    if seen is None and beside.is_file() and beside.parent.resolve() != root.resolve():
        seen = beside
    return YouTube(clips, categories, _read_seen(seen) if seen else None)


def evaluate_youtube(
    dataset: YouTube, predictions: Path, processes: int = 1, progress: Progress | None = None
) -> Evaluation:
    """Score a folder of predictions `<clip>/<frame>.png`, of which only the annotated frames are needed."""
    # clips all of whose objects have but the frame in which they are given
    idle = [clip.name for clip in dataset.clips if not clip.scored and set(clip.wanted) == set(clip.given)]
    clips = [clip for clip in dataset.clips if clip.name not in idle]
    sequences, notes = score_clips(clips, predictions, processes, progress)
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


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        videos = json.loads(path.read_text(encoding="utf-8"))["videos"]
    except OSError as error:
        raise InputError(f"expected a YouTube-VOS folder with {META} in it, but it cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected a YouTube-VOS {META} with an entry 'videos', got something else: {path}") from error
    if not isinstance(videos, dict) or not videos:
        raise InputError(f"expected a YouTube-VOS {META} with clips below 'videos', got none: {path}")
    return videos


def _read_seen(path: Path) -> frozenset[str]:
    if path.suffix == ".json":
        videos = _read_meta(path)
        return frozenset(category for name in videos for category, _ in _read_objects(name, videos[name]).values())
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the classes of the training set: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip())


def _read_objects(name: str, video: Any) -> dict[int, tuple[str, list[str]]]:
    """Class and frames (in order) of each object of a clip, by id."""
    try:
        objects = {
            int(index): (str(entry["category"]), sorted(map(str, entry["frames"])))
            for index, entry in video["objects"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{name}: expected objects with 'category' and 'frames' in {META}, got something else"
        ) from error
    for index, (_, frames) in objects.items():
        if not 0 < index < 255 or not frames:
            raise InputError(
                f"{name}: expected ids of 1 to 254 with frames in {META}, got {index} with {len(frames)} frames"
            )
    if not objects:
        raise InputError(f"{name}: {META} has no object")
    return objects


def _read_clip(root: Path, name: str, frames_of: Mapping[int, list[str]]) -> Clip:
    pictures = list_frames(root / "JPEGImages" / name, PICTURES)
    truths = list_frames(root / "Annotations" / name, (".png",))
    given: dict[str, tuple[int, ...]] = {}
    scored: dict[str, tuple[int, ...]] = {}
    wanted = sorted({frame for frames in frames_of.values() for frame in frames})
    for frame in wanted:
        first = tuple(index for index, frames in frames_of.items() if frame == frames[0])
        later = tuple(index for index, frames in frames_of.items() if frame in frames[1:])
        given |= {frame: first} if first else {}
        scored |= {frame: later} if later else {}
    for frame in given:
        if frame not in truths:
            raise InputError(f"{name}, frame {frame}: objects are given here, but there is no annotation")
    unknown = [frame for frame in scored if frame not in truths]
    # a hidden ground truth: annotations of the frames in which objects are given, and of no other
    if set(truths) <= set(given):
        scored = {}
    elif unknown:
        raise InputError(f"{name}, frame {unknown[0]}: {META} lists the frame, but there is no annotation")
    for frame in wanted if pictures else ():
        if frame not in pictures:
            raise InputError(f"{name}, frame {frame}: {META} lists the frame, but there is no picture")
    return Clip(name, pictures, truths, given, scored, tuple(wanted))
