"""Runs know which runs went before, and do not repeat their clips."""

import dataclasses
import json
from pathlib import Path

import torch

from mobilevos.model.checkpoint import build, read_checkpoint, save_checkpoint
from mobilevos.training.distributed import Processes
from mobilevos.training.lineage import derived_seed, lineage
from mobilevos.training.loop import Trainer, train
from mobilevos.training.recipe import Recipe
from mobilevos.training.soup import cook


def test_seeds_follow_from_names() -> None:
    """As numbers: they must be the same in every process and on every machine."""
    assert derived_seed("lite-a", ()) == 1940927190
    assert derived_seed("lite-b", ("lite-a",)) == 2079798026
    assert derived_seed("lite-b", ()) != derived_seed("lite-b", ("lite-a",))


def test_what_a_checkpoint_says() -> None:
    assert lineage({"notes": '{"lineage": ["a", "b"]}', "recipe": '{"name": "b"}'}) == ("a", "b")
    assert lineage({"notes": "{}", "recipe": '{"name": "b"}'}) == ("b",)
    assert lineage({"notes": "{}", "recipe": "{}"}) == ()
    assert lineage({}) == ()


def first_batch(recipe: Recipe, folder: Path) -> torch.Tensor:
    return next(Trainer(recipe, folder, Processes(), True).batches(recipe.phases[0])).frames


def test_a_chain_of_runs_sees_new_clips(tiny_recipe: Recipe, tmp_path: Path) -> None:
    first = dataclasses.replace(tiny_recipe, name="first", iterations=1)
    weights = train(first, tmp_path)
    second = dataclasses.replace(first, name="second", init=str(weights))
    metadata, _ = read_checkpoint(train(second, tmp_path))
    assert lineage(metadata) == ("first", "second")
    assert json.loads(metadata["recipe"])["seed"] == derived_seed("second", ("first",))
    assert not torch.equal(first_batch(first, tmp_path / "x"), first_batch(second, tmp_path / "x"))
    again = dataclasses.replace(second, iterations=2)
    assert torch.equal(first_batch(second, tmp_path / "x"), first_batch(again, tmp_path / "x"))
    same = [dataclasses.replace(recipe, seed=7) for recipe in (first, second)]
    assert torch.equal(*(first_batch(recipe, tmp_path / "x") for recipe in same))


def test_a_run_goes_on_with_its_own_seed(tiny_recipe: Recipe, tmp_path: Path) -> None:
    train(dataclasses.replace(tiny_recipe, iterations=1, seed=5), tmp_path)
    assert Trainer(tiny_recipe, tmp_path / "tiny", Processes(), False).seed == 5
    assert Trainer(tiny_recipe, tmp_path / "tiny", Processes(), True).seed == derived_seed("tiny", ())


def test_a_soup_has_the_runs_of_all_its_ingredients(tiny_recipe: Recipe, tmp_path: Path) -> None:
    chains = (["a", "b"], ["a", "c"])
    paths = [tmp_path / f"{chain[-1]}.safetensors" for chain in chains]
    for path, chain in zip(paths, chains, strict=True):
        save_checkpoint(path, build("mobilenetv2-lite"), notes={"lineage": chain}, recipe={"name": chain[-1]})
    cook(paths, tmp_path / "soup.safetensors", tiny_recipe, greedy=False, report=lambda line: None)
    assert lineage(read_checkpoint(tmp_path / "soup.safetensors")[0]) == ("a", "b", "c")
