r"""Matrix-based Renyi entropies: what the representation loss means (the supplement's "Kernel Perspective").

Gram matrices stand for the distributions, so nothing has to be estimated. All results are in bits. In these terms
:math:`n \mathcal{L}_{repr} = -S_2(Z_s) + S_2(Z_s, Z_t)` at :math:`\omega = 1`; the main text has both signs reversed.
"""

import torch
from torch import Tensor

from mobilevos.losses.inputs import full_precision


def renyi_entropy(gram: Tensor, alpha: float = 2.0) -> Tensor:
    r"""The matrix-based Renyi entropy of order alpha (Definition 1).

    .. math::
        S_\alpha(A) = \frac{1}{1 - \alpha} \log_2 \sum_i \lambda_i(A)^\alpha, \qquad A = K / \mathrm{tr}(K)

    and its limit :math:`-\sum_i \lambda_i \log_2 \lambda_i` (von Neumann, Shannon) for :math:`\alpha = 1`.

    Args:
        gram: (n, n) symmetric positive semi-definite matrix K with a positive trace.
        alpha: order, above 0.

    Returns:
        A scalar between 0 (rank one) and log2 n (a multiple of the identity).

    Example:
        >>> renyi_entropy(torch.eye(8))
        tensor(3.)
    """
    _check(gram, alpha)
    matrix = full_precision(gram)
    matrix = matrix / matrix.trace()
    if alpha == 2:  # the sum of squared eigenvalues is the squared Frobenius norm
        return -matrix.square().sum().log2()
    eigenvalues = torch.linalg.eigvalsh(matrix)
    # Eigenvalues that are zero come out as noise of either sign, which a power below 1 would blow up.
    eigenvalues = eigenvalues[eigenvalues > len(matrix) * torch.finfo(matrix.dtype).eps]
    if alpha == 1:
        return -(eigenvalues * eigenvalues.log2()).sum()
    return eigenvalues.pow(alpha).sum().log2() / (1 - alpha)


def joint_entropy(a: Tensor, b: Tensor, alpha: float = 2.0) -> Tensor:
    r"""The joint entropy :math:`S_\alpha(A \circ B / \mathrm{tr}(A \circ B))` (Definition 2).

    Args:
        a: (n, n) Gram matrix of one set of n data points.
        b: (n, n) Gram matrix of the other.
        alpha: order, above 0.

    Returns:
        A scalar.

    Example:
        >>> joint_entropy(torch.eye(4), torch.ones(4, 4))                 # a constant adds nothing
        tensor(2.)
    """
    if a.shape != b.shape:
        raise ValueError(f"expected Gram matrices of one shape (n, n), got {tuple(a.shape)} and {tuple(b.shape)}")
    return renyi_entropy(full_precision(a) * full_precision(b), alpha)


def mutual_information(a: Tensor, b: Tensor, alpha: float = 2.0) -> Tensor:
    r"""The mutual information :math:`I_\alpha(A; B) = S_\alpha(A) + S_\alpha(B) - S_\alpha(A, B)`.

    Args:
        a: (n, n) Gram matrix of one set of n data points.
        b: (n, n) Gram matrix of the other.
        alpha: order, above 0.

    Returns:
        A scalar.

    Example:
        >>> mutual_information(torch.eye(4), torch.eye(4))                # each tells all about the other
        tensor(2.)
    """
    return renyi_entropy(a, alpha) + renyi_entropy(b, alpha) - joint_entropy(a, b, alpha)


def _check(gram: Tensor, alpha: float) -> None:
    if gram.dim() != 2 or gram.shape[0] != gram.shape[1] or not gram.is_floating_point():
        raise ValueError(f"expected a floating point Gram matrix (n, n), got {tuple(gram.shape)} {gram.dtype}")
    if not gram.trace() > 0:
        raise ValueError(f"expected a Gram matrix with a positive trace, got {gram.trace().item()}")
    if not alpha > 0:
        raise ValueError(f"expected an order alpha above 0, got {alpha}")
