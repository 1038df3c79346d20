"""The logit term, eq. (logit) of the paper: the student's probabilities follow the teacher's near object boundaries."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.losses.inputs import check_same_shape, full_precision


def logit_distillation(
    student: Tensor,
    teacher: Tensor,
    mask: Tensor | None = None,
    *,
    temperature: float = 0.1,
    direction: Literal["teacher", "student"] = "teacher",
    over: Literal["selected", "all"] = "selected",
) -> Tensor:
    r"""The Kullback-Leibler divergence between teacher and student at the selected pixels.

    .. math::
        \mathcal{L}_{logit} = \frac{1}{n} \sum_{i \in M} \sum_c p_{ic} \log \frac{p_{ic}}{q_{ic}}, \qquad
        p, q = \mathrm{softmax}(\text{logits} / \tau)

    The paper's equation is ``direction="student"``, :math:`KL(p^S \| p^T)`, and ``over="all"``, :math:`1 / HW`. So is
    its pseudo-code, ``kl(prob_t, prob_s)``, with PyTorch's order of arguments. Where the student is sure and wrong, the
    gradient of this direction vanishes; that of :math:`KL(p^T \| p^S)` does not. The temperature's square does not
    scale the result. No gradient reaches the teacher.

    Args:
        student: (B, N + 1, H, W) logits.
        teacher: (B, N + 1, H, W) logits. An object that is absent may be -inf in both.
        mask: (B, H, W) bool, the pixels that count: see `boundary_mask`; all of them without it.
        temperature: above 1 softens the probabilities, below 1 sharpens them.
        direction: whose probabilities are p, by which the logarithms are weighed; q are the other's.
        over: what n counts: the selected pixels, or all there are.

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
    log_p, log_q = (log_t, log_s) if direction == "teacher" else (log_s, log_t)
    p = log_p.exp()
    # Where a probability vanishes the term does too, even if a logarithm there is -inf.
    never = p == 0
    divergence = p * (log_p.masked_fill(never, 0) - log_q.masked_fill(never, 0))
    return divergence.sum() / max(1, len(selected) if over == "selected" else mask.numel())


def _log_probabilities(logits: Tensor, selected: Tensor, temperature: float) -> Tensor:
    """(B, N + 1, H, W) logits and M indices into the B * H * W pixels to (N + 1, M) logarithms."""
    pixels = logits.transpose(0, 1).flatten(1).index_select(1, selected)
    return F.log_softmax(full_precision(pixels) / temperature, dim=0)
