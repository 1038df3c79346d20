import math

import pytest
import torch
import torch.nn.functional as F

from mobilevos.losses import mutual_information, renyi_entropy, representation_loss


@pytest.fixture
def pixels() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """40 pixels: student (40, 6), teacher (40, 9), labels (40,)."""
    generator = torch.Generator().manual_seed(0)
    z_s = torch.randn(40, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    z_t = torch.randn(40, 9, generator=generator, dtype=torch.float64)
    return z_s, z_t, torch.randint(2, (40,), generator=generator)


def literal(z_s: torch.Tensor, z_t: torch.Tensor, y: torch.Tensor, omega: float) -> torch.Tensor:
    """The pseudo-code of the paper, line by line, on all n x n pairs."""
    s, t = F.normalize(z_s, dim=1), F.normalize(z_t, dim=1)
    one_hot = F.one_hot(y, 2).to(s.dtype)
    c_ss, c_tt, yy = s @ s.T, t @ t.T, one_hot @ one_hot.T
    r = omega * c_tt + (1 - omega) * yy
    return c_ss.pow(2).sum().log2() / len(s) - (c_ss * r).pow(2).sum().log2() / len(s)


def gradient(loss: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(loss, z)[0]


@pytest.mark.parametrize("omega", [0.0, 0.2, 0.95, 1.0])
def test_equals_the_pseudo_code(pixels: tuple[torch.Tensor, ...], omega: float) -> None:
    z_s, z_t, y = pixels
    loss, reference = representation_loss(z_s, z_t, y, omega=omega), literal(z_s, z_t, y, omega)
    torch.testing.assert_close(loss, reference)
    torch.testing.assert_close(gradient(loss, z_s), gradient(reference, z_s))


def test_distillation_end_is_mutual_information(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, z_t, y = pixels
    unit_s, unit_t = F.normalize(z_s, dim=1), F.normalize(z_t, dim=1)
    c_s, c_t = unit_s @ unit_s.T, unit_t @ unit_t.T
    loss = representation_loss(z_s, z_t, y, omega=1.0)
    information = mutual_information(c_s, c_t)
    torch.testing.assert_close(len(y) * loss, -information + renyi_entropy(c_t))
    torch.testing.assert_close(gradient(loss, z_s), gradient(-information, z_s) / len(y))


def test_contrastive_end_attracts_positives_and_repels_negatives(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, _, y = pixels
    positives, negatives = z_s.new_zeros(()), z_s.new_zeros(())
    for i in range(len(y)):
        for j in range(len(y)):
            similarity = F.cosine_similarity(z_s[i], z_s[j], dim=0) ** 2
            if y[i] == y[j]:
                positives = positives + similarity
            else:
                negatives = negatives + similarity
    reference = -torch.log2(positives / (positives + negatives)) / len(y)
    loss = representation_loss(z_s, None, y, omega=0.0)
    torch.testing.assert_close(loss, reference)
    torch.testing.assert_close(gradient(loss, z_s), gradient(reference, z_s))


@pytest.mark.parametrize(("n", "d"), [(3, 8), (8, 8), (50, 4)])
def test_the_norm_of_the_correlations_needs_no_correlations(n: int, d: int) -> None:
    z = torch.randn(n, d, dtype=torch.float64)
    torch.testing.assert_close((z @ z.T).square().sum(), (z.T @ z).square().sum())


@pytest.mark.parametrize("omega", [0.0, 0.5, 1.0])
def test_gradient_against_finite_differences(pixels: tuple[torch.Tensor, ...], omega: float) -> None:
    z_s, z_t, y = pixels
    assert torch.autograd.gradcheck(lambda z: representation_loss(z, z_t[:8], y[:8], omega=omega), z_s[:8])


@pytest.mark.parametrize("omega", [0.0, 0.7, 1.0])
def test_batch_equals_a_loop_over_ragged_samples(omega: float) -> None:
    z_s = torch.randn(5, 12, 6, dtype=torch.float64, requires_grad=True)
    z_t = torch.randn(5, 12, 9, dtype=torch.float64)
    y = torch.rand(5, 12, dtype=torch.float64)
    valid = torch.rand(5, 12) < 0.6
    valid[2] = False  # an object without a boundary is not counted
    valid[3] = torch.arange(12) == 4
    batched = representation_loss(z_s, z_t, y, valid, omega=omega)
    ragged = [literal(z_s[b][valid[b]], z_t[b][valid[b]], (y[b][valid[b]] > 0.5).long(), omega) for b in (0, 1, 3, 4)]
    reference = torch.stack(ragged).mean()
    torch.testing.assert_close(batched, reference)
    torch.testing.assert_close(gradient(batched, z_s), gradient(reference, z_s))


def test_rows_that_do_not_count_may_hold_anything() -> None:
    z = torch.randn(2, 6, 4)
    valid = torch.arange(6) < torch.tensor([[4], [6]])
    expected = representation_loss(z, z, torch.ones(2, 6), valid, omega=0.5)
    spoilt = z.clone()
    spoilt[0, 4:] = torch.nan
    spoilt.requires_grad_()
    loss = representation_loss(spoilt, spoilt.detach(), torch.ones(2, 6), valid, omega=0.5)
    loss.backward()
    torch.testing.assert_close(loss, expected)
    assert spoilt.grad.isfinite().all()
    assert spoilt.grad[0, 4:].abs().sum() == 0


def test_separated_classes_are_the_optimum() -> None:
    z = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 1.0]])
    y = torch.tensor([True, True, False, False])
    assert representation_loss(z, None, y, omega=0.0).item() == 0
    worst = representation_loss(z, None, torch.tensor([1, 0, 1, 0]), omega=0.0)
    assert worst.item() == pytest.approx(math.log2(8 / 4) / 4)


def test_one_class_has_nothing_to_contrast() -> None:
    loss = representation_loss(torch.randn(10, 4), None, torch.ones(10), omega=0.0)
    assert loss.item() == pytest.approx(0, abs=1e-7)


def test_scale_of_a_representation_does_not_matter(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, z_t, y = pixels
    scaled = z_s * torch.linspace(0.1, 10, len(y))[:, None]
    torch.testing.assert_close(
        representation_loss(scaled, 3 * z_t, y, omega=0.6), representation_loss(z_s, z_t, y, omega=0.6)
    )


def test_no_gradient_reaches_the_teacher(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, z_t, y = pixels
    z_t.requires_grad_()
    representation_loss(z_s, z_t, y, omega=0.5).backward()
    assert z_t.grad is None


def test_autocast_does_not_round_the_correlations(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, z_t, y = (tensor.detach().float() for tensor in pixels)
    expected = representation_loss(z_s, z_t, y, omega=0.9)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(representation_loss(z_s, z_t, y, omega=0.9), expected)


def test_descent_teaches_the_teachers_correlations(pixels: tuple[torch.Tensor, ...]) -> None:
    z_s, z_t, y = pixels
    z_t = z_t[:, :5]
    before = representation_loss(z_s, z_t, y, omega=1.0).item()
    optimizer = torch.optim.Adam([z_s], lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        representation_loss(z_s, z_t, y, omega=1.0).backward()
        optimizer.step()
    assert representation_loss(z_s, z_t, y, omega=1.0).item() < 0.8 * before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"omega": 1.5}, r"omega in \[0, 1\], got 1.5"),
        ({"z_t": None}, "got None with omega 0.5"),
        ({"z_t": torch.zeros(2, 4, 7)}, r"z_t \(2, 5, 'd'\), got \(2, 4, 7\)"),
        ({"z_s": torch.zeros(3)}, r"\(n, d\) or \(B, n, d\), got \(3,\)"),
        ({"z_s": torch.zeros(2, 5, 3).long()}, r"floating point z_s .* torch.int64"),
        ({"y": torch.zeros(2, 6)}, r"y \(2, 5\), got \(2, 6\)"),
        ({"valid": torch.ones(2, 5)}, r"valid \(2, 5\) of bool, got \(2, 5\) torch.float32"),
    ],
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    good = {"z_s": torch.zeros(2, 5, 3), "z_t": torch.zeros(2, 5, 7), "y": torch.zeros(2, 5), "omega": 0.5}
    with pytest.raises(ValueError, match=message):
        representation_loss(**(good | change))
