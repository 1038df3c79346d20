"""Synthetic clips from single photos with masks, for the first stage of training."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.clip import Clip, ClipConfig
from mobilevos.clips.crop import crop_anywhere, crop_around_objects
from mobilevos.clips.layers import Layer, Sprite, cut_out, fill_in, paste, shrunk, touches_border
from mobilevos.clips.motion import linear, random_deformation, random_trajectory, show, translation, warp
from mobilevos.clips.objects import choose_objects, count_objects
from mobilevos.clips.scene import cut_out_one, finish, random_blur
from mobilevos.datasets.photos import list_photos
from mobilevos.datasets.pictures import CACHE, open_pictures
from mobilevos.errors import InputError

_TRIES = 50


class PhotoSource:
    """A folder with `images/` and `masks/`: `images/<name>.webp` (or jpg, png) goes with `masks/<name>.png`.

    Masks are 1-bit, gray or palette images (see `datasets.labels`); their ids are instances.
    """

    def __init__(self, root: Path | str, *, cache: Path | str | None = CACHE, short_side: int | None = None) -> None:
        """List the photos and decode them below `cache`, unless that has been done before."""
        self.root = Path(root)
        self._pictures = open_pictures(list_photos(self.root), None if cache is None else Path(cache), short_side)

    def __len__(self) -> int:
        return len(self._pictures)

    def photo(self, index: int) -> np.ndarray:
        """A photo as it is: (H, W, 3) uint8 RGB."""
        return self._pictures[index][0]

    def sample(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip:
        """Draw a photo and set it, or the objects in it, in motion."""
        for _ in range(_TRIES):
            index = int(rng.integers(len(self)))
            photo, labels = self._pictures[index]
            labels = cv2.LUT(labels, choose_objects(rng, labels, objects))
            count = count_objects(labels)
            cut_off = any(touches_border(labels, i) for i in range(1, count + 1))
            if cut_off and rng.random() < config.whole:
                continue
            crop = crop_around_objects(rng, config, labels)
            if crop is None:
                continue
            apart = rng.random() < config.independent
            if apart and not cut_off:
                frames, masks = self._moving_objects(rng, config, photo, labels, crop, count)
            else:
                frames, masks = moving_photo(rng, config, photo, labels, crop)
            name = self._pictures.files[index].image.stem
            clip = finish(rng, config, frames, masks, objects=objects, cutouts=self, name=name)
            if clip is not None:
                return clip
        raise InputError(
            f"no object of at least {config.min_pixels} pixels was found in {_TRIES} photos of {self.root}"
        )

    def cutout(self, rng: np.random.Generator) -> Layer | None:
        """A random object that no border cuts off; None where none was found in a few photos."""
        return cut_out_one(rng, (self._pictures[int(rng.integers(len(self)))] for _ in range(4)))

    def texture(self, rng: np.random.Generator) -> np.ndarray:
        """A random photo."""
        return self._pictures[int(rng.integers(len(self)))][0]

    def _moving_objects(
        self,
        rng: np.random.Generator,
        config: ClipConfig,
        photo: np.ndarray,
        labels: np.ndarray,
        crop: np.ndarray,
        count: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Objects that move each on its own over the photo without them, or over another one."""
        size = config.size
        middle = ((size - 1) / 2, (size - 1) / 2)
        camera = random_trajectory(rng, config, middle, 0.6)
        to_clip = np.linalg.inv(crop)
        sprites = []
        for label in rng.permutation(count) + 1:
            layer = cut_out(photo, labels, int(label))
            assert layer is not None  # every chosen object has pixels
            pose = to_clip @ translation(*layer.corner)
            if rng.random() < config.shrink:
                scale = rng.uniform(0.33, 1.0)
                pose = pose @ linear(scale_x=scale, scale_y=scale, about=layer.center)
            layer, to_layer = shrunk(layer, float(np.sqrt(abs(np.linalg.det(pose)))))
            pose = pose @ np.linalg.inv(to_layer)
            x, y = (pose @ [*layer.center, 1.0])[:2]
            path = leave(rng, config, random_trajectory(rng, config, (x, y)))
            deformation = random_deformation(rng, config) if rng.random() < config.elastic else None
            sprites.append(Sprite(layer, camera @ path @ pose, int(label), deformation, blur=random_blur(rng, config)))
        if rng.random() < config.other_background:
            photo = self.texture(rng)
            crop = crop_anywhere(rng, config, photo.shape[:2])
        else:
            photo = fill_in(photo, ((labels > 0) & (labels < VOID)).view(np.uint8))
        window = (0, 0, size, size)
        to_photo = crop @ np.linalg.inv(camera)
        frames = np.stack([warp(photo, view, window, border=cv2.BORDER_REFLECT_101) for view in to_photo])
        masks = np.zeros((config.frames, size, size), np.uint8)
        for sprite in sprites:
            paste(frames, masks, sprite)
        return frames, masks


def moving_photo(
    rng: np.random.Generator, config: ClipConfig, photo: np.ndarray, labels: np.ndarray, crop: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The whole photo moves and deforms.

    Args:
        photo, labels: (H, W, 3) and (H, W) uint8.
        crop: (3, 3) map from the clip to the photo in frame 0.
    Returns:
        (T, S, S, 3) frames and (T, S, S) masks.
    """
    middle = ((config.size - 1) / 2, (config.size - 1) / 2)
    ways = [crop @ np.linalg.inv(random_trajectory(rng, config, middle)) for _ in range(3)]
    views = min(ways, key=lambda way: _beyond(way, config.size, photo.shape[:2]))
    fields = random_deformation(rng, config) if rng.random() < config.elastic else None
    return show([(photo, labels)] * config.frames, views, config.size, fields)


def _beyond(views: np.ndarray, size: int, shape: tuple[int, ...]) -> float:
    """Which part of a clip's frames lies beyond the border of a photo of shape (H, W)."""
    places = np.linspace(0, size - 1, 7)
    x, y = np.meshgrid(places, places)
    seen = views[:, :2] @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    inside = (seen >= 0) & (seen < np.array([shape[1], shape[0]])[:, None])
    return 1 - float(inside.all(1).mean())


def leave(rng: np.random.Generator, config: ClipConfig, path: np.ndarray) -> np.ndarray:
    """Sometimes send something out of the picture for a while, not in frame 0.

    Args:
        path: (T, 3, 3) its trajectory.
    """
    if len(path) < 2 or rng.random() >= config.leave:
        return path
    first = int(rng.integers(1, len(path)))
    last = int(rng.integers(first, len(path)))
    angle = rng.uniform(0, 2 * np.pi)
    away = translation(1.2 * config.size * np.cos(angle), 1.2 * config.size * np.sin(angle))
    path = path.copy()
    path[first : last + 1] = away @ path[first : last + 1]
    return path
