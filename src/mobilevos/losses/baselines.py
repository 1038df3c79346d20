"""Other ways to distil features, which the paper's supplement compares with: FitNets' hints and attention transfer."""

import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.losses.inputs import check_same_shape, full_precision


class HintRegressor(nn.Conv2d):
    """The 1x1 convolution that brings a student's features to the teacher's width; trained with the student.

    Maps (B, student_channels, H, W) to (B, teacher_channels, H, W).
    """

    def __init__(self, student_channels: int, teacher_channels: int) -> None:
        super().__init__(student_channels, teacher_channels, kernel_size=1)


def hint_loss(student_features: Tensor, teacher_features: Tensor) -> Tensor:
    r"""Half the mean squared difference of the student's regressed features and the teacher's (FitNets, eq. 3).

    .. math::
        \mathcal{L}_{hint} = \frac{1}{2} \, \mathrm{mean} \, (r(F_s) - F_t)^2

    Args:
        student_features: (B, C, H, W), after the `HintRegressor` r.
        teacher_features: (B, C, H, W); no gradient reaches it.

    Returns:
        A scalar.

    Example:
        >>> import torch
        >>> regressor = HintRegressor(student_channels=8, teacher_channels=16)
        >>> hint_loss(regressor(torch.zeros(1, 8, 4, 4)), torch.zeros(1, 16, 4, 4)).shape
        torch.Size([])
    """
    check_same_shape(student_features, teacher_features, "(B, C, H, W)")
    return 0.5 * F.mse_loss(full_precision(student_features), full_precision(teacher_features.detach()))


def attention_transfer(student: Tensor, teacher: Tensor) -> Tensor:
    r"""Squared distance of the two attention maps, averaged over samples (activation-based, p = 2).

    .. math::
        \mathcal{L}_{AT} = \frac{1}{B} \sum_b \left\| \frac{q_s}{\|q_s\|} - \frac{q_t}{\|q_t\|} \right\|^2, \qquad
        q = \mathrm{vec} \sum_c F_c^2

    Args:
        student: (B, C_s, H, W) features.
        teacher: (B, C_t, H, W) features of the same size; no gradient reaches it.

    Returns:
        A scalar in [0, 2].

    Example:
        >>> import torch
        >>> student = torch.tensor([1.0, 0.0]).view(1, 1, 1, 2)           # the two look at different pixels
        >>> attention_transfer(student, student.flip(3))
        tensor(2.)
    """
    q_s, q_t = _attention(student), _attention(teacher.detach())
    if student.shape[0] != teacher.shape[0] or student.shape[2:] != teacher.shape[2:]:
        raise ValueError(
            "expected student and teacher features of one batch and size, "
            f"got {tuple(student.shape)} and {tuple(teacher.shape)}"
        )
    return (q_s - q_t).square().sum(1).mean()


def _attention(features: Tensor) -> Tensor:
    """(B, C, H, W) to (B, H * W) of unit length."""
    if features.dim() != 4:
        raise ValueError(f"expected features (B, C, H, W), got {tuple(features.shape)}")
    return F.normalize(full_precision(features).square().sum(1).flatten(1), dim=1)
