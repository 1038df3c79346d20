"""How well a mask fits: a guess of its overlap with the truth, from what only the network knows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.memory import Memory

INSIDE = 40.0
"""By how much positions inside of the mask are set back where the best match outside is looked for."""


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
        batch, objects = masks.shape[:2]
        soft = F.avg_pool2d(masks, 4).flatten(2)  # (B, N, hw)
        inside = _shares(soft)
        seen = F.relu(context).flatten(2).unflatten(0, (batch, objects))  # (B, N, C, hw)
        within = (seen @ inside.unsqueeze(-1)).squeeze(-1)
        shown = (
            torch.sigmoid(self.shown(memory.values[:, :, :, 0].flatten(0, 1))).flatten(1).unflatten(0, (batch, objects))
        )
        now = key.flatten(2).transpose(1, 2)  # (B, hw, Ck)
        mine = inside @ now  # (B, N, Ck)
        first = _shares(shown) @ memory.keys[:, :, 0].flatten(2).transpose(1, 2)
        likeness = _likeness(now, first)  # (B, N, hw)
        numbers = torch.stack(
            [
                (likeness * inside).sum(-1),
                (likeness - INSIDE * soft).amax(-1),
                soft.mean(-1),
                (soft * (1 - soft)).sum(-1) / (soft.sum(-1) + 1),
            ],
            -1,
        )
        found = torch.cat([within, seen.mean(-1), (mine - first).abs(), numbers], -1)
        return self.out(F.relu(self.hidden(found))).squeeze(-1)


def _shares(weights: Tensor) -> Tensor:
    """Weights (..., hw) that sum to 1."""
    return weights / (weights.sum(-1, keepdim=True) + 1e-4)


def _likeness(now: Tensor, first: Tensor) -> Tensor:
    """How near keys (B, hw, Ck) are to those of the objects (B, N, Ck): 0 for the same, (B, N, hw)."""
    across = first @ now.transpose(1, 2)
    distance = now.square().sum(-1).unsqueeze(1) + first.square().sum(-1, keepdim=True) - 2 * across
    return -distance / now.shape[-1]
