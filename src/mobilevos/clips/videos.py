"""Clips from annotated videos: DAVIS, YouTube-VOS and BL30K."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from mobilevos.clips.clip import VOID, Clip, ClipConfig
from mobilevos.clips.crop import crop_anywhere, crop_around_objects
from mobilevos.clips.layers import Layer
from mobilevos.clips.motion import random_trajectory, show, translation, warp
from mobilevos.clips.objects import choose_objects, count_objects
from mobilevos.clips.scene import CutoutSource, add_object, cut_out_one, finish, transplanted
from mobilevos.datasets.pictures import CACHE, PictureFile, Pictures, open_pictures
from mobilevos.errors import InputError

_TRIES = 50


@dataclass(frozen=True)
class Video:
    """A folder of frames `<frame>.jpg` and one of label maps `<frame>.png`."""

    name: str
    images: Path
    masks: Path


class VideoSource:
    """Clips from a list of videos; the subclasses know how datasets lay them out."""

    def __init__(
        self,
        root: Path,
        videos: Sequence[Video],
        *,
        include: Collection[str] | None,
        exclude: Collection[str],
        cutouts: CutoutSource | None,
        cache: Path | str | None,
        short_side: int | None,
        every: int,
        complete: bool,
    ) -> None:
        """
        Args:
            include: names of the videos to use, None for all.
            exclude: names of the videos not to use.
            cutouts: where pasted objects come from; the videos themselves where it is None.
            cache: folder for the decoded frames; None decodes them whenever they are used.
            short_side: larger frames are made smaller.
            every: an annotation every so many frames of the video, by which `ClipConfig.max_skip` is divided.
            complete: whether every frame has an annotation; frames without are errors then, and left out otherwise.
        """
        self.root = root
        self._every = every
        self._complete = complete
        self._short_side = short_side
        self._cutouts = self if cutouts is None else cutouts
        names = {video.name for video in videos}
        for name in [*(include or ()), *exclude]:
            if name not in names:
                raise InputError(f"there is no video {name!r} in {root}")
        chosen = names if include is None else set(include)
        self._videos = [video for video in videos if video.name in chosen and video.name not in exclude]
        if not self._videos:
            raise InputError(f"no videos are left to use in {root}")
        # A cache for every video serves every choice of videos. Without one they are listed when they are drawn, since
        # there may be millions of frames.
        self._opened = None if cache is None else [self._open(video, Path(cache)) for video in self._videos]

    @property
    def names(self) -> list[str]:
        """The videos in use."""
        return [video.name for video in self._videos]

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
        shots = [pictures[i] for i in choose(rng, config, len(pictures), self._every)]
        table = choose_objects(rng, shots[0][1], objects)
        shots = [(image, cv2.LUT(labels, table)) for image, labels in shots]
        labels = [labels for _, labels in shots]
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
        shots = [pictures[i][0] for i in choose_frames(rng, config, len(pictures), self._every)]
        return name, _before_camera(rng, config, shots, config.drift)

    def _draw(self, rng: np.random.Generator) -> tuple[str, Pictures]:
        """A random video: its name and its annotated frames."""
        index = int(rng.integers(len(self._videos)))
        video = self._videos[index]
        return video.name, self._open(video, None) if self._opened is None else self._opened[index]

    def _draw_frame(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A random frame of a random video with its labels."""
        _, pictures = self._draw(rng)
        return pictures[int(rng.integers(len(pictures)))]

    def _open(self, video: Video, cache: Path | None) -> Pictures:
        return open_pictures(list_frames(video, self._complete), cache, self._short_side)


class DavisSource(VideoSource):
    """DAVIS 2016 or 2017: `JPEGImages/480p/<video>/00000.jpg`, `Annotations/480p/<video>/00000.png`.

    The folder usually holds the validation videos too: `split` names the list of the videos to use, such as
    "2017/train" for `ImageSets/2017/train.txt`, or `include` gives their names.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        split: str | None = None,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        resolution: str = "480p",
        cutouts: CutoutSource | None = None,
        cache: Path | str | None = CACHE,
        short_side: int | None = 320,
    ) -> None:
        root = Path(root)
        if split is not None:
            if include is not None:
                raise InputError(f"expected a split or the names of videos, got both ({split!r} and {include!r})")
            include = read_split(root / "ImageSets" / f"{split}.txt")
        super().__init__(
            root,
            list_videos(root / "JPEGImages" / resolution, root / "Annotations" / resolution),
            include=include,
            exclude=exclude,
            cutouts=cutouts,
            cache=cache,
            short_side=short_side,
            every=1,
            complete=True,
        )


class YouTubeSource(VideoSource):
    """YouTube-VOS: `JPEGImages/<video>/`, `Annotations/<video>/` for every 5th frame, `meta.json` if there is one."""

    def __init__(
        self,
        root: Path | str,
        *,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        cutouts: CutoutSource | None = None,
        cache: Path | str | None = CACHE,
        short_side: int | None = 320,
    ) -> None:
        root = Path(root)
        videos = list_videos(root / "JPEGImages", root / "Annotations")
        listed = _videos_in_meta(root / "meta.json")
        if listed is not None:
            missing = sorted(listed - {video.name for video in videos})
            if missing:
                raise InputError(
                    f"the video {missing[0]!r} of {root / 'meta.json'} is missing in {root / 'JPEGImages'}"
                )
            videos = [video for video in videos if video.name in listed]
        super().__init__(
            root,
            videos,
            include=include,
            exclude=exclude,
            cutouts=cutouts,
            cache=cache,
            short_side=short_side,
            every=5,
            complete=False,
        )


class BL30KSource(VideoSource):
    """BL30K: `JPEGImages/<video>/` and `Annotations/<video>/`, in the folder itself or in its parts `a/` to `f/`.

    Nearly five million frames do not fit a cache of decoded pictures, so there is none unless it is asked for.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        include: Collection[str] | None = None,
        exclude: Collection[str] = (),
        cutouts: CutoutSource | None = None,
        cache: Path | str | None = None,
        short_side: int | None = 320,
    ) -> None:
        root = Path(root)
        parts = [part for part in (root, *(root / letter for letter in "abcdef")) if (part / "JPEGImages").is_dir()]
        if not parts:
            raise InputError(f"expected JPEGImages/ in {root} or in its folders a/ to f/, found none")
        videos = [video for part in parts for video in list_videos(part / "JPEGImages", part / "Annotations")]
        super().__init__(
            root,
            videos,
            include=include,
            exclude=exclude,
            cutouts=cutouts,
            cache=cache,
            short_side=short_side,
            every=1,
            complete=True,
        )


def list_videos(images: Path, masks: Path) -> list[Video]:
    """The videos with a folder in `images` and one in `masks`, by name."""
    for folder in (images, masks):
        if not folder.is_dir():
            raise InputError(f"expected a folder of videos, but {folder} is missing")
    names = sorted(path.name for path in images.iterdir() if path.is_dir())
    if not names:
        raise InputError(f"expected a folder for every video in {images}, found none")
    return [Video(name, images / name, masks / name) for name in names]


def read_split(path: Path) -> list[str]:
    """The names of videos in a text file, one a line."""
    if not path.is_file():
        raise InputError(f"the list of videos {path} is missing")
    return path.read_text().split()


def list_frames(video: Video, complete: bool) -> list[PictureFile]:
    """The annotated frames of a video, by name; see `VideoSource` for `complete`."""
    if not video.masks.is_dir():
        raise InputError(f"the annotations {video.masks} are missing")
    images = {path.stem: path for path in video.images.iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png")}
    masks = {path.stem: path for path in video.masks.iterdir() if path.suffix.lower() == ".png"}
    for stem, mask in masks.items():
        if stem not in images:
            raise InputError(f"the frame {video.images / stem}.jpg of the annotation {mask} is missing")
    if complete and len(masks) < len(images):
        stem = min(images.keys() - masks.keys())
        raise InputError(f"the annotation {video.masks / stem}.png of the frame {images[stem]} is missing")
    if not masks:
        raise InputError(f"expected annotated frames in {video.masks}, found none")
    return [PictureFile(images[stem], masks[stem]) for stem in sorted(masks)]


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


def _videos_in_meta(path: Path) -> set[str] | None:
    """The names of the videos in YouTube-VOS' meta.json; None where there is no such file."""
    if not path.is_file():
        return None
    try:
        return set(json.loads(path.read_text())["videos"])
    except (ValueError, KeyError, TypeError):
        raise InputError(f'expected JSON with a table "videos" in {path}') from None
