"""DAVIS 2016 and 2017 on disk: `JPEGImages/480p/<video>/`, `Annotations/480p/<video>/`, and lists in `ImageSets`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mobilevos.arrays import VOID, Ids
from mobilevos.datasets.splits import find_split, read_split
from mobilevos.datasets.task import VideoTask
from mobilevos.datasets.video import Video, VideoPlace, list_places
from mobilevos.errors import InputError

RESOLUTION = "480p"
"""The folder below JPEGImages and Annotations that nearly everybody uses, whatever the pictures' real size."""
YEARS = (2016, 2017)


def davis_places(root: Path, resolution: str = RESOLUTION) -> list[VideoPlace]:
    """All videos of a DAVIS folder."""
    return list_places(root / "JPEGImages" / resolution, root / "Annotations" / resolution)


def davis_split(root: Path, split: str, year: int | None = None, resolution: str = RESOLUTION) -> list[str]:
    """The names of a split: one that a list below `ImageSets` has ("train", "2017/train"), or a text file."""
    lists = root / "ImageSets"
    places = [*([lists / str(year)] if year else []), lists / resolution, lists]
    return read_split(find_split(split, places))


def davis_videos(root: Path, names: Sequence[str], resolution: str = RESOLUTION) -> list[Video]:
    """Some videos of a DAVIS folder, by their names."""
    there = {place.name: place for place in davis_places(root, resolution)}
    missing = [name for name in names if name not in there]
    if missing:
        raise InputError(f"there is no video {missing[0]!r} in {root}")
    return [there[name].read() for name in names]


def read_davis(root: Path, split: str = "val", year: int = 2017, resolution: str = RESOLUTION) -> list[VideoTask]:
    """The videos of a split of DAVIS, semi-supervised: the first frame is given, the last is left out.

    root: the folder with `JPEGImages/<resolution>`, `Annotations/<resolution>` and `ImageSets`.
    split: a name, looked for below `ImageSets`, or a text file of names. Where only first frames are annotated
    (test-dev), the videos can be predicted but not scored.
    """
    if year not in YEARS:
        raise InputError(f"expected DAVIS 2016 or 2017, got {year}")
    if not (root / "Annotations" / resolution).is_dir():
        raise InputError(f"expected a DAVIS folder with Annotations/{resolution} in it, got {root}")
    images, masks = root / "JPEGImages" / resolution, root / "Annotations" / resolution
    names = davis_split(root, split, year, resolution)
    places = [VideoPlace(name, images / name, masks / name) for name in names]
    return [_task(place.read(), place.masks, year) for place in places]


def object_count(first_truth: Ids) -> int:
    """The number of objects of a video: the largest id on its first ground truth (H, W)."""
    return int(np.where(first_truth == VOID, 0, first_truth).max())


def _task(video: Video, masks: Path, year: int) -> VideoTask:
    name, truths = video.name, video.truths
    if not truths:
        raise InputError(f"{name}: there is no annotation in {masks}")
    frames = list(video.pictures or truths)
    if frames[0] not in truths:
        raise InputError(f"{name}, frame {frames[0]}: the first frame has no annotation")
    scored_frames = frames[1:-1] if len(truths) > 1 else []
    for frame in scored_frames:
        if frame not in truths:
            raise InputError(f"{name}, frame {frame}: there is a picture but no annotation")
    if len(truths) > 1 and not scored_frames:
        raise InputError(f"{name}: expected at least 3 frames, got {len(frames)}")
    task = VideoTask(name, video.pictures, truths, {}, {}, tuple(frames))
    if year == 2016:
        task = replace(task, merged=True, void=object_count(task.truth(frames[0])) > 0)
    first = task.truth(frames[0])
    objects = tuple(range(1, object_count(first) + 1))
    if not objects:
        raise InputError(f"{name}, frame {frames[0]}: the annotation has no object (masks of 0 and 255 are year 2016)")
    # an id that frame 0 leaves out cannot be given, but the public tool does score it: 1 where the prediction is empty
    given = tuple(index for index in objects if (first == index).any())
    return replace(task, given={frames[0]: given}, scored=dict.fromkeys(scored_frames, objects))
