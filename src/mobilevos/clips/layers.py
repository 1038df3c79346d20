"""Cut-outs: objects taken out of one picture and moved over another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.motion import warp


@dataclass(frozen=True)
class Layer:
    """An object with soft edges, apart from its background."""

    colors: np.ndarray
    """(h, w, 4) uint8 RGB and opacity."""
    corner: tuple[int, int] = (0, 0)
    """x, y of its upper left corner in the picture that it was taken from."""
    void: np.ndarray | None = None
    """(h, w) uint8, 1 where it is not certain what belongs to it; None where all is."""

    @property
    def shape(self) -> tuple[int, int]:
        """Its height and width."""
        return self.colors.shape[0], self.colors.shape[1]

    @property
    def center(self) -> tuple[float, float]:
        """Middle of the layer, x and y."""
        return (self.colors.shape[1] - 1) / 2, (self.colors.shape[0] - 1) / 2


@dataclass(frozen=True)
class Sprite:
    """A layer on its way through a clip."""

    layer: Layer
    poses: np.ndarray
    """(T, 3, 3) maps from the layer's pixels to the clip's."""
    label: int
    """What its pixels are called in the clip's masks: an object's id, or 0."""
    deformation: np.ndarray | None = None
    """(T, 33, 33, 2), see `motion.random_deformation`."""
    behind: bool = False
    """Whether labelled objects hide it."""
    blur: float = 0.0
    """Length of the motion blur as a part of the way it moves in a frame."""


def cut_out(image: np.ndarray, labels: np.ndarray, object_id: int) -> Layer | None:
    """Take an object out of a picture, or None where it is missing.

    Args:
        image: (H, W, 3) uint8 RGB.
        labels: (H, W) uint8 label map; void pixels around the object go with it and stay void.
    """
    mask = np.equal(labels, object_id).view(np.uint8)
    x, y, width, height = cv2.boundingRect(mask)
    if width == 0:
        return None
    # Room for deformations, and for the void outline.
    margin = 6 + max(width, height) // 8
    x0, y0 = max(0, x - margin), max(0, y - margin)
    window = np.s_[y0 : y + height + margin, x0 : x + width + margin]
    mask, around = mask[window], labels[window]
    void = np.equal(around, VOID).view(np.uint8)
    void &= cv2.dilate(mask, np.ones((9, 9), np.uint8))
    whole = (mask | void) * np.uint8(255)
    return Layer(with_opacity(image[window], faded(whole)), (x0, y0), void if void.any() else None)


def faded(opacity: np.ndarray) -> np.ndarray:
    """Opacity (H, W) that falls off over the outermost pixels, which mix the object with its background."""
    return cv2.blur(cv2.erode(opacity, np.ones((3, 3), np.uint8)), (3, 3))


def with_opacity(image: np.ndarray, opacity: np.ndarray) -> np.ndarray:
    """(H, W, 3) and (H, W) as (H, W, 4)."""
    colors = cv2.cvtColor(image, cv2.COLOR_RGB2RGBA)
    cv2.insertChannel(opacity, colors, 3)
    return colors


def touches_border(labels: np.ndarray, object_id: int) -> bool:
    """Whether the picture's border cuts the object off, so that it cannot be moved into view credibly."""
    edges = (labels[0], labels[-1], labels[:, 0], labels[:, -1])
    return sum(int(np.count_nonzero(edge == object_id)) for edge in edges) > 0.03 * sum(labels.shape)


def fill_in(image: np.ndarray, hole: np.ndarray) -> np.ndarray:
    """Paint over a hole: smooth colours from around it, and the texture of another part of the picture.

    Args:
        image: (H, W, 3) uint8.
        hole: (H, W) uint8, 1 where to paint.
    """
    height, width = hole.shape
    hole = cv2.dilate(hole, np.ones((9, 9), np.uint8))  # shadows and soft edges go too
    small = (32, 32)
    weight = cv2.resize(1.0 - hole.astype(np.float32), small, interpolation=cv2.INTER_AREA)
    base = cv2.resize(image * (1 - hole)[..., None], small, interpolation=cv2.INTER_AREA).astype(np.float32)
    total, total_weight = base + 1e-3, weight + 1e-5
    for reach in (3, 7, 15, 31):  # near colours count most, far ones only where there are no nearer ones
        gain = 10.0 ** (-reach / 4)
        total = total + gain * cv2.blur(base, (reach, reach))
        total_weight = total_weight + gain * cv2.blur(weight, (reach, reach))
    smooth = cv2.resize(total / total_weight[..., None], (width, height), interpolation=cv2.INTER_LINEAR)
    other = cv2.flip(image, 1).astype(np.float32)
    detail = (other - cv2.blur(other, (15, 15))) * 0.7
    detail *= 1.0 - cv2.flip(hole, 1)[..., None]
    soft = cv2.blur(hole.astype(np.float32), (5, 5))
    painted = np.clip(smooth + detail, 0, 255).astype(np.uint8)
    return cv2.blendLinear(painted, image, soft, 1.0 - soft)


def random_blob(rng: np.random.Generator, texture: np.ndarray, size: int) -> Layer:
    """A smooth random shape with the texture of a picture (H, W, 3), about `size` pixels wide."""
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    radius = np.ones(48)
    for wave in range(1, 5):
        radius += rng.normal() * 0.35 / wave * np.cos(wave * angles + rng.uniform(0, 2 * np.pi))
    radius = np.clip(radius, 0.3, 2.0) / 2.0 * (size / 2)
    stretch = np.exp(rng.uniform(-0.6, 0.6))
    points = np.stack([radius * np.cos(angles) * stretch, radius * np.sin(angles) / stretch], axis=1)
    points += 2 - points.min(axis=0)
    width, height = np.ceil(points.max(axis=0)).astype(int) + 3
    shape = np.zeros((height, width), np.uint8)
    cv2.fillPoly(shape, [np.round(points * 8).astype(np.int32)], 255, cv2.LINE_AA, 3)
    rows, columns = texture.shape[:2]
    part = rng.uniform(0.2, 1.0)
    h, w = max(2, int(rows * part)), max(2, int(columns * part))
    y, x = int(rng.integers(rows - h + 1)), int(rng.integers(columns - w + 1))
    colors = cv2.resize(np.ascontiguousarray(texture[y : y + h, x : x + w]), (int(width), int(height)))
    return Layer(with_opacity(colors, shape))


def shrunk(layer: Layer, scale: float) -> tuple[Layer, np.ndarray]:
    """Make a layer smaller ahead of drawing it at `scale` < 1, against aliasing.

    Returns:
        the layer, and the map from the original layer's pixels to its own.
    """
    if scale > 0.6:
        return layer, np.eye(3)
    height, width = layer.shape
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    ratio = np.array([size[0] / width, size[1] / height])
    to_small = np.diag([*ratio, 1.0])
    to_small[:2, 2] = (ratio - 1) / 2
    colors = cv2.resize(layer.colors, size, interpolation=cv2.INTER_AREA)
    void = None if layer.void is None else cv2.resize(layer.void, size, interpolation=cv2.INTER_NEAREST)
    return replace(layer, colors=colors, void=void), to_small


def paste(frames: np.ndarray, masks: np.ndarray, sprite: Sprite) -> None:
    """Draw a sprite into every frame and mask, in place.

    Args:
        frames: (T, S, S, 3) uint8.
        masks: (T, S, S) uint8.
    """
    for t in range(len(frames)):
        _paste_frame(frames[t], masks[t], sprite, t)


def _paste_frame(frame: np.ndarray, mask: np.ndarray, sprite: Sprite, t: int) -> None:
    layer, pose = sprite.layer, sprite.poses[t]
    window = _window(layer.shape, pose, frame.shape[:2])
    if window is None:
        return
    x, y, width, height = window
    field = None if sprite.deformation is None or t == 0 else sprite.deformation[t]
    to_layer = np.linalg.inv(pose)
    colors = warp(layer.colors, to_layer, window, field)
    if sprite.blur:
        way = _way(sprite, t) * sprite.blur
        colors = blur_along(colors, float(way[0]), float(way[1]))
    opacity = cv2.extractChannel(colors, 3)
    there = np.s_[y : y + height, x : x + width]
    if sprite.behind:
        opacity[mask[there] != 0] = 0
    weight = opacity * np.float32(1 / 255)
    frame[there] = cv2.blendLinear(cv2.cvtColor(colors, cv2.COLOR_RGBA2RGB), frame[there], weight, 1 - weight)
    # A sprite without a label is background wherever it hides what is behind it.
    visible = opacity > 127
    np.copyto(mask[there], np.uint8(sprite.label), where=visible)
    if sprite.label and layer.void is not None:
        void = warp(layer.void, to_layer, window, field, interpolation=cv2.INTER_NEAREST)
        np.copyto(mask[there], np.uint8(VOID), where=visible & (void > 0))


def _window(shape: tuple[int, ...], pose: np.ndarray, canvas: tuple[int, ...]) -> tuple[int, int, int, int] | None:
    """The part of the canvas that a layer covers: x, y, width, height; None where it is out of sight."""
    height, width = shape
    corners = pose[:2, :2] @ np.array([[-1, width, -1, width], [-1, -1, height, height]]) + pose[:2, 2:]
    x0, y0 = np.maximum(np.floor(corners.min(axis=1)), 0).astype(int).tolist()
    x1, y1 = np.minimum(np.ceil(corners.max(axis=1)) + 1, (canvas[1], canvas[0])).astype(int).tolist()
    return (x0, y0, x1 - x0, y1 - y0) if x1 > x0 and y1 > y0 else None


def _way(sprite: Sprite, t: int) -> np.ndarray:
    """How far the middle of a sprite moves around frame t, x and y in pixels."""
    before, after = max(t - 1, 0), min(t + 1, len(sprite.poses) - 1)
    middle = np.array([*sprite.layer.center, 1.0])
    return ((sprite.poses[after] - sprite.poses[before]) @ middle)[:2] / max(after - before, 1)


def blur_along(picture: np.ndarray, x: float, y: float, longest: float = 13.0) -> np.ndarray:
    """Blur along a straight way of (x, y) pixels, at most `longest`.

    Args:
        picture: (H, W, C) uint8.
    """
    length = float(np.hypot(x, y))
    if length < 1.5:
        return picture
    x, y = x * min(1.0, longest / length), y * min(1.0, longest / length)
    reach = int(np.ceil(max(abs(x), abs(y)) / 2))
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.float32)
    ends = [(round((reach + s * x / 2) * 16), round((reach + s * y / 2) * 16)) for s in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_8, 4)
    return cv2.filter2D(picture, -1, kernel / kernel.sum())
