"""The logit term, eq. (logit) of the paper: the student's probabilities follow the teacher's near object boundaries."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.losses.inputs import check_same_shape, full_precision


def logit_distillation(
    student: Tensor, teacher: Tensor, mask: Tensor | None = None, *, temperature: float = 0.1
) -> Tensor:
    r"""The Kullback-Leibler divergence of the student from the teacher, averaged over the selected pixels.

    .. math::
        \mathcal{L}_{logit} = \frac{1}{|M|} \sum_{i \in M} \sum_c p^T_{ic} \log \frac{p^T_{ic}}{p^S_{ic}}, \qquad
        p = \mathrm{softmax}(\text{logits} / \tau)

    The direction is that of the paper's pseudo-code, ``kl(prob_t, prob_s)``; its equation has the two the other way
    round. As there, the temperature's square does not scale the result. No gradient reaches the teacher.

    Args:
        student: (B, N + 1, H, W) logits.
        teacher: (B, N + 1, H, W) logits. An object that is absent may be -inf in both.
        mask: (B, H, W) bool, the pixels that count: see `boundary_mask`; all of them without it.
        temperature: above 1 softens the probabilities, below 1 sharpens them.

    Returns:
        A scalar; 0 (with a gradient of zeros) if no pixel is selected.

    Example:
        >>> teacher = torch.tensor([3.0, 1.0]).log().view(1, 2, 1, 1)     # p = 3/4, 1/4
        >>> student = torch.zeros(1, 2, 1, 1)                             # p = 1/2, 1/2
        >>> logit_distillation(student, teacher, temperature=1.0)         # log 2 - 2 log 2 + 3/4 log 3
        tensor(0.1308)
    """
    check_same_shape(student, teacher, "(B, N + 1, H, W)")
    if not temperature > 0:
        raise ValueError(f"expected a temperature above 0, got {temperature}")
    pixels = (student.shape[0], *student.shape[2:])
    if mask is None:
        mask = torch.ones(pixels, dtype=torch.bool, device=student.device)
    if mask.shape != pixels or mask.dtype != torch.bool:
        raise ValueError(f"expected a mask {pixels} of bool, got {tuple(mask.shape)} {mask.dtype}")
    selected = mask.flatten().nonzero().squeeze(1)
    log_s = _log_probabilities(student, selected, temperature)
    log_t = _log_probabilities(teacher.detach(), selected, temperature)
    p_t = log_t.exp()
    # Where the teacher's probability vanishes the term does too, even if a logarithm there is -inf.
    never = p_t == 0
    divergence = p_t * (log_t.masked_fill(never, 0) - log_s.masked_fill(never, 0))
    return divergence.sum() / max(1, len(selected))


def _log_probabilities(logits: Tensor, selected: Tensor, temperature: float) -> Tensor:
    """(B, N + 1, H, W) logits and M indices into the B * H * W pixels to (N + 1, M) logarithms."""
    pixels = logits.transpose(0, 1).flatten(1).index_select(1, selected)
    return F.log_softmax(full_precision(pixels) / temperature, dim=0)
