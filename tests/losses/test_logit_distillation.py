import math

import pytest
import torch
import torch.nn.functional as F

from mobilevos.losses import logit_distillation


def test_hand_computed_value_and_direction() -> None:
    teacher = torch.tensor([0.7, 0.2, 0.1]).log().view(1, 3, 1, 1)
    student = torch.tensor([0.3, 0.3, 0.4]).log().view(1, 3, 1, 1)
    by_hand = 0.7 * math.log(0.7 / 0.3) + 0.2 * math.log(0.2 / 0.3) + 0.1 * math.log(0.1 / 0.4)
    assert logit_distillation(student, teacher, temperature=1.0).item() == pytest.approx(by_hand, rel=1e-5)


def test_the_papers_direction_weighs_by_the_student() -> None:
    """KL(student || teacher), which is what PyTorch's kl_div says with the pseudo-code's order of arguments."""
    teacher = torch.tensor([0.7, 0.2, 0.1]).log().view(1, 3, 1, 1)
    student = torch.tensor([0.3, 0.3, 0.4]).log().view(1, 3, 1, 1)
    by_hand = 0.3 * math.log(0.3 / 0.7) + 0.3 * math.log(0.3 / 0.2) + 0.4 * math.log(0.4 / 0.1)
    found = logit_distillation(student, teacher, temperature=1.0, direction="student").item()
    assert found == pytest.approx(by_hand, rel=1e-5)
    assert found == pytest.approx(F.kl_div(teacher, student.exp(), reduction="sum").item(), rel=1e-5)
    assert found != pytest.approx(logit_distillation(student, teacher, temperature=1.0).item(), rel=1e-2)


def test_the_mean_can_be_over_all_pixels() -> None:
    student, teacher = torch.randn(2, 2, 3, 5, 7)
    mask = torch.zeros(2, 5, 7, dtype=torch.bool)
    mask[0, 1, 2:6] = True
    near = logit_distillation(student, teacher, mask)
    assert logit_distillation(student, teacher, mask, over="all").item() == pytest.approx(
        4 / 70 * near.item(), rel=1e-5
    )
    assert logit_distillation(student, teacher, over="all") == logit_distillation(student, teacher)


def test_the_papers_direction_stays_finite() -> None:
    """With an object that is absent, and with probabilities that vanish."""
    student, teacher = 20 * torch.randn(2, 1, 3, 4, 4)
    student[:, 2] = teacher[:, 2] = -torch.inf
    student.requires_grad_()
    loss = logit_distillation(student, teacher, direction="student")
    loss.backward()
    assert loss.isfinite()
    assert student.grad.isfinite().all()
    without = logit_distillation(student[:, :2], teacher[:, :2], direction="student")
    assert loss.item() == pytest.approx(without.item(), rel=1e-5)


def test_temperature_sharpens() -> None:
    teacher = torch.tensor([0.1, 0.0]).view(1, 2, 1, 1)  # at 0.1: softmax(1, 0)
    student = torch.zeros(1, 2, 1, 1)
    p = 1 / (1 + math.exp(-1))
    by_hand = p * math.log(2 * p) + (1 - p) * math.log(2 * (1 - p))
    assert logit_distillation(student, teacher).item() == pytest.approx(by_hand, rel=1e-5)


def test_mean_over_the_selected_pixels_only() -> None:
    student, teacher = torch.randn(2, 2, 3, 5, 7)
    student.requires_grad_()
    mask = torch.rand(2, 5, 7) < 0.3
    loss = logit_distillation(student, teacher, mask, temperature=0.5)
    loss.backward()
    log_s = F.log_softmax(student / 0.5, dim=1)
    dense = F.kl_div(log_s, F.softmax(teacher / 0.5, dim=1), reduction="none").sum(1)
    assert loss.item() == pytest.approx(dense[mask].mean().item(), rel=1e-5)
    assert torch.equal(student.grad.abs().sum(1) > 0, mask)


def test_gradient_is_the_difference_of_probabilities() -> None:
    student, teacher = torch.randn(2, 1, 3, 4, 4, dtype=torch.float64)
    student.requires_grad_()
    logit_distillation(student, teacher, temperature=0.1).backward()
    expected = (F.softmax(student / 0.1, dim=1) - F.softmax(teacher / 0.1, dim=1)) / 0.1 / 16
    torch.testing.assert_close(student.grad, expected)


def test_no_gradient_reaches_the_teacher() -> None:
    student, teacher = (torch.randn(1, 2, 3, 3, requires_grad=True) for _ in range(2))
    logit_distillation(student, teacher).backward()
    assert teacher.grad is None


def test_opposite_confident_logits_stay_finite() -> None:
    student = torch.tensor([20.0, -20.0]).view(1, 2, 1, 1).requires_grad_()
    loss = logit_distillation(student, student.detach().flip(1), temperature=0.1)
    loss.backward()
    assert loss.item() == pytest.approx(400.0)
    torch.testing.assert_close(student.grad.flatten(), torch.tensor([10.0, -10.0]))


def test_absent_object_is_no_object() -> None:
    student, teacher = torch.randn(2, 1, 3, 4, 4)
    student[:, 2] = teacher[:, 2] = -torch.inf
    student.requires_grad_()
    loss = logit_distillation(student, teacher)
    loss.backward()
    assert loss.item() == pytest.approx(logit_distillation(student[:, :2], teacher[:, :2]).item(), rel=1e-5)
    assert student.grad.isfinite().all()


@pytest.mark.parametrize(
    ("teacher", "mask", "temperature", "message"),
    [
        (torch.zeros(1, 3, 4, 4), None, 1.0, r"got \(1, 2, 4, 4\) and \(1, 3, 4, 4\)"),
        (torch.zeros(1, 2, 4, 4), torch.ones(1, 4, 4), 1.0, r"mask \(1, 4, 4\) of bool, got .* torch.float32"),
        (torch.zeros(1, 2, 4, 4), torch.ones(1, 4, 5).bool(), 1.0, r"got \(1, 4, 5\)"),
        (torch.zeros(1, 2, 4, 4), None, 0.0, "temperature above 0, got 0.0"),
    ],
)
def test_bad_input_is_named(teacher: torch.Tensor, mask: torch.Tensor | None, temperature: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        logit_distillation(torch.zeros(1, 2, 4, 4), teacher, mask, temperature=temperature)
