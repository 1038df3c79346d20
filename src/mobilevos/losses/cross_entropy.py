r"""The segmentation term: bootstrapped poly cross-entropy, with the schedule of its bootstrapping.

The paper trains with the poly-1 cross-entropy, :math:`\epsilon = 1` (section "Training details"), bootstrapped the way
its teacher STCN was: all pixels at first, then an ever smaller share of them, the hardest.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.arrays import VOID
from mobilevos.losses.inputs import full_precision, valid_pixels


def bootstrapped_poly_cross_entropy(logits: Tensor, labels: Tensor, *, keep: float, epsilon: float = 1.0) -> Tensor:
    r"""The mean poly-1 cross-entropy of the hardest pixels of each sample.

    .. math::
        \ell = -\log p_y + \epsilon (1 - p_y), \quad p = \mathrm{softmax}(\text{logits}), \qquad
        \mathcal{L} = \frac{1}{B} \sum_b \frac{1}{k_b} \sum_{\text{top } k_b} \ell,
        \quad k_b = \max(1, \lfloor \text{keep} \cdot n_b \rfloor)

    with :math:`n_b` the number of pixels of sample b that are not void. The hardest are sought within each sample, as
    in STCN, so that a hard clip does not silence the others; samples that are void throughout are left out of the mean.

    Args:
        logits: (B, N + 1, H, W); a softmax over dim 1 gives the probabilities, channel 0 is the background.
        labels: (B, H, W) int64 or uint8: 0 background, 1..N objects, 255 void.
        keep: share of the valid pixels that count, in (0, 1]; 1 is the plain mean. See `annealed_keep`.
        epsilon: weight of the first polynomial term; 0 is the cross-entropy.

    Returns:
        A scalar; 0 (with a gradient of zeros) if every pixel is void.

    Example:
        >>> logits = torch.zeros(1, 2, 1, 4)                    # p = 1/2 everywhere: log 2 + 1/2
        >>> labels = torch.tensor([[[0, 1, 1, 255]]])
        >>> bootstrapped_poly_cross_entropy(logits, labels, keep=1.0)
        tensor(1.1931)
    """
    if not 0 < keep <= 1:
        raise ValueError(f"expected keep in (0, 1], got {keep}")
    valid = valid_pixels(logits, labels)
    # Void pixels cost exactly 0 here, without a gradient.
    cross_entropy = F.cross_entropy(full_precision(logits), labels.long(), ignore_index=VOID, reduction="none")
    costs = cross_entropy - epsilon * torch.expm1(-cross_entropy)
    samples = [_mean_of_hardest(sample[ok], keep) for sample, ok in zip(costs, valid, strict=True) if ok.any()]
    return torch.stack(samples).mean() if samples else costs.sum()


def _mean_of_hardest(costs: Tensor, keep: float) -> Tensor:
    """costs: (n,), n > 0."""
    count = max(1, int(keep * len(costs)))
    return costs.mean() if count == len(costs) else costs.topk(count, sorted=False).values.mean()


def annealed_keep(iteration: int, start: int, end: int, final: float = 0.15) -> float:
    """The share of pixels to keep at an iteration: 1 up to ``start``, falling linearly to ``final`` at ``end``.

    STCN's main training has start 20,000, end 70,000, final 0.15. With start = end it is a step.

    Example:
        >>> [round(annealed_keep(i, 20_000, 70_000), 3) for i in (0, 20_000, 45_000, 70_000, 99_000)]
        [1.0, 1.0, 0.575, 0.15, 0.15]
    """
    if start > end:
        raise ValueError(f"expected start <= end, got start {start} and end {end}")
    if not 0 < final <= 1:
        raise ValueError(f"expected final in (0, 1], got {final}")
    if iteration >= end:
        return final
    if iteration <= start:
        return 1.0
    return final + (1 - final) * (end - iteration) / (end - start)
