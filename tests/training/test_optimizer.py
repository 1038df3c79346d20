"""Learning rates, and what they do to the parts of a network."""

import dataclasses
from pathlib import Path

import pytest
import torch

from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.optimizer import learning_rate
from mobilevos.training.recipe import Optimizer, Recipe


def test_learning_rate() -> None:
    cosine = Optimizer(learning_rate=1.0, warmup=10, final=0.1)
    assert learning_rate(cosine, 4, 0.0) == pytest.approx(0.5)
    assert learning_rate(cosine, 100, 0.5) == pytest.approx(0.55)
    assert learning_rate(cosine, 100, 1.0) == pytest.approx(0.1)
    step = Optimizer(learning_rate=1.0, warmup=0, schedule="step", step_at=0.8)
    assert [learning_rate(step, 5, p) for p in (0.79, 0.81)] == [1.0, pytest.approx(0.1)]


def test_the_key_encoder_has_a_rate_of_its_own(tiny_recipe: Recipe, tmp_path: Path) -> None:
    """AdamW's first step is as long as the rate, whatever the gradient."""
    recipe = dataclasses.replace(tiny_recipe, optimizer=Optimizer(backbone_scale=0.25, weight_decay=0.0, warmup=1))
    trainer = Trainer(recipe, tmp_path, Processes(), True)
    before = {name: p.detach().clone() for name, p in trainer.network.named_parameters()}
    trainer.step(next(trainer.batches(recipe.phases[0])), 1e-3)
    largest = {
        name: float((p.detach() - before[name]).abs().max())
        for name, p in trainer.network.named_parameters()
        if p.grad is not None and p.grad.abs().max() > 1e-6
    }
    for part, rate in (("backbone.", 0.25e-3), ("value_encoder.", 1e-3), ("key.", 1e-3), ("decoder.", 1e-3)):
        steps = [step for name, step in largest.items() if name.startswith(part)]
        assert steps, f"{part} of {sorted(largest)}"
        torch.testing.assert_close(max(steps), rate, rtol=1e-2, atol=0)
