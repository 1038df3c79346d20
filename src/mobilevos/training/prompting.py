"""Rough prompts, read the way they are in use.

There is a first guess from the marks, then another look that knows the guess, and often one more click in the middle of
what was wrong with it.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import torch
from torch import Tensor

from mobilevos.arrays import VOID, Bits
from mobilevos.model.aggregation import aggregate
from mobilevos.model.features import Features
from mobilevos.model.memory import Memory
from mobilevos.model.network import VOSNetwork
from mobilevos.tracking.prompts import PROMPT_STRENGTH, learned_radius
from mobilevos.training.unroll import rated

LEAST_ERROR = 4
"""Cells of stride 4: nobody clicks at less."""


class Guess(NamedTuple):
    """The objects of a prompt."""

    logits: Tensor
    """(B, 1 + N, H/4, W/4), aggregated"""
    rating: Tensor | None
    """(B, N), logits of how well the masks fit, where that was asked for"""


def guess(
    network: VOSNetwork,
    frames: Tensor,
    features: Features,
    prompts: Tensor,
    before: Tensor | None = None,
    *,
    rate: bool = False,
) -> Guess:
    """The objects in frames, from prompts drawn on the same frames.

    The memory has two slots, both of the frame itself: one with the marks, and one with the guess before; the marks
    take its place where there is none.

    Args:
        frames: (B, 3, H, W), 0..255, with their features.
        prompts: (B, 2, N, H, W), 0 and 1: what was marked as the objects and as not the objects.
        before: (B, N, H/s, W/s), masks as they were guessed so far.
        rate: whether the network also judges its masks.
    """
    on, off = (network.given_masks(prompt.float() * PROMPT_STRENGTH) for prompt in prompts.unbind(1))
    marked = network.memorise(frames, features, on, off)
    guessed = marked if before is None else network.memorise(frames, features, before)
    memory = Memory(
        features.key[:, :, None].expand(-1, -1, 2, -1, -1),
        torch.stack([marked, guessed], 3),
        torch.tensor([0.0, 1.0], device=marked.device),
    )
    prediction = network.predict(features, memory)
    logits = aggregate(prediction.logits)
    return Guess(logits, rated(network, features, memory, prediction, logits) if rate else None)


def clicked(prompts: Tensor, predicted: Tensor, labels: Tensor) -> Tensor:
    """The prompts (B, 2, N, H, W) with one click more for each object: in the middle of the largest error of its mask.

    Args:
        predicted: (B, H/4, W/4), ids.
        labels: (B, H, W), ids with void.
    """
    further = prompts.clone().cpu().numpy()
    mine, truth = predicted.cpu().numpy(), labels[..., 1::4, 1::4].cpu().numpy()
    for b, n in np.ndindex(len(further), further.shape[2]):
        valid, inside = truth[b] != VOID, truth[b] == n + 1
        if not inside.any():
            continue
        missing, surplus = inside & (mine[b] != n + 1), valid & ~inside & (mine[b] == n + 1)
        points = [_middle(error) for error in (missing, surplus)]
        sizes = [0 if point is None else point[2] for point in points]
        kind = int(np.argmax(sizes))
        if (point := points[kind]) is not None and point[2] >= LEAST_ERROR:
            plane = further[b, kind, n]
            cv2.circle(plane, (4 * point[0] + 1, 4 * point[1] + 1), learned_radius(len(plane)), 1, -1)
    return torch.from_numpy(further).to(prompts.device)


def _middle(error: Bits) -> tuple[int, int, int] | None:
    """x, y of the innermost cell of the largest part, and the part's size; None where nothing is wrong."""
    count, parts, stats, _ = cv2.connectedComponentsWithStats(error.view(np.uint8), connectivity=4)
    if count < 2:
        return None
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    part = np.pad(parts == largest, 1).view(np.uint8)
    y, x = np.unravel_index(cv2.distanceTransform(part, cv2.DIST_L2, 3).argmax(), part.shape)
    return int(x) - 1, int(y) - 1, int(stats[largest, cv2.CC_STAT_AREA])
