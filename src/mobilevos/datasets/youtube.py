"""YouTube-VOS on disk: `JPEGImages/<video>/`, `Annotations/<video>/` for every 5th frame, and `meta.json`.

`meta.json` lists the frames of every object. In the first of them the object is given; in the others it is scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilevos.datasets.splits import read_split
from mobilevos.datasets.task import VideoTask
from mobilevos.datasets.video import VideoPlace, list_places
from mobilevos.errors import InputError

META = "meta.json"


@dataclass(frozen=True)
class YouTube:
    """A split of YouTube-VOS."""

    tasks: list[VideoTask]
    categories: Mapping[tuple[str, int], str]
    """The class of each object, by video and id."""
    seen: frozenset[str] | None
    """The classes of the training set; nothing where they are not known."""


def read_youtube(root: Path, split: Path | None = None, seen: Path | None = None) -> YouTube:
    """The videos of a split of YouTube-VOS.

    root: the folder with `meta.json`, `JPEGImages` and `Annotations`.
    split: a text file of names; all videos of `meta.json` without it.
    seen: the classes of the training set, as its `meta.json` or as a text file of one a line; without it
    `../train/meta.json` is taken where there is one, as the dataset is distributed.
    Where only the given frames are annotated (the hidden validation set) the videos can be predicted but not scored.
    """
    videos = _read_meta(root / META)
    names = read_split(split) if split else list(videos)
    categories: dict[tuple[str, int], str] = {}
    tasks = []
    for name in names:
        if name not in videos:
            raise InputError(f"{name} is in the list of sequences but not in {root / META}")
        objects = _read_objects(name, videos[name])
        categories |= {(name, index): category for index, (category, _) in objects.items()}
        tasks.append(_task(root, name, {index: frames for index, (_, frames) in objects.items()}))
    beside = root.parent / "train" / META
    if seen is None and beside.is_file() and beside.parent.resolve() != root.resolve():
        seen = beside
    return YouTube(tasks, categories, _read_seen(seen) if seen else None)


def youtube_places(root: Path) -> list[VideoPlace]:
    """The videos of a YouTube-VOS folder: those that `meta.json` lists, or all where there is no such file."""
    places = list_places(root / "JPEGImages", root / "Annotations")
    if not (root / META).is_file():
        return places
    listed = set(_read_meta(root / META))
    missing = sorted(listed - {place.name for place in places})
    if missing:
        raise InputError(f"the video {missing[0]!r} of {root / META} is missing in {root / 'JPEGImages'}")
    return [place for place in places if place.name in listed]


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        videos = json.loads(path.read_text(encoding="utf-8"))["videos"]
    except OSError as error:
        raise InputError(f"expected a YouTube-VOS folder with {META} in it, but it cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"expected a YouTube-VOS {META} with an entry 'videos', got something else: {path}") from error
    if not isinstance(videos, dict) or not videos:
        raise InputError(f"expected a YouTube-VOS {META} with videos below 'videos', got none: {path}")
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
    """Class and frames (in order) of each object of a video, by id."""
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


def _task(root: Path, name: str, frames_of: Mapping[int, list[str]]) -> VideoTask:
    video = VideoPlace(name, root / "JPEGImages" / name, root / "Annotations" / name).read()
    pictures, truths = video.pictures, video.truths
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
    return VideoTask(name, pictures, truths, given, scored, tuple(wanted))
