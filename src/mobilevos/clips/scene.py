"""What is added to a clip once its frames stand: more objects, distractors and occluders, then the camera's look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.appearance import change_appearance, recolor
from mobilevos.clips.clip import Clip, ClipConfig
from mobilevos.clips.layers import (
    Layer,
    Sprite,
    cut_out,
    faded,
    paste,
    random_blob,
    shrunk,
    touches_border,
    with_opacity,
)
from mobilevos.clips.motion import linear, random_deformation, random_trajectory, translation
from mobilevos.clips.objects import choose_objects, count_objects, keep_visible


class CutoutSource(Protocol):
    """Where objects and textures to add come from."""

    def cutout(self, rng: np.random.Generator) -> Layer | None:
        """A random object out of a random picture; None where none of use was found."""
        ...

    def texture(self, rng: np.random.Generator) -> np.ndarray:
        """A random picture, (H, W, 3) uint8."""
        ...


def cut_out_one(rng: np.random.Generator, pictures: Iterable[tuple[np.ndarray, np.ndarray]]) -> Layer | None:
    """A random object of the first of some pictures with labels in which the border does not cut it off."""
    for image, labels in pictures:
        labels = cv2.LUT(labels, choose_objects(rng, labels, 1))
        if not touches_border(labels, 1):
            layer = cut_out(image, labels, 1)
            if layer is not None:
                return layer
    return None


def finish(
    rng: np.random.Generator,
    config: ClipConfig,
    frames: np.ndarray,
    masks: np.ndarray,
    *,
    objects: int,
    cutouts: CutoutSource,
    name: str,
) -> Clip | None:
    """Populate a clip and give it the look of a camera, in place.

    Args:
        frames: (T, S, S, 3) uint8.
        masks: (T, S, S) uint8 with ids 1..n.
        objects: add objects until there are this many.
    Returns:
        the clip with ids 1..m for the objects that are seen in frame 0; None where there are none, or they fill it.
    """
    # Objects that come into view later are forgotten now, so that their ids are free for others.
    if not keep_visible(masks, config.min_pixels, config.max_fill):
        return None
    for label in range(count_objects(masks[0]) + 1, objects + 1):
        add_object(rng, config, frames, masks, cutouts, label)
    if rng.random() < config.distractor:
        add_distractor(rng, config, frames, masks, cutouts)
    if rng.random() < config.occluder and config.frames > 1:
        add_occluder(rng, config, frames, masks, cutouts)
    if not keep_visible(masks, config.min_pixels, config.max_fill):
        return None
    change_appearance(rng, config, frames)
    return Clip(frames, masks, name)


def transplanted(
    rng: np.random.Generator, config: ClipConfig, frames: np.ndarray, masks: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The objects of a clip, sometimes in other colours, before the frames of another place.

    Args:
        frames, place: (T, S, S, 3) uint8.
        masks: (T, S, S) uint8; what is void, as it is beyond a picture's border, stays behind.
    Returns:
        new frames and masks; edges are soft, and what is mostly the other place is no object any more.
    """
    masks = np.where(masks == VOID, np.uint8(0), masks)
    if rng.random() < 0.5:
        # One tall picture, so that all frames are recoloured alike.
        frames = recolor(rng, config, frames.reshape(-1, *frames.shape[2:])).reshape(frames.shape)
    blended = np.empty_like(frames)
    for t, (frame, behind) in enumerate(zip(frames, place, strict=True)):
        weight = faded(np.not_equal(masks[t], 0) * np.uint8(255)) * np.float32(1 / 255)
        blended[t] = cv2.blendLinear(frame, behind, weight, 1 - weight)
        masks[t][weight <= 0.5] = 0
    return blended, masks


def add_object(
    rng: np.random.Generator,
    config: ClipConfig,
    frames: np.ndarray,
    masks: np.ndarray,
    cutouts: CutoutSource,
    label: int,
    extent: tuple[float, float] = (0.2, 0.6),
) -> None:
    """Add a moving cut-out as object `label`, or as a part of the background where that is 0.

    `extent` bounds the length of its longer side.
    """
    layer = cutouts.cutout(rng)
    if layer is not None:
        length = config.size * rng.uniform(*extent)
        sprite = _moving(rng, config, layer, _free_place(rng, masks[0]), length, label, behind=rng.random() < 0.5)
        paste(frames, masks, sprite)


def add_distractor(
    rng: np.random.Generator, config: ClipConfig, frames: np.ndarray, masks: np.ndarray, cutouts: CutoutSource
) -> None:
    """Add an unlabelled cut-out; sometimes a copy of object 1 in slightly other colours."""
    if rng.random() >= config.look_alike:
        add_object(rng, config, frames, masks, cutouts, 0)
        return
    layer = cut_out(frames[0], masks[0], 1)
    if layer is not None:
        extent = max(layer.shape) * rng.uniform(0.7, 1.2)
        place, behind = _free_place(rng, masks[0]), rng.random() < 0.7
        paste(frames, masks, _moving(rng, config, layer, place, extent, 0, behind=behind, recolored=1.0))


def add_occluder(
    rng: np.random.Generator, config: ClipConfig, frames: np.ndarray, masks: np.ndarray, cutouts: CutoutSource
) -> None:
    """Let something cross the way of object 1 so that it hides it in a later frame."""
    t = int(rng.integers(1, len(frames)))
    x, y, width, height = cv2.boundingRect(np.equal(masks[t], 1).view(np.uint8))
    if width == 0:
        return
    size = max(width, height)
    extent = float(np.clip(size * rng.uniform(0.5, 1.5), 0.1 * config.size, 0.9 * config.size))
    layer = cutouts.cutout(rng) if rng.random() < 0.5 else None
    if layer is None:
        layer = random_blob(rng, cutouts.texture(rng), max(16, round(extent)))
    place = (x + width * rng.uniform(0.2, 0.8), y + height * rng.uniform(0.2, 0.8))
    angle = rng.uniform(0, 2 * np.pi)
    speed = (size + extent) / 2 * rng.uniform(0.8, 1.4)
    sprite = _moving(rng, config, layer, place, extent, 0)
    poses = [
        translation((i - t) * speed * np.cos(angle), (i - t) * speed * np.sin(angle)) @ sprite.poses[0]
        for i in range(len(frames))
    ]
    paste(frames, masks, replace(sprite, poses=np.stack(poses)))


def _moving(
    rng: np.random.Generator,
    config: ClipConfig,
    layer: Layer,
    place: tuple[float, float],
    extent: float,
    label: int,
    *,
    behind: bool = False,
    recolored: float = 0.5,
) -> Sprite:
    """A layer put at a place of frame 0, `extent` pixels large, with a motion and sometimes colours of its own."""
    scale = extent / max(layer.shape)
    center = layer.center
    layer, to_layer = shrunk(layer, scale)
    if rng.random() < recolored:
        colors = with_opacity(
            recolor(rng, config, cv2.cvtColor(layer.colors, cv2.COLOR_RGBA2RGB)), cv2.extractChannel(layer.colors, 3)
        )
        layer = replace(layer, colors=colors)
    flip = -1.0 if rng.random() < 0.5 else 1.0
    pose = linear(angle=rng.normal() * 15, scale_x=flip * scale, scale_y=scale, about=place)
    pose = pose @ translation(place[0] - center[0], place[1] - center[1]) @ np.linalg.inv(to_layer)
    return Sprite(
        layer,
        random_trajectory(rng, config, place) @ pose,
        label,
        random_deformation(rng, config) if rng.random() < config.elastic else None,
        behind,
        random_blur(rng, config),
    )


def random_blur(rng: np.random.Generator, config: ClipConfig) -> float:
    """How long a moving object's shutter is open, as a part of a frame; 0 for most."""
    return rng.uniform(0.2, 0.7) if rng.random() < config.motion_blur else 0.0


def _free_place(rng: np.random.Generator, mask: np.ndarray) -> tuple[float, float]:
    """A random place of frame 0, where there is no object if one of a few draws finds such."""
    for _ in range(6):
        x, y = rng.uniform(0.05, 0.95, size=2) * mask.shape
        if mask[int(y), int(x)] == 0:
            break
    return float(x), float(y)
