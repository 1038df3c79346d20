import math

import pytest
import torch

from mobilevos.losses import HintRegressor, attention_transfer, hint_loss


def test_hint_by_hand() -> None:
    student = torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 2, 1, 2)
    teacher = torch.tensor([1.0, 0.0, 0.0, 4.0]).view(1, 2, 1, 2)
    assert hint_loss(student, teacher).item() == pytest.approx((4 + 9) / 4 / 2)


def test_regressor_is_a_linear_map_of_every_pixel() -> None:
    regressor = HintRegressor(student_channels=3, teacher_channels=5)
    assert sum(p.numel() for p in regressor.parameters()) == 3 * 5 + 5
    features = torch.randn(2, 3, 4, 6)
    expected = features[1, :, 2, 3] @ regressor.weight.squeeze().T + regressor.bias
    torch.testing.assert_close(regressor(features)[1, :, 2, 3], expected)


def test_regressor_learns_with_the_student_and_the_teacher_does_not() -> None:
    regressor = HintRegressor(student_channels=3, teacher_channels=5)
    student, teacher = torch.randn(1, 3, 4, 4, requires_grad=True), torch.randn(1, 5, 4, 4, requires_grad=True)
    hint_loss(regressor(student), teacher).backward()
    assert regressor.weight.grad.abs().sum() > 0
    assert student.grad.abs().sum() > 0
    assert teacher.grad is None


def test_attention_by_hand() -> None:
    student = torch.tensor([[2.0, 1.0], [0.0, 1.0]]).view(1, 2, 1, 2)  # q = 4, 2
    teacher = torch.tensor([[0.0, -3.0]]).view(1, 1, 1, 2)  # q = 0, 9
    by_hand = (4 / math.sqrt(20)) ** 2 + (2 / math.sqrt(20) - 1) ** 2
    assert attention_transfer(student, teacher).item() == pytest.approx(by_hand, rel=1e-6)


def test_attention_teaches_the_student_only() -> None:
    student, teacher = (torch.randn(1, 3, 4, 4, requires_grad=True) for _ in range(2))
    attention_transfer(student, teacher).backward()
    assert student.grad.abs().sum() > 0
    assert teacher.grad is None


def test_attention_knows_neither_scale_nor_sign_nor_order_of_channels() -> None:
    student = torch.randn(2, 6, 5, 5)
    alike = -3 * student[:, torch.randperm(6)]
    assert attention_transfer(student, alike).item() == pytest.approx(0, abs=1e-6)


def test_attention_is_averaged_over_samples() -> None:
    student, teacher = torch.randn(3, 4, 5, 5), torch.randn(3, 7, 5, 5)
    one_by_one = [attention_transfer(student[b : b + 1], teacher[b : b + 1]) for b in range(3)]
    torch.testing.assert_close(attention_transfer(student, teacher), torch.stack(one_by_one).mean())


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"got \(1, 2, 4, 4\) and \(1, 3, 4, 4\)"):
        hint_loss(torch.zeros(1, 2, 4, 4), torch.zeros(1, 3, 4, 4))
    with pytest.raises(ValueError, match=r"one batch and size, got \(1, 2, 4, 4\) and \(1, 3, 2, 2\)"):
        attention_transfer(torch.zeros(1, 2, 4, 4), torch.zeros(1, 3, 2, 2))
    with pytest.raises(ValueError, match=r"features \(B, C, H, W\), got \(2, 4, 4\)"):
        attention_transfer(torch.zeros(2, 4, 4), torch.zeros(1, 3, 4, 4))
