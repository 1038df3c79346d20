"""Validation: the weights at hand, used as a user would use them, on clips that are not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mobilevos.data.pictures import read_image, read_labels
from mobilevos.data.sheet import paint
from mobilevos.errors import InputError
from mobilevos.evaluation.davis import score_sequence
from mobilevos.model.network import VOSNetwork
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.tracking import Tracker


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


def validate(
    network: VOSNetwork, root: Path, clips: Sequence[str], *, queue: int | None = 2, size: int | None = 480
) -> list[ClipScore]:
    """Track clips of a DAVIS folder from their first mask, and score them."""
    tracker = Tracker(TorchRuntime(network), queue=queue, size=size)
    return [_score(tracker, root, name) for name in clips]


def mean_score(scores: Sequence[ClipScore]) -> float:
    return float(np.mean([score.j_and_f for score in scores]))


def _score(tracker: Tracker, root: Path, name: str) -> ClipScore:
    frames = sorted((root / "JPEGImages" / "480p" / name).glob("*.jpg"))
    annotations = sorted((root / "Annotations" / "480p" / name).glob("*.png"))
    if not frames or len(frames) != len(annotations):
        raise InputError(f"expected as many frames as annotations of {name!r} in {str(root)!r}, at least one")
    truths = np.stack([read_labels(path) for path in annotations])
    images = [read_image(path) for path in frames]
    masks = [tracker.start(images[0], truths[0]).mask, *(tracker.step(image).mask for image in images[1:])]
    scores = score_sequence(np.stack(masks), truths, name)
    j, f = np.asarray(scores.j), np.asarray(scores.f)
    median = 1 + int(np.argsort(j.mean(0))[j.shape[1] // 2])
    return ClipScore(name, float(j.mean()), float(f.mean()), paint(images[median], masks[median]))
