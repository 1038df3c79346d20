"""The averaged weights are those that are used."""

import dataclasses
from pathlib import Path

import pytest
import torch

from mobilevos.model.checkpoint import read_checkpoint
from mobilevos.training.average import WeightAverage
from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.recipe import Optimizer, Recipe


def test_it_follows_the_weights_slowly() -> None:
    layer = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(layer.weight)
    average = WeightAverage(layer, 0.9)
    torch.nn.init.ones_(layer.weight)
    average.update(layer, 1000)
    assert average.weights["weight"].item() == pytest.approx(0.1)
    average.update(layer, 1000)
    assert average.weights["weight"].item() == pytest.approx(0.19)
    average.update(layer, 0)  # early on it forgets faster: 1 / 10 stays
    assert average.weights["weight"].item() == pytest.approx(0.019 + 0.9)


@pytest.mark.parametrize("decay", [0.999, 0.05, 0.0])
def test_a_step_moves_the_average(tiny_recipe: Recipe, tmp_path: Path, decay: float) -> None:
    """After one step a tenth of what it began with is left, or less."""
    recipe = dataclasses.replace(tiny_recipe, optimizer=Optimizer(ema=decay, warmup=1))
    trainer = Trainer(recipe, tmp_path, Processes(), True)
    before = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    trainer.step(next(trainer.batches(recipe.phases[0])), 1e-2)
    after = trainer.network.state_dict()
    left = min(decay, 0.1)
    trainer.save()
    _, saved = read_checkpoint(tmp_path / "last.safetensors")
    for name, tensor in saved.items():
        torch.testing.assert_close(tensor, left * before[name] + (1 - left) * after[name])
    weight = "key.weight"
    assert not torch.allclose(after[weight], before[weight], rtol=1e-3)
    assert torch.equal(saved[weight], after[weight]) == (decay == 0)
