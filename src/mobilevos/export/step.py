"""The whole per-frame step as one graph: frame and memory in, masks and memory out.

The same graph begins a track, corrects it and turns a prompt into a mask: masks that are given take the place of the
predicted ones where `use_given` is 1. So there is one file, with the weights in it once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.errors import InputError
from mobilevos.model.aggregation import aggregate
from mobilevos.model.memory import Memory
from mobilevos.model.network import all_others
from mobilevos.model.student import Student
from mobilevos.weights import FIXED_QUEUE

INPUTS = ("frame", "keys", "values", "nearness", "slot", "given", "use_given")
OUTPUTS = ("probabilities", "keys_out", "values_out", "rating")


@dataclass(frozen=True)
class Shape:
    """Fixed sizes of an exported graph; None leaves all of them open."""

    height: int
    width: int
    objects: int | None = None
    """None leaves the number of objects open."""
    slots: int = FIXED_QUEUE

    def __post_init__(self) -> None:
        if self.height % 16 or self.width % 16 or self.height < 16 or self.width < 16:
            raise InputError(f"expected a frame size in multiples of 16, got {self.width} x {self.height}")


class StepGraph(nn.Module):
    """A student's step on plain tensors without a batch dimension.

    Shapes, with h = H/16, w = W/16, N objects and T slots of memory:

    | name | shape | what |
    | --- | --- | --- |
    | frame | (H, W, 3) uint8 | RGB |
    | keys | (Ck, T, h, w) | memory |
    | values | (N, Cv, T, h, w) | memory |
    | nearness | (T,) | 0 for annotated frames, 1 for the previous one, 1/age^2 for older ones |
    | slot | () int64 | where this frame is written |
    | given | (N, 2, H/4, W/4) | masks to remember instead of the predicted ones: the object, and what it is not |
    | use_given | () | 1 to remember the given masks, 0 to remember the predicted ones |
    | probabilities | (1 + N, H, W) | background and objects |
    | rating | (N,) | how well each mask fits, 0..1, by the network's own judgement |
    """

    def __init__(self, network: Student) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        frame: Tensor,
        keys: Tensor,
        values: Tensor,
        nearness: Tensor,
        slot: Tensor,
        given: Tensor,
        use_given: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        network = self.network
        image = frame.float().permute(2, 0, 1)[None]
        features = network.encode(image)
        memory = Memory(keys[None], values[None], nearness)
        prediction = network.predict(features, memory)
        logits = aggregate(prediction.logits)
        seen = network.own_masks(logits)
        masks = use_given * given[None, :, 0] + (1 - use_given) * seen
        others = use_given * given[None, :, 1] + (1 - use_given) * all_others(seen)
        new = network.memorise(image, features, masks, others)[0]  # (N, Cv, h, w)
        here = torch.arange(keys.shape[1], device=keys.device) == slot
        keys_out = torch.where(here[None, :, None, None], features.key[0][:, None], keys)
        values_out = torch.where(here[None, None, :, None, None], new[:, :, None], values)
        # Only differences of logits matter, so the background need not be enlarged. They are bounded by 2 * 16.2, so a
        # softmax needs no maximum; written out it is much faster on a CPU.
        odds = enlarge(logits[0, 1:] - logits[0, :1]).exp()
        background = 1 / (1 + odds.sum(0, keepdim=True))
        rating = network.rate(features, memory, prediction, seen)[0].sigmoid()
        return torch.cat([background, odds * background]), keys_out, values_out, rating


def enlarge(x: Tensor) -> Tensor:
    """Bilinear, (N, h, w) to (N, 4h, 4w): the same numbers as `upsample(x, 4)`, several times faster.

    Each of the 4 x 4 pixels that a cell becomes is a fixed mean of its 3 x 3 neighbourhood: a convolution with 16
    outputs, and a rearrangement.
    """
    place = (torch.arange(4) + 0.5) / 4 - 0.5  # of the four new pixels, from the middle of their cell
    line = torch.stack([(-place).clamp(min=0), 1 - place.abs(), place.clamp(min=0)], 1)  # (4, 3)
    kernel = (line[:, None, :, None] * line[None, :, None, :]).reshape(16, 1, 3, 3).to(x)
    return F.pixel_shuffle(F.conv2d(F.pad(x[:, None], (1, 1, 1, 1), mode="replicate"), kernel), 4)[:, 0]


def example_inputs(network: Student, height: int, width: int, objects: int = 2, slots: int = 3) -> tuple[Tensor, ...]:
    """Inputs of the right shapes, for tracing and timing."""
    h, w = height // 16, width // 16
    return (
        torch.randint(0, 256, (height, width, 3), dtype=torch.uint8),
        torch.randn(network.key_channels, slots, h, w),
        torch.randn(objects, network.value_channels, slots, h, w),
        torch.linspace(0, 1, slots),
        torch.tensor(slots - 1),
        torch.zeros(objects, 2, height // 4, width // 4),
        torch.tensor(0.0),
    )
