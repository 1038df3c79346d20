import torch

from mobilevos.model.aggregation import aggregate


def test_background_is_where_no_object_is() -> None:
    p = torch.tensor([0.9, 0.2, 0.5])
    logits = torch.logit(p).view(1, 3, 1, 1)
    odds = torch.cat([torch.tensor([0.1 * 0.8 * 0.5]), p])
    odds = odds / (1 - odds)  # softmax of log-odds is odds, normalised
    torch.testing.assert_close(aggregate(logits).softmax(1).flatten(), odds / odds.sum())


def test_one_object_keeps_its_decision() -> None:
    logits = torch.linspace(-30, 30, 61).view(1, 1, 1, 61)
    probability = aggregate(logits).softmax(1)[:, 1]
    assert torch.equal(probability > 0.5, logits[:, 0] > 0)
    assert torch.isfinite(probability).all()


def test_certain_objects_stay_finite_in_half_precision() -> None:
    logits = torch.tensor([100.0, -100.0, 0.0], dtype=torch.bfloat16).view(1, 3, 1, 1).requires_grad_()
    out = aggregate(logits)
    out.softmax(1).sum().backward()
    assert torch.isfinite(out).all()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
