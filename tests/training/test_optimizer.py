"""Learning rates."""

import pytest

from mobilevos.training.optimizer import learning_rate
from mobilevos.training.recipe import Optimizer


def test_learning_rate() -> None:
    cosine = Optimizer(learning_rate=1.0, warmup=10, final=0.1)
    assert learning_rate(cosine, 4, 0.0) == pytest.approx(0.5)
    assert learning_rate(cosine, 100, 0.5) == pytest.approx(0.55)
    assert learning_rate(cosine, 100, 1.0) == pytest.approx(0.1)
    step = Optimizer(learning_rate=1.0, warmup=0, schedule="step", step_at=0.8)
    assert [learning_rate(step, 5, p) for p in (0.79, 0.81)] == [1.0, pytest.approx(0.1)]
