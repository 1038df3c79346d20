import math

import pytest
import torch
import torch.nn.functional as F

from mobilevos.losses import annealed_keep, bootstrapped_poly_cross_entropy


def logits_of(probabilities: list[list[float]]) -> torch.Tensor:
    """One row of pixels, each with the given probabilities: (1, N + 1, 1, pixels)."""
    return torch.tensor(probabilities).log().T[None, :, None, :].contiguous()


def test_hand_computed_value() -> None:
    logits = logits_of([[0.5, 0.25, 0.25], [0.2, 0.8, 0.0]])
    labels = torch.tensor([[[2, 1]]])
    by_hand = (math.log(4) + 0.75 + math.log(1.25) + 0.2) / 2
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=1.0)
    assert loss.item() == pytest.approx(by_hand, rel=1e-6)
    by_hand = (math.log(4) + 3 * 0.75 + math.log(1.25) + 3 * 0.2) / 2
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=1.0, epsilon=3.0)
    assert loss.item() == pytest.approx(by_hand, rel=1e-6)


def test_without_the_polynomial_it_is_cross_entropy() -> None:
    logits = torch.randn(2, 4, 8, 8)
    labels = torch.randint(4, (2, 8, 8), dtype=torch.uint8)
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=1.0, epsilon=0.0)
    assert loss.item() == pytest.approx(F.cross_entropy(logits, labels.long()).item(), rel=1e-6)


def test_keeps_exactly_the_hardest_of_each_sample() -> None:
    logits = torch.randn(3, 3, 10, 10, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.randint(3, (3, 10, 10), generator=torch.Generator().manual_seed(1))
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=0.15)
    loss.backward()
    of_truth = logits.detach().softmax(1).gather(1, labels[:, None]).squeeze(1).flatten(1)
    reference = []
    for b in range(3):
        hardest = of_truth[b].argsort()[:15]  # the least probable truths
        touched = logits.grad[b].abs().sum(0).flatten().nonzero().squeeze(1)
        assert touched.tolist() == sorted(hardest.tolist())
        reference += [-math.log(p) + 1 - p for p in of_truth[b, hardest].tolist()]
    assert loss.item() == pytest.approx(sum(reference) / 45, rel=1e-5)


def test_at_least_one_pixel_is_kept() -> None:
    logits = logits_of([[0.5, 0.5], [0.9, 0.1], [0.75, 0.25]])
    loss = bootstrapped_poly_cross_entropy(logits, torch.tensor([[[0, 0, 0]]]), keep=0.01)
    assert loss.item() == pytest.approx(math.log(2) + 0.5, rel=1e-6)


def test_void_is_ignored() -> None:
    logits = logits_of([[0.5, 0.5], [0.1, 0.9], [0.75, 0.25], [0.6, 0.4]]).requires_grad_()
    labels = torch.tensor([[[0, 255, 0, 255]]], dtype=torch.uint8)
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=0.5)  # one of the two valid pixels
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2) + 0.5, rel=1e-6)
    assert logits.grad[..., [1, 2, 3]].abs().sum() == 0


def test_void_samples_do_not_dilute_the_mean() -> None:
    logits = torch.zeros(2, 2, 3, 3)
    labels = torch.zeros(2, 3, 3, dtype=torch.uint8)
    labels[1] = 255
    loss = bootstrapped_poly_cross_entropy(logits, labels, keep=1.0)
    assert loss.item() == pytest.approx(math.log(2) + 0.5, rel=1e-6)


def test_gradient_against_finite_differences() -> None:
    logits = torch.randn(2, 3, 3, 3, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(3, (2, 3, 3))
    assert torch.autograd.gradcheck(lambda x: bootstrapped_poly_cross_entropy(x, labels, keep=0.5), logits)


@pytest.mark.parametrize(
    ("logits", "labels", "keep", "message"),
    [
        (torch.zeros(1, 2, 4, 4), torch.zeros(1, 4, 4).long(), 0.0, r"keep in \(0, 1\], got 0.0"),
        (torch.zeros(1, 2, 4, 4), torch.zeros(1, 4, 4).long(), 1.1, r"keep in \(0, 1\], got 1.1"),
        (torch.zeros(1, 1, 4, 4), torch.zeros(1, 4, 4).long(), 1.0, r"at least one object, got \(1, 1, 4, 4\)"),
        (torch.zeros(2, 4, 4), torch.zeros(1, 4, 4).long(), 1.0, r"expected floating point logits"),
        (
            torch.zeros(1, 2, 4, 4),
            torch.zeros(1, 4, 4),
            1.0,
            r"expected integer labels \(B, H, W\), got .* torch.float32",
        ),
        (torch.zeros(1, 2, 4, 4), torch.zeros(1, 4, 5).long(), 1.0, r"labels \(1, 4, 4\), got \(1, 4, 5\)"),
        (torch.zeros(1, 2, 4, 4), torch.full((1, 4, 4), 2), 1.0, r"labels 0..1 or 255, got 2"),
        (torch.zeros(1, 2, 4, 4), torch.full((1, 4, 4), -1), 1.0, r"labels 0..1 or 255, got -1"),
    ],
)
def test_bad_input_is_named(logits: torch.Tensor, labels: torch.Tensor, keep: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrapped_poly_cross_entropy(logits, labels, keep=keep)


def test_schedule_is_that_of_stcn() -> None:
    assert annealed_keep(0, 20_000, 70_000) == 1.0
    assert annealed_keep(20_000, 20_000, 70_000) == 1.0
    assert annealed_keep(30_000, 20_000, 70_000) == pytest.approx(0.15 + 0.85 * 0.8)
    assert annealed_keep(70_000, 20_000, 70_000) == 0.15
    assert annealed_keep(10**9, 20_000, 70_000) == 0.15
    assert annealed_keep(50, 0, 100, final=0.5) == pytest.approx(0.75)


def test_schedule_without_a_slope_is_a_step() -> None:
    assert [annealed_keep(i, 5, 5, final=0.2) for i in (4, 5, 6)] == [1.0, 0.2, 0.2]


def test_schedule_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="start 7 and end 3"):
        annealed_keep(0, 7, 3)
    with pytest.raises(ValueError, match="final in"):
        annealed_keep(0, 1, 2, final=0.0)
