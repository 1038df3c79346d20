"""The representation term: distillation and contrastive learning of pixels in one loss.

Equations (loss) and (omega) of the paper's method section; the supplement, "Decomposing the representation loss",
derives the two ends of the interpolation.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.losses.inputs import full_precision

# Both norms are at least n for rows of unit length; this floor is met only without pixels or with vectors of zeros.
_FLOOR = 1e-6


def representation_loss(
    z_s: Tensor, z_t: Tensor | None, y: Tensor, valid: Tensor | None = None, *, omega: float
) -> Tensor:
    r"""Align the student's correlations between pixels with the teacher's and with the ground truth's.

    .. math::
        \mathcal{L}_{repr} = \frac{1}{n} \left( \log_2 \|C_s\|^2 - \log_2 \|C_s \odot C_{ty}\|^2 \right), \quad
        C = Z Z^T, \quad C_{ty} = \omega C_t + (1 - \omega) Y Y^T

    with the rows of :math:`Z` scaled to unit length and :math:`Y` the one-hot (object, background) labels.
    :math:`\omega = 1` is distillation: n times the loss is :math:`-I_2(Z_s; Z_t)` up to the teacher's own entropy (see
    `mobilevos.losses.information`). :math:`\omega = 0` is supervised contrastive learning,
    :math:`-\frac{1}{n} \log_2 (\sum_{positives} C_{ij}^2 / \sum_{all} C_{ij}^2)`.

    The loss of a batch is the mean over the samples that have pixels, each divided by its own n, so that small and
    large objects weigh the same. No gradient reaches the teacher.

    Args:
        z_s: (n, d_s), or (B, n, d_s): the student's representations of the sampled pixels, before normalisation.
        z_t: (n, d_t), or (B, n, d_t): the teacher's, of the same pixels. Not looked at with omega 0,
            when it may be None.
        y: (n,), or (B, n): the ground truth of these pixels in [0, 1], or bool; above 1/2 is object.
        valid: (n,), or (B, n) bool: the rows that count, for samples of fewer than n pixels; all of them without it.
        omega: in [0, 1], from contrastive learning (0) to distillation (1).

    Returns:
        A scalar; 0 (with a gradient of zeros) if there are no pixels.

    Example:
        >>> z = torch.tensor([[3.0, 0.0], [2.0, 0.0], [1.0, 0.0]])        # all alike: |Cs|^2 = 9, |Cs * YY^T|^2 = 5
        >>> y = torch.tensor([1, 1, 0])
        >>> representation_loss(z, None, y, omega=0.0)                    # (log2 9 - log2 5) / 3
        tensor(0.2827)
    """
    _check(z_s, z_t, y, valid, omega)
    rows = z_s.shape[:-1]
    if valid is None:
        valid = torch.ones(rows, dtype=torch.bool, device=z_s.device)
    # Autocast would round the products to half precision, and the loss is a small difference of large sums.
    with torch.autocast(z_s.device.type, enabled=False):
        student = _unit_rows(z_s, valid)
        is_object = (y > 0.5).unsqueeze(-1)
        norm = _gram_norm(student)
        if z_t is None or omega == 0:
            # C_y keeps the pairs within a class, so its two blocks need no n x n matrix either.
            joint_norm = _gram_norm(student * is_object) + _gram_norm(student * ~is_object)
        else:
            teacher = _unit_rows(z_t.detach(), valid)
            same_class = is_object == is_object.mT
            target = omega * (teacher @ teacher.mT) + (1 - omega) * same_class
            joint_norm = ((student @ student.mT) * target).square().sum((-2, -1))
    counts = valid.sum(-1)
    losses = (norm.clamp_min(_FLOOR).log2() - joint_norm.clamp_min(_FLOOR).log2()) / counts.clamp_min(1)
    return losses.sum() / (counts > 0).sum().clamp_min(1)


def _unit_rows(z: Tensor, valid: Tensor) -> Tensor:
    """(..., n, d) with rows of unit length; rows that do not count become zeros and so drop out of every product."""
    return F.normalize(full_precision(z).masked_fill(~valid.unsqueeze(-1), 0), dim=-1, eps=1e-6)


def _gram_norm(z: Tensor) -> Tensor:
    """|Z Z^T|^2 of (..., n, d), as |Z^T Z|^2: d x d numbers instead of n x n."""
    return (z.mT @ z).square().sum((-2, -1))


def _check(z_s: Tensor, z_t: Tensor | None, y: Tensor, valid: Tensor | None, omega: float) -> None:
    if not 0 <= omega <= 1:
        raise ValueError(f"expected omega in [0, 1], got {omega}")
    if z_s.dim() not in (2, 3) or not z_s.is_floating_point():
        raise ValueError(f"expected floating point z_s (n, d) or (B, n, d), got {tuple(z_s.shape)} {z_s.dtype}")
    if z_t is None and omega != 0:
        raise ValueError(f"expected the teacher's z_t, which only omega 0 does without, got None with omega {omega}")
    rows = z_s.shape[:-1]
    if z_t is not None and z_t.shape[:-1] != rows:
        raise ValueError(f"expected z_t {(*rows, 'd')}, got {tuple(z_t.shape)}")
    if y.shape != rows:
        raise ValueError(f"expected y {tuple(rows)}, got {tuple(y.shape)}")
    if valid is not None and (valid.shape != rows or valid.dtype != torch.bool):
        raise ValueError(f"expected valid {tuple(rows)} of bool, got {tuple(valid.shape)} {valid.dtype}")
