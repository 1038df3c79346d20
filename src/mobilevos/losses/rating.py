"""How well a network knows how good its masks are."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.arrays import VOID


def rating_loss(ratings: Tensor, predicted: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy of ratings with the overlap (IoU) that masks have with the truth.

    A mask where nothing is has an overlap of 0; an object that is nowhere in the prediction has no mask to be judged.

    Args:
        ratings: (..., N) logits.
        predicted: (..., H, W) ids, 0 is background.
        labels: (..., H, W) ids, with void.

    Example:
        >>> mask = torch.ones(1, 4, 4, dtype=torch.long)
        >>> rating_loss(torch.tensor([[3.0]]), mask, mask)
        tensor(0.0486)
    """
    ids = torch.arange(1, ratings.shape[-1] + 1, device=labels.device)[:, None, None]
    valid = (labels != VOID).unsqueeze(-3)
    mine = (predicted.unsqueeze(-3) == ids) & valid
    truth = (labels.unsqueeze(-3) == ids) & valid
    size = mine.flatten(-2).sum(-1)
    overlap = (mine & truth).flatten(-2).sum(-1) / (mine | truth).flatten(-2).sum(-1).clamp(min=1)
    losses = F.binary_cross_entropy_with_logits(ratings.float(), overlap, reduction="none")
    return (losses * (size > 0)).sum() / (size > 0).sum().clamp(min=1)
