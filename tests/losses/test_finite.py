"""Values and gradients stay finite at the extremes of every mask, in both precisions that training uses."""

import pytest
import torch
import torch.nn.functional as F

from mobilevos.losses import (
    attention_transfer,
    bootstrapped_poly_cross_entropy,
    boundary_mask,
    hint_loss,
    logit_distillation,
    representation_loss,
    sample_pixels,
    soft_dice,
)

SIZE = 16


def label_map(kind: str) -> torch.Tensor:
    """(2, SIZE, SIZE): both samples empty, full, void, or with a single pixel of object or of anything but void."""
    labels = torch.zeros(2, SIZE, SIZE, dtype=torch.uint8)
    if kind == "full":
        labels[:] = 1
    elif kind == "one pixel of object":
        labels[:, 3, 5] = 1
    elif kind == "void":
        labels[:] = 255
    elif kind == "one valid pixel":
        labels[:] = 255
        labels[:, 3, 5] = 1
    return labels


KINDS = ["empty", "full", "one pixel of object", "void", "one valid pixel"]
DTYPES = [torch.float32, torch.bfloat16]


def assert_finite(loss: torch.Tensor, leaf: torch.Tensor) -> None:
    loss.backward()
    assert loss.shape == ()
    assert loss.isfinite()
    assert leaf.grad is not None
    assert leaf.grad.dtype == leaf.dtype
    assert leaf.grad.isfinite().all()


def logits(dtype: torch.dtype, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Of student and teacher; the scale is their largest magnitude."""
    student, teacher = torch.empty(2, 2, 3, SIZE, SIZE).uniform_(-scale, scale).to(dtype)
    return student.requires_grad_(), teacher


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.0, 1.0, 20.0])
def test_terms_on_logits(kind: str, dtype: torch.dtype, scale: float) -> None:
    labels = label_map(kind)
    for keep in (1.0, 0.15):
        student, _ = logits(dtype, scale)
        assert_finite(bootstrapped_poly_cross_entropy(student, labels, keep=keep), student)
    student, _ = logits(dtype, scale)
    assert_finite(soft_dice(student, labels), student)
    for mask in (boundary_mask(labels, width=1), labels != 255):
        student, teacher = logits(dtype, scale)
        loss = logit_distillation(student, teacher, mask)
        assert_finite(loss, student)
        if not mask.any():
            assert loss == 0
            assert not student.grad.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("omega", [0.0, 0.95, 1.0])
@pytest.mark.parametrize("scale", [0.0, 1e-20, 1.0, 1e4])
def test_representation_through_sampling(kind: str, dtype: torch.dtype, omega: float, scale: float) -> None:
    labels = label_map(kind)
    for mask in (boundary_mask(labels, width=1), labels != 255):
        z_s = (torch.randn(2, 8, SIZE, SIZE) * scale).to(dtype).requires_grad_()
        z_t = (torch.randn(2, 12, SIZE, SIZE) * scale).to(dtype)
        sample = sample_pixels(mask, 20)
        y = sample.of((labels == 1).unsqueeze(1)).squeeze(2)
        loss = representation_loss(sample.of(z_s), sample.of(z_t), y, sample.valid, omega=omega)
        assert_finite(loss, z_s)
        if not mask.any():
            assert loss == 0
            assert not z_s.grad.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("omega", [0.0, 0.95])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_representation_of_hardly_any_pixels(n: int, dtype: torch.dtype, omega: float) -> None:
    z_s = torch.randn(n, 8, dtype=dtype, requires_grad=True)
    loss = representation_loss(z_s, torch.randn(n, 12, dtype=dtype), torch.ones(n), omega=omega)
    assert_finite(loss, z_s)
    if n < 2:
        assert loss.item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_baselines(dtype: torch.dtype, scale: float) -> None:
    for term in (hint_loss, attention_transfer):
        student = (scale * torch.randn(2, 4, 5, 5)).to(dtype).requires_grad_()
        assert_finite(term(student, torch.randn(2, 4, 5, 5).to(dtype)), student)


@pytest.mark.parametrize("omega", [0.0, 0.95])
def test_half_precision_costs_only_the_rounding_of_the_input(omega: float) -> None:
    z_s, z_t = torch.randn(2, 3, 200, 32).bfloat16()
    y = torch.rand(3, 200)
    exact = representation_loss(z_s.double(), z_t.double(), y, omega=omega)
    assert representation_loss(z_s, z_t, y, omega=omega).item() == pytest.approx(exact.item(), rel=1e-3)
    student, teacher = logits(torch.bfloat16, 3.0)
    exact = logit_distillation(student.double(), teacher.double())
    assert logit_distillation(student, teacher).item() == pytest.approx(exact.item(), rel=1e-5)
    exact = F.cross_entropy(student.double(), torch.ones(2, SIZE, SIZE).long())
    loss = bootstrapped_poly_cross_entropy(student, torch.ones(2, SIZE, SIZE).long(), keep=1.0, epsilon=0.0)
    assert loss.item() == pytest.approx(exact.item(), rel=1e-5)
