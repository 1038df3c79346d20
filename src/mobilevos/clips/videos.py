"""Clips from annotated videos: DAVIS, YouTube-VOS and BL30K."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.clip import Clip, ClipConfig
from mobilevos.clips.crop import crop_anywhere, crop_around_objects
from mobilevos.clips.layers import Layer
from mobilevos.clips.motion import random_trajectory, show, translation, warp
from mobilevos.clips.objects import choose_objects, count_objects
from mobilevos.clips.scene import CutoutSource, add_object, cut_out_one, finish, transplanted
from mobilevos.clips.window import window_views
from mobilevos.datasets.bl30k import bl30k_places
from mobilevos.datasets.davis import davis_places, davis_split
from mobilevos.datasets.pictures import CACHE, Pictures, open_pictures
from mobilevos.datasets.video import VideoPlace
from mobilevos.datasets.youtube import youtube_places
from mobilevos.errors import InputError

_TRIES = 50


@dataclass(frozen=True)
class Layout:
    """How a dataset lays its videos out, and how densely they are annotated."""

    places: Callable[[Path], list[VideoPlace]]
    every: int = 1
    """An annotation every so many frames of the video, by which `ClipConfig.max_skip` is divided."""
    complete: bool = True
    """Whether every frame has an annotation; frames without are errors then, and left out otherwise."""
    cached: bool = True
    """Whether decoded frames are kept; the nearly five million of BL30K do not fit on a disk."""


LAYOUTS = {
    "davis": Layout(davis_places),
    "youtube": Layout(youtube_places, every=5, complete=False),
    "bl30k": Layout(bl30k_places, cached=False),
}


class VideoSource:
    """Clips from the annotated videos of a dataset.

    Args:
        layout: a name of `LAYOUTS`.
        root: the dataset's folder.
        split: DAVIS: the list of the videos to use, such as "2017/train" for `ImageSets/2017/train.txt`; the folder
            usually holds the validation videos too.
        include: names of the videos to use, None for all.
        exclude: names of the videos not to use.
        cutouts: where pasted objects come from; the videos themselves where it is None.
        cache: folder for the decoded frames; None decodes them whenever they are used.
        short_side: larger frames are made smaller; None leaves them as they are.
    """

    def __init__(
        self,
        layout: str,
        root: Path | str,
        *,
        split: str = "",
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        cutouts: CutoutSource | None = None,
        cache: Path | str | None = CACHE,
        short_side: int | None = None,
    ) -> None:
        self.root = Path(root)
        self._layout = LAYOUTS[layout]
        self._short_side = short_side
        self._cutouts = self if cutouts is None else cutouts
        if split:
            if include is not None:
                raise InputError(f"expected a split or the names of videos, got both ({split!r} and {include!r})")
            include = davis_split(self.root, split)
        places = self._layout.places(self.root)
        names = {place.name for place in places}
        for name in [*(include or ()), *exclude]:
            if name not in names:
                raise InputError(f"there is no video {name!r} in {self.root}")
        chosen = names if include is None else set(include)
        self._places = [place for place in places if place.name in chosen and place.name not in exclude]
        if not self._places:
            raise InputError(f"no videos are left to use in {self.root}")
        # A cache for every video serves every choice of videos. Without one they are listed when they are drawn, since
        # there may be millions of frames.
        kept = None if cache is None or not self._layout.cached else Path(cache)
        self._opened = None if kept is None else [self._open(place, kept) for place in self._places]

    @property
    def names(self) -> list[str]:
        """The videos in use."""
        return [place.name for place in self._places]

    def sample(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip:
        """Draw a video and some frames of it in order, and show the same part of all of them."""
        for _ in range(_TRIES):
            if config.foreign and rng.random() < config.foreign:
                clip = self._foreign(rng, config, objects)
            else:
                clip = self._filmed(rng, config, objects)
            if clip is not None:
                return clip
        raise InputError(f"none of {_TRIES} clips of {self.root} shows an object of {config.min_pixels} pixels or more")

    def _filmed(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip | None:
        """Objects of a video as they move there; None where the frames that were drawn do not show them well."""
        name, pictures = self._draw(rng)
        far = bool(config.far and config.frames > 2 and rng.random() < config.far)
        choose = choose_frames_from_afar if far else choose_frames
        shots = [pictures[i] for i in choose(rng, config, len(pictures), self._layout.every)]
        table = choose_objects(rng, shots[0][1], objects)
        shots = [(image, cv2.LUT(labels, table)) for image, labels in shots]
        labels = [labels for _, labels in shots]
        if config.window and rng.random() < config.window:
            views = window_views(rng, config, labels, far=far)
        else:
            views = _choose_views_from_afar(rng, config, labels) if far else _choose_views(rng, config, labels)
        if views is None:
            return None
        frames, masks = show(shots, views, config.size)
        if config.transplant and rng.random() < config.transplant:
            frames, masks = transplanted(rng, config, frames, masks, self._place(rng, config))
        clip = finish(rng, config, frames, masks, objects=objects, cutouts=self._cutouts, name=name)
        return clip if clip is None else replace(clip, far=far)

    def _foreign(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip | None:
        """A cut-out that moves over a video, whatever that shows."""
        name, frames = self._footage(rng, config)
        masks = np.zeros(frames.shape[:3], np.uint8)
        add_object(rng, config, frames, masks, self._cutouts, 1, extent=(0.3, 0.85))
        return finish(rng, config, frames, masks, objects=objects, cutouts=self._cutouts, name=name)

    def cutout(self, rng: np.random.Generator) -> Layer | None:
        """A random object that no border cuts off; None where none was found in a few frames."""
        return cut_out_one(rng, (self._draw_frame(rng) for _ in range(4)))

    def texture(self, rng: np.random.Generator) -> np.ndarray:
        """A random frame."""
        return self._draw_frame(rng)[0]

    def _place(self, rng: np.random.Generator, config: ClipConfig) -> np.ndarray:
        """Somewhere else, (T, S, S, 3): another moment or video as filmed, or a photo before a moving camera."""
        if rng.random() < 0.5:
            return _before_camera(rng, config, [self._cutouts.texture(rng)] * config.frames, 0.6)
        return self._footage(rng, config)[1]

    def _footage(self, rng: np.random.Generator, config: ClipConfig) -> tuple[str, np.ndarray]:
        """A video's name and some part of it, (T, S, S, 3)."""
        name, pictures = self._draw(rng)
        shots = [pictures[i][0] for i in choose_frames(rng, config, len(pictures), self._layout.every)]
        return name, _before_camera(rng, config, shots, config.drift)

    def _draw(self, rng: np.random.Generator) -> tuple[str, Pictures]:
        """A random video: its name and its annotated frames."""
        index = int(rng.integers(len(self._places)))
        place = self._places[index]
        return place.name, self._open(place, None) if self._opened is None else self._opened[index]

    def _draw_frame(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A random frame of a random video with its labels."""
        _, pictures = self._draw(rng)
        return pictures[int(rng.integers(len(pictures)))]

    def _open(self, place: VideoPlace, cache: Path | None) -> Pictures:
        return open_pictures(place.read().annotated(complete=self._layout.complete), cache, self._short_side)


def choose_frames(rng: np.random.Generator, config: ClipConfig, length: int, every: int = 1) -> list[int]:
    """Indices of a clip's frames in a video of `length` frames, in order or backwards.

    A video shorter than the clip is run through to and fro.
    """
    count = config.frames - 1
    skip = max(1, config.max_skip // every)
    if count:
        skip = max(1, min(skip, (length - 1) // count))
    steps = rng.integers(1, skip + 1, size=count)
    span = min(int(steps.sum()), length - 1)
    places = int(rng.integers(length - span)) + np.concatenate([[0], np.cumsum(steps)])
    turn = 2 * max(length - 1, 1)
    places = np.where(places % turn < length, places % turn, turn - places % turn) if length > 1 else 0 * places
    return (places[::-1] if rng.random() < config.reverse else places).tolist()


def choose_frames_from_afar(rng: np.random.Generator, config: ClipConfig, length: int, every: int = 1) -> list[int]:
    """As `choose_frames`, but frame 0 is any of the video, and the others are at most two frames apart."""
    close = replace(config, frames=config.frames - 1, max_skip=min(config.max_skip, 2 * every))
    return [int(rng.integers(length)), *choose_frames(rng, close, length, every)]


def _before_camera(
    rng: np.random.Generator, config: ClipConfig, shots: Sequence[np.ndarray], strength: float
) -> np.ndarray:
    """Some part of T pictures, seen by a camera that moves: (T, S, S, 3)."""
    middle = ((config.size - 1) / 2, (config.size - 1) / 2)
    crop = crop_anywhere(rng, config, shots[0].shape[:2])
    views = crop @ np.linalg.inv(random_trajectory(rng, config, middle, strength))
    window = (0, 0, config.size, config.size)
    return np.stack(
        [warp(shot, view, window, border=cv2.BORDER_REFLECT_101) for shot, view in zip(shots, views, strict=True)]
    )


def _choose_views(rng: np.random.Generator, config: ClipConfig, labels: list[np.ndarray]) -> np.ndarray | None:
    """A crop that drifts over the clip, preferably one that the object stays in.

    Returns:
        (T, 3, 3) maps from the clip to the frames; None where frame 0 shows no object.
    """
    middle = ((config.size - 1) / 2, (config.size - 1) / 2)
    views = None
    for _ in range(3):
        crop = crop_around_objects(rng, config, labels[0])
        if crop is None:
            continue
        views = crop @ np.linalg.inv(random_trajectory(rng, config, middle, config.drift))
        last = warp(labels[-1], views[-1], (0, 0, config.size, config.size), interpolation=cv2.INTER_NEAREST)
        if count_objects(last) or not count_objects(labels[-1]):
            break
    return views


def _choose_views_from_afar(
    rng: np.random.Generator, config: ClipConfig, labels: list[np.ndarray]
) -> np.ndarray | None:
    """As `_choose_views` for all frames but the first, which is shown at the same scale, wherever its object is."""
    if not count_objects(labels[0]):
        return None
    views = _choose_views(rng, replace(config, frames=config.frames - 1), labels[1:])
    if views is None:
        return None
    height, width = labels[0].shape
    middle = np.array([(config.size - 1) / 2, (config.size - 1) / 2, 1.0])
    center = (views[0] @ middle)[:2]
    ys, xs = np.nonzero((labels[0] > 0) & (labels[0] < VOID))
    reach = np.abs(views[0][:2, :2]).sum(1) * config.size / 2
    wanted = np.array([xs.mean(), ys.mean()]) + reach * rng.uniform(-0.3, 0.3, size=2)
    room = np.maximum(np.array([width, height]) - reach, reach)
    shift = np.clip(wanted, reach, room) - center
    return np.concatenate([(translation(*shift) @ views[0])[None], views])
