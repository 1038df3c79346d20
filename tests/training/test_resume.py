"""Which runs may go on."""

import dataclasses
from pathlib import Path

import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.training.recipe import DataSource, Optimizer, Recipe
from mobilevos.training.resume import differences, read_state

CPU = torch.device("cpu")


def written(path: Path, recipe: dict[str, object]) -> Path:
    torch.save({"recipe": recipe, "iteration": 5}, path)
    return path


def test_differences_are_named() -> None:
    stored = {"model": "stcn", "optimizer": {"final": 0.1, "warmup": 3}, "sources": [{"root": "a"}, {"root": "b"}]}
    asked = {"model": "stcn", "optimizer": {"final": 0.2, "warmup": 3}, "sources": ({"root": "a"}, {"root": "c"})}
    assert list(differences(stored, asked)) == ["optimizer.final", "sources[1].root"]
    assert list(differences(stored, {**stored, "sources": [{"root": "a"}]})) == ["sources"]
    assert list(differences(stored, stored)) == []


def test_another_recipe_is_refused_with_the_key(tmp_path: Path) -> None:
    recipe = Recipe("run", "stcn", (DataSource("davis", "davis"),))
    path = written(tmp_path / "state.pt", dataclasses.asdict(recipe))
    assert read_state(path, dataclasses.replace(recipe, iterations=7, data_root="moved"), CPU)["iteration"] == 5
    other = dataclasses.replace(recipe, optimizer=Optimizer(warmup=7))
    with pytest.raises(InputError, match=r"another recipe \(optimizer\.warmup differ\)"):
        read_state(path, other, CPU)


def test_runs_of_older_versions_go_on(tmp_path: Path) -> None:
    """They say 0 for a memory without bound, and nothing about what came later."""
    recipe = Recipe("run", "stcn", (DataSource("davis", "davis"),), queue=None)
    older = dataclasses.asdict(recipe) | {"queue": 0}
    del older["spoil"], older["sources"][0]["split"]
    assert read_state(written(tmp_path / "state.pt", older), recipe, CPU)["iteration"] == 5
    with pytest.raises(InputError, match="queue differ"):
        read_state(tmp_path / "state.pt", dataclasses.replace(recipe, queue=2), CPU)
