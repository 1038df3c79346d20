import math

import pytest
import torch

from mobilevos.losses import joint_entropy, mutual_information, renyi_entropy

ORDERS = [0.5, 1.0, 1.01, 2.0, 3.0]


def gram(n: int, d: int, seed: int = 0) -> torch.Tensor:
    """Correlations of n random unit vectors, (n, n)."""
    z = torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    z = torch.nn.functional.normalize(z, dim=1)
    return z @ z.T


@pytest.mark.parametrize("alpha", ORDERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_known_values(alpha: float, dtype: torch.dtype) -> None:
    assert renyi_entropy(torch.eye(16, dtype=dtype) / 16, alpha).item() == pytest.approx(4, abs=1e-4)
    assert renyi_entropy(torch.ones(16, 16, dtype=dtype), alpha).item() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("alpha", ORDERS)
def test_diagonal_matrix_is_a_distribution(alpha: float) -> None:
    p = torch.tensor([0.5, 0.25, 0.125, 0.125], dtype=torch.float64)
    if alpha == 1:
        expected = 0.5 * 1 + 0.25 * 2 + 2 * 0.125 * 3
    else:
        expected = math.log2(sum(x**alpha for x in p.tolist())) / (1 - alpha)
    assert renyi_entropy(torch.diag(p), alpha).item() == pytest.approx(expected)


def test_order_two_is_the_general_formula() -> None:
    matrix = gram(12, 5)
    eigenvalues = torch.linalg.eigvalsh(matrix / 12)
    assert renyi_entropy(matrix).item() == pytest.approx(-math.log2(eigenvalues.square().sum()))


def test_shannon_is_the_limit_and_entropy_falls_with_the_order() -> None:
    matrix = gram(12, 5)
    shannon = renyi_entropy(matrix, 1.0).item()
    for nearly in (1 - 1e-5, 1 + 1e-5):
        assert renyi_entropy(matrix, nearly).item() == pytest.approx(shannon, abs=1e-4)
    entropies = [renyi_entropy(matrix, alpha).item() for alpha in ORDERS]
    assert entropies == sorted(entropies, reverse=True)


@pytest.mark.parametrize("alpha", ORDERS)
def test_scale_of_the_matrix_does_not_matter(alpha: float) -> None:
    matrix = gram(9, 4)
    torch.testing.assert_close(renyi_entropy(7 * matrix, alpha), renyi_entropy(matrix, alpha))


@pytest.mark.parametrize("alpha", ORDERS)
def test_joint_entropy_is_symmetric_and_at_least_that_of_each(alpha: float) -> None:
    a, b = gram(10, 3, seed=1), gram(10, 6, seed=2)
    joint = joint_entropy(a, b, alpha)
    torch.testing.assert_close(joint, joint_entropy(b, a, alpha))
    torch.testing.assert_close(joint, renyi_entropy(a * b, alpha))
    assert joint >= max(renyi_entropy(a, alpha), renyi_entropy(b, alpha)) - 1e-9


@pytest.mark.parametrize("alpha", ORDERS)
def test_mutual_information_of_partitions(alpha: float) -> None:
    # 8 points: halves by the first bit, halves by the second: independent; each with itself: one bit.
    bit = torch.arange(8)
    first, second = ((b[:, None] == b[None]).double() for b in (bit // 4, bit // 2 % 2))
    assert mutual_information(first, second, alpha).item() == pytest.approx(0, abs=1e-9)
    assert mutual_information(first, first, alpha).item() == pytest.approx(1)


@pytest.mark.parametrize("alpha", ORDERS)
def test_gradient_is_finite_where_eigenvalues_vanish_or_coincide(alpha: float) -> None:
    z = torch.eye(3).repeat(4, 1).requires_grad_()
    renyi_entropy(z @ z.T, alpha).backward()
    assert z.grad.isfinite().all()


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"Gram matrix \(n, n\), got \(2, 3\)"):
        renyi_entropy(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"positive trace, got 0.0"):
        renyi_entropy(torch.zeros(3, 3))
    with pytest.raises(ValueError, match=r"alpha above 0, got 0"):
        renyi_entropy(torch.eye(3), 0)
    with pytest.raises(ValueError, match=r"got \(3, 3\) and \(4, 4\)"):
        joint_entropy(torch.eye(3), torch.eye(4))
