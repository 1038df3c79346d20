"""A network followed through a training clip, with the memory it will have when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mobilevos.model.aggregation import aggregate
from mobilevos.model.features import Features, Prediction
from mobilevos.model.memory import Memory
from mobilevos.model.network import VOSNetwork


@dataclass(frozen=True)
class Unrolled:
    """Predictions for the last P frames of B clips with N objects: all but the first, and but the prefix."""

    logits: Tensor
    """(B, P, 1 + N, H/4, W/4), aggregated"""
    z: Tensor
    """(B * P * N, C, H/4, W/4), objects innermost"""
    rating: Tensor | None = None
    """(B, P, N), logits of how well the masks fit, where that was asked for; nothing before them learns from it"""
    first: Features | None = None
    """Of the first frames"""


class Slot(NamedTuple):
    """A remembered frame; the annotated one has no time, because it is never too old."""

    time: int | None
    key: Tensor
    value: Tensor


def one_hot(labels: Tensor, objects: int) -> Tensor:
    """Ids (..., H, W) to masks (..., N, H, W) of 0 and 1; void counts as background."""
    ids = torch.arange(1, objects + 1, device=labels.device, dtype=labels.dtype)
    return (labels.unsqueeze(-3) == ids[:, None, None]).float()


def unroll(
    network: VOSNetwork,
    frames: Tensor,
    masks: Tensor,
    *,
    queue: int | None = 2,
    teacher_forcing: bool = False,
    spoil: Tensor | None = None,
    prefix: int = 0,
    rate: bool = False,
) -> Unrolled:
    """Follow the objects of frame 0 through the clips.

    Args:
        frames: (B, T, 3, H, W), 0..255.
        masks: (B, T, N, H, W), the ground truth; only frame 0 is looked at unless `teacher_forcing`.
        queue: slots of the memory: the first frame, then the most recent ones; None remembers every frame, once. In a
            queue the first frame is the most recent one too at the beginning, so it has two slots from the start.
        teacher_forcing: remember the ground truth of every frame instead of what was predicted: what a teacher may
            see and a student never has.
        spoil: (B, T, N, H/s, W/s) or None; where not NaN, it replaces the masks that are remembered, so that the
            network learns to recover from mistakes it did not make itself.
        prefix: so many frames after the first are followed without gradient, and their predictions not given back: the
            memory then holds what the network would have in use, at little cost. The first frame keeps its gradient,
            because that is how the network learns to remember what it is given.
        rate: whether the network also judges its masks.
    """
    batch, length = frames.shape[:2]
    every = _encode(network, frames, prefix)
    given = network.given_masks(masks.flatten(0, 1)).unflatten(0, (batch, length))

    def remember(t: int, seen: Tensor) -> tuple[Tensor, Tensor]:
        return every[t].key, network.memorise(frames[:, t], every[t], seen)

    first = remember(0, given[:, 0])
    anchor, recent = Slot(None, *first), [] if queue is None else [Slot(0, *first)]
    logits, z, ratings = [], [], []
    for t in range(1, length):
        with nullcontext() if t > prefix else torch.no_grad():
            slots = [anchor, *(recent if queue is None else recent[1 - queue :] if queue > 1 else [])]
            memory = _memory(slots, t)
            prediction = network.predict(every[t], memory)
            aggregated = aggregate(prediction.logits)
            if t > prefix:
                logits.append(aggregated)
                z.append(prediction.z.unflatten(0, (batch, -1)))
                if rate:
                    ratings.append(rated(network, every[t], memory, prediction, aggregated))
            if t + 1 < length:
                seen = given[:, t] if teacher_forcing else network.own_masks(aggregated)
                if spoil is not None:
                    seen = torch.where(spoil[:, t].isnan(), seen, spoil[:, t].nan_to_num())
                recent.append(Slot(t, *remember(t, seen)))
    return Unrolled(
        torch.stack(logits, 1), torch.stack(z, 1).flatten(0, 2), torch.stack(ratings, 1) if rate else None, every[0]
    )


def rated(network: VOSNetwork, features: Features, memory: Memory, prediction: Prediction, logits: Tensor) -> Tensor:
    """`network.rate` on what is cut off from the rest of the network."""
    cut = Prediction(
        prediction.logits, prediction.z, None if prediction.context is None else prediction.context.detach()
    )
    remembered = Memory(memory.keys.detach(), memory.values.detach(), memory.nearness)
    masks = network.own_masks(logits.detach())
    return network.rate(features.map(Tensor.detach), remembered, cut, masks)


def _memory(slots: list[Slot], now: int) -> Memory:
    keys = torch.stack([slot.key for slot in slots], 2)
    values = torch.stack([slot.value for slot in slots], 3)
    nearness = [0.0 if slot.time is None else 1 / (now - slot.time) ** 2 for slot in slots]
    return Memory(keys, values, torch.tensor(nearness, device=keys.device))


def _encode(network: VOSNetwork, frames: Tensor, prefix: int) -> list[Features]:
    """Features of the T frames (B, T, 3, H, W); those of the prefix without gradient."""
    if not prefix or not torch.is_grad_enabled():
        return _encode_together(network, frames)
    with torch.no_grad():
        followed = _encode_together(network, frames[:, 1 : 1 + prefix])
    first, *rest = _encode_together(network, torch.cat([frames[:, :1], frames[:, 1 + prefix :]], 1))
    return [first, *followed, *rest]


def _encode_together(network: VOSNetwork, frames: Tensor) -> list[Features]:
    shape = frames.shape[:2]
    features = network.encode(frames.flatten(0, 1).contiguous(memory_format=torch.channels_last))
    return [_take(features, shape, t) for t in range(shape[1])]


def _take(features: Features, shape: Sequence[int], t: int) -> Features:
    """Features of frame t of every clip."""
    return features.map(lambda x: x.unflatten(0, shape)[:, t])
