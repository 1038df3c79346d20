"""Soft Dice: a term that weighs small and large objects alike, for recipes of few iterations."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.losses.inputs import full_precision, valid_pixels


def soft_dice(logits: Tensor, labels: Tensor) -> Tensor:
    r"""One minus the soft Dice coefficient, averaged over samples and objects.

    .. math::
        \mathcal{L} = \frac{1}{BN} \sum_{b, o}
            \left( 1 - \frac{2 \sum_i p_i g_i + 1}{\sum_i p_i + \sum_i g_i + 1} \right)

    over the pixels i that are not void, with p the probability of object o and g its ground truth in {0, 1}. The added
    ones make an object that is neither there nor predicted cost nothing. B counts the samples that are not void
    throughout: these are left out of the mean.

    Args:
        logits: (B, N + 1, H, W); a softmax over dim 1 gives the probabilities, channel 0 (background) is not scored.
        labels: (B, H, W) int64 or uint8: 0 background, 1..N objects, 255 void.

    Returns:
        A scalar in [0, 1); 0 (with a gradient of zeros) if every pixel is void.

    Example:
        >>> logits = torch.zeros(1, 2, 1, 2)                    # 1 - (2 * 1/2 + 1) / (1 + 1 + 1)
        >>> soft_dice(logits, torch.tensor([[[0, 1]]]))
        tensor(0.3333)
    """
    valid = valid_pixels(logits, labels)
    objects = torch.arange(1, logits.shape[1], device=logits.device).view(1, -1, 1, 1)
    truth = labels.unsqueeze(1) == objects  # (B, N, H, W); void, 255, is no object
    probabilities = F.softmax(full_precision(logits), dim=1)[:, 1:] * valid.unsqueeze(1)
    overlap = (probabilities * truth).sum((2, 3))
    total = probabilities.sum((2, 3)) + truth.sum((2, 3))
    costs = (1 - (2 * overlap + 1) / (total + 1)).mean(1)  # (B,), 0 where all is void
    return costs.sum() / valid.flatten(1).any(1).sum().clamp_min(1)
