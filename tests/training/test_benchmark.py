"""mobilevos benchmark training, on a recipe that takes a second."""

import dataclasses
from pathlib import Path

import pytest

from mobilevos.benchmark.training import benchmark_training, gradient_norms
from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.recipe import Loss, Recipe


def test_rates_and_gradients_are_told(tiny_recipe: Recipe) -> None:
    lines: list[str] = []
    report = benchmark_training(tiny_recipe, iterations=1, progress=lines.append)
    assert [row["batches"] for row in report.rows] == ["loader", "one batch"]
    assert [line.split(",")[0] for line in lines] == [
        "gradient of cross_entropy",
        "gradient of dice",
        "gradient of prompt",
    ]


def test_a_gradient_grows_with_the_weight_of_its_term_only(tiny_recipe: Recipe, tmp_path: Path) -> None:
    found = []
    for weight in (1.0, 3.0):
        recipe = dataclasses.replace(tiny_recipe, loss=Loss(dice=weight), spoil=0.0, seed=0)
        trainer = Trainer(recipe, tmp_path, Processes(), True)
        batch = next(trainer.batches(recipe.phases[0]))
        found.append(gradient_norms(trainer, [batch, batch]))
        assert trainer.objective.loss == recipe.loss
        assert all(p.grad is None for p in trainer.objective.parameters())
    assert found[1]["dice"] == pytest.approx(3 * found[0]["dice"], rel=1e-3)
    assert found[1]["cross_entropy"] == pytest.approx(found[0]["cross_entropy"], rel=1e-3)
