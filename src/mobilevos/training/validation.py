"""Validation: the weights at hand, used as a user would use them, on clips that are not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import torch

from mobilevos.arrays import VOID, Image
from mobilevos.clips.sheet import paint
from mobilevos.datasets.davis import davis_videos, object_count
from mobilevos.datasets.video import Video
from mobilevos.errors import InputError
from mobilevos.evaluation.davis import score_sequence
from mobilevos.model.network import VOSNetwork, upsample
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.tracking import Tracker
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.prompts import draw_box, draw_clicks
from mobilevos.training.recipe import Recipe
from mobilevos.training.unroll import unroll
from mobilevos.weights import WORKING_SIZE

LEAST_FRAMES = 3
"""The first and the last frame of a clip are not scored."""
LEAST_PIXELS = 200
"""Backwards, tracking begins where at least so many pixels of objects are seen."""


@dataclass(frozen=True)
class ClipScore:
    """How well one clip was followed."""

    name: str
    j: float
    f: float
    picture: np.ndarray
    """(H, W, 3), the frame with the median J, overlaid"""

    @property
    def j_and_f(self) -> float:
        return (self.j + self.f) / 2


def check_clips(root: Path, clips: Sequence[str]) -> None:
    """Raise an InputError where clips of a DAVIS folder cannot be validated on."""
    if not clips:
        raise InputError(f"expected the names of clips of {str(root)!r} to validate on, got none")
    for name in clips:
        video = _video(root, name)
        if len(video.pictures) < LEAST_FRAMES:
            raise InputError(
                f"expected at least {LEAST_FRAMES} frames of {name!r} in {str(root)!r}, got {len(video.pictures)}"
            )
        if not object_count(video.labels(next(iter(video.truths)))):
            raise InputError(f"the first annotation of {name!r} in {str(root)!r} has no object")


@dataclass(frozen=True)
class Validated:
    """What a validation says of weights."""

    clips: list[ClipScore]
    """Tracked from the first mask"""
    values: dict[str, float]
    """Everything that is logged, by column"""
    quality: float
    """What the best weights are chosen on"""

    @property
    def j_and_f(self) -> float:
        return mean_score(self.clips)


def validate_recipe(network: VOSNetwork, recipe: Recipe) -> Validated:
    """Follow the validation clips of a recipe as it says: forwards, backwards, from prompts if it has them."""
    validation, root = recipe.validation, Path(recipe.data_root) / recipe.validation.root
    tracker = Tracker(TorchRuntime(network), queue=recipe.validation_queue, size=validation.size)
    clips = follow(tracker, root, validation.clips)
    quality = mean_score(clips)
    values = {"validation": quality, **{f"val/{clip.name}": clip.j_and_f for clip in clips}}
    if validation.backwards:
        values["val/backwards"] = mean_score(follow(tracker, root, validation.clips, backwards=True))
        quality = (quality + values["val/backwards"]) / 2
    if recipe.loss.prompt:
        prompts = validate_prompts(network, root, validation.clips, size=validation.size)
        values |= {"val/box": prompts.box, "val/clicks": prompts.clicks}
    return Validated(clips, values, quality)


def validate(
    network: VOSNetwork,
    root: Path,
    clips: Sequence[str],
    *,
    queue: int | Literal["auto"] | None = "auto",
    size: int | None = WORKING_SIZE,
    backwards: bool = False,
) -> list[ClipScore]:
    """Track clips of a DAVIS folder from their first mask, or backwards from their last, and score them."""
    return follow(Tracker(TorchRuntime(network), queue=queue, size=size), root, clips, backwards=backwards)


def follow(tracker: Tracker, root: Path, clips: Sequence[str], *, backwards: bool = False) -> list[ClipScore]:
    """Track clips of a DAVIS folder with any runtime, and score them.

    backwards: from the last frame that shows the object to the first one.
    """
    return [_score(tracker, root, name, backwards) for name in clips]


@torch.inference_mode()
def validate_teacher(
    network: VOSNetwork, root: Path, clips: Sequence[str], *, frames: int = 6, size: int | None = WORKING_SIZE
) -> list[ClipScore]:
    """How good the lessons of a teacher are that may look at the truth: is there anything to learn from it?

    As in training with `teacher.forcing`: clips are cut into pieces of `frames` frames, each beginning with the last
    frame of the piece before, and each frame is predicted from the true masks of all earlier ones of its piece.
    """
    network = network.eval()
    results = []
    for name in clips:
        images, truths = _read(root, name)
        geometry = Geometry.fit(truths.shape[1], truths.shape[2], size)
        pixels = torch.from_numpy(np.stack([geometry.frame(image) for image in images])).permute(0, 3, 1, 2).float()
        ids = range(1, int(truths[0].max()) + 1)
        given = np.stack([geometry.masks(truth, ids) for truth in truths])
        masks = [truths[0]]
        for begin in range(0, len(images) - 1, frames - 1):
            piece = slice(begin, begin + frames)
            out = unroll(
                network, pixels[None, piece], torch.from_numpy(given)[None, piece], queue=None, teacher_forcing=True
            )
            probabilities = upsample(out.logits[0], 4).softmax(1).numpy()
            masks += [geometry.restore(frame).argmax(0).astype(np.uint8) for frame in probabilities]
        results.append(_scored(name, images, masks, truths))
    return results


@dataclass(frozen=True)
class PromptScore:
    """Mean IoU of masks made from rough marks on single frames."""

    box: float
    """From one box"""
    clicks: float
    """From three clicks inside the object"""
    frames: int


def validate_prompts(
    network: VOSNetwork, root: Path, clips: Sequence[str], *, every: int = 10, size: int | None = WORKING_SIZE
) -> PromptScore:
    """Turn a box, and three clicks, into a mask on one in `every` frames of DAVIS clips."""
    tracker = Tracker(TorchRuntime(network), size=size)
    rng = np.random.default_rng(0)
    boxes, clicks = [], []
    for name in clips:
        video = _video(root, name)
        for frame in list(video.pictures)[::every]:
            image, truth = video.picture(frame), video.labels(frame) == 1
            if not truth.any():
                continue
            height, width = truth.shape
            x, y, w, h = cv2.boundingRect(truth.astype(np.uint8))
            depth = cv2.distanceTransform(np.pad(truth.astype(np.uint8), 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
            inside = np.argwhere(depth >= 0.4 * depth.max())[:, ::-1]
            points = [np.unravel_index(depth.argmax(), depth.shape)[::-1], *rng.choice(inside, 2)]
            drawn = draw_clicks(height, width, [(int(px), int(py)) for px, py in points])
            boxes.append(_iou(tracker.propose(image, {1: draw_box(height, width, (x, y, w, h))}).mask == 1, truth))
            clicks.append(_iou(tracker.propose(image, {1: drawn}).mask == 1, truth))
    return PromptScore(float(np.mean(boxes)), float(np.mean(clicks)), len(boxes))


def _iou(mask: np.ndarray, truth: np.ndarray) -> float:
    return float((mask & truth).sum() / (mask | truth).sum())


def mean_score(scores: Sequence[ClipScore]) -> float:
    return float(np.mean([score.j_and_f for score in scores]))


def _score(tracker: Tracker, root: Path, name: str, backwards: bool = False) -> ClipScore:
    images, truths = _read(root, name)
    if backwards:
        visible = np.flatnonzero((truths > 0).sum((1, 2)) >= LEAST_PIXELS)
        if len(visible) == 0:
            raise InputError(f"expected an object of at least {LEAST_PIXELS} pixels in a frame of {name!r}")
        images, truths = images[visible[-1] :: -1], truths[visible[-1] :: -1]
    masks = [tracker.start(images[0], truths[0]).mask, *(tracker.step(image).mask for image in images[1:])]
    return _scored(name, images, masks, truths)


def _scored(name: str, images: list[Image], masks: list[np.ndarray], truths: np.ndarray) -> ClipScore:
    scores = score_sequence(np.stack(masks), truths, name)
    j, f = np.asarray(scores.j), np.asarray(scores.f)
    median = 1 + int(np.argsort(j.mean(0))[j.shape[1] // 2])
    return ClipScore(name, float(j.mean()), float(f.mean()), paint(images[median], masks[median]))


def _read(root: Path, name: str) -> tuple[list[Image], np.ndarray]:
    """Frames (H, W, 3) and annotations (T, H, W) of a clip; void is background, as in evaluation."""
    video = _video(root, name)
    labels = np.stack([video.labels(frame) for frame in video.truths])
    return [video.picture(frame) for frame in video.pictures], np.where(labels == VOID, np.uint8(0), labels)


def _video(root: Path, name: str) -> Video:
    (video,) = davis_videos(root, [name])
    if not video.pictures or video.pictures.keys() != video.truths.keys():
        raise InputError(f"expected as many frames as annotations of {name!r} in {str(root)!r}, at least one")
    return video
