"""How well a mask fits: a guess of its overlap with the truth, from what only the network knows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.memory import Memory

INSIDE = 40.0
"""By how much positions inside of the mask are set back where the best match outside is looked for."""

PLACES = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
"""Of four numbers in a row."""
SHARP = 8.0
"""The larger, the nearer to a maximum."""


class Rating(nn.Module):
    """Looks at the decoder's features inside of the mask and everywhere, and at how well keys agree with the object's.

    Those are of the first frame. They are compared inside of the mask, and where they agree best outside of it: that is
    what a look-alike is.

    Args:
        context_channels: of the decoder's features at stride 16.
        key_channels, value_channels: of the memory.
        hidden: width of the layer between.
    """

    def __init__(self, context_channels: int, key_channels: int, value_channels: int, hidden: int = 48) -> None:
        super().__init__()
        self.shown = nn.Conv2d(value_channels, 1, 1)
        self.hidden = nn.Linear(2 * context_channels + key_channels + 4, hidden)
        self.out = nn.Linear(hidden, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, context: Tensor, key: Tensor, memory: Memory, masks: Tensor) -> Tensor:
        """Logits (B, N) of the overlap.

        Args:
            context: (B * N, C, h, w), `Prediction.context`.
            key: (B, Ck, h, w), of this frame.
            memory: its first slot is the annotated frame.
            masks: (B, N, 4h, 4w), probabilities of the objects.
        """
        return self.compare(context, key, memory.keys[:, :, 0], memory.values[:, :, :, 0].flatten(0, 1), masks)

    def compare(self, context: Tensor, key: Tensor, first_key: Tensor, first_value: Tensor, masks: Tensor) -> Tensor:
        """The same by the annotated frame's key (B, Ck, h, w) and values (B * N, Cv, h, w): at most four dimensions."""
        batch, objects = masks.shape[:2]
        soft = F.avg_pool2d(masks, 4).flatten(2)  # (B, N, hw)
        inside = _shares(soft)
        seen = F.relu(context).flatten(2).unflatten(0, (batch, objects))  # (B, N, C, hw)
        given = self.shown(first_value).sigmoid()
        shown = _shares(given.flatten(1).unflatten(0, (batch, objects)))
        now = key.flatten(2).unsqueeze(1)  # (B, 1, Ck, hw)
        mine = _mean(now, inside)  # (B, N, Ck)
        first = _mean(first_key.flatten(2).unsqueeze(1), shown)
        likeness = -(now - first.unsqueeze(-1)).square().mean(2)  # (B, N, hw), 0 for the same
        numbers = (
            (likeness * inside).sum(-1),
            _greatest(likeness - INSIDE * soft),
            soft.mean(-1),
            (soft * (1 - soft)).sum(-1) / (soft.sum(-1) + 1),
        )
        # a sum where one would stack them: XNNPACK joins five tensors at most
        places = torch.tensor(PLACES).to(soft)
        row = sum(number.unsqueeze(-1) * place for number, place in zip(numbers, places, strict=True))
        found = torch.cat([_mean(seen, inside), seen.mean(-1), (mine - first).abs(), row], -1)
        return self.out(F.relu(self.hidden(found))).squeeze(-1)


def _shares(weights: Tensor) -> Tensor:
    """Weights (..., hw) that sum to 1."""
    return weights / (weights.sum(-1, keepdim=True) + 1e-4)


def _greatest(x: Tensor) -> Tensor:
    """Nearly the maximum of (..., hw), of operations that all runtimes have."""
    return (x * (SHARP * x).softmax(-1)).sum(-1)


def _mean(x: Tensor, shares: Tensor) -> Tensor:
    """The mean (B, N, C) of (B, N, C, hw) with these shares (B, N, hw).

    Not a matrix product: converters make layers of those, with weights that are none.
    """
    return (x * shares.unsqueeze(2)).sum(-1)
