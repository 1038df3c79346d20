import pytest
import torch

from mobilevos.losses import soft_dice


def test_hand_computed_value() -> None:
    probabilities = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.2, 0.2, 0.6]])
    logits = probabilities.log().T[None, :, None, :]
    labels = torch.tensor([[[0, 1, 1, 2]]])
    first = 1 - (2 * (0.8 + 0.25) + 1) / ((0.3 + 0.8 + 0.25 + 0.2) + 2 + 1)
    second = 1 - (2 * 0.6 + 1) / ((0.2 + 0.1 + 0.5 + 0.6) + 1 + 1)
    assert soft_dice(logits, labels).item() == pytest.approx((first + second) / 2, rel=1e-6)


def test_right_is_free_and_wrong_is_dear() -> None:
    labels = torch.zeros(1, 16, 16, dtype=torch.uint8)
    labels[:, 4:12, 4:12] = 1
    right = torch.stack([labels == 0, labels == 1], dim=1).float() * 100
    assert soft_dice(right, labels).item() == pytest.approx(0, abs=1e-6)
    assert soft_dice(right.flip(1), labels).item() > 0.99


def test_absent_and_unpredicted_object_costs_nothing() -> None:
    labels = torch.zeros(1, 4, 4, dtype=torch.uint8)
    logits = torch.zeros(1, 2, 4, 4)
    logits[:, 1] = -torch.inf
    assert soft_dice(logits, labels).item() == 0


def test_void_is_ignored() -> None:
    logits = torch.randn(1, 3, 4, 6, requires_grad=True)
    labels = torch.randint(3, (1, 4, 6))
    labels[..., 3:] = 255
    loss = soft_dice(logits, labels)
    loss.backward()
    assert loss.item() == pytest.approx(soft_dice(logits[..., :3], labels[..., :3]).item(), rel=1e-6)
    assert logits.grad[..., 3:].abs().sum() == 0


def test_samples_that_are_void_throughout_are_left_out_of_the_mean() -> None:
    logits = torch.randn(3, 3, 4, 6, requires_grad=True)
    labels = torch.randint(3, (3, 4, 6))
    labels[1] = 255
    loss = soft_dice(logits, labels)
    assert loss.item() == pytest.approx(soft_dice(logits[::2], labels[::2]).item(), rel=1e-6)
    none = soft_dice(logits, torch.full((3, 4, 6), 255))
    none.backward()
    assert none.item() == 0
    assert logits.grad is not None
    assert not logits.grad.any()
