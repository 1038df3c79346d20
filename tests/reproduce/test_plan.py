"""Which runs a table needs, in which order, and that each recipe says what its row says."""

import dataclasses
from pathlib import Path

import pytest

from mobilevos.errors import InputError
from mobilevos.reproduce.paper import EXPERIMENTS, RUNS, Run
from mobilevos.reproduce.plan import Job, Place, jobs_of, recipe_of, rows_of, write_recipe
from mobilevos.training.recipe import Loss, Recipe, load_recipe


def names(table: str, place: Place) -> list[str]:
    return [job.name for job in jobs_of(EXPERIMENTS[table], place)]


def test_what_others_begin_with_comes_first_and_once(place: Place) -> None:
    alone = dataclasses.replace(place, teacher="", seeds=2)
    assert names("table5", alone) == [
        "static-resnet18",
        "main-resnet18-seed0",
        "main-resnet18-seed1",
        "static-stcn",
        "main-stcn",
        "logit-only-seed0",
        "logit-only-seed1",
        "distil-resnet18-seed0",
        "distil-resnet18-seed1",
    ]
    assert "main-stcn" not in names("table5", place)
    assert names("figure7", place)[-2:] == ["soup-uniform-seed0", "soup-greedy-seed0"]
    assert names("table4", place) == []


def test_the_cpu_scale_has_no_bl30k(place: Place) -> None:
    short = dataclasses.replace(place, scale="cpu")
    assert [row.run for row in rows_of(EXPERIMENTS["table1"], place)][1] == "distil-resnet18-bl30k"
    assert "distil-resnet18-bl30k" not in [row.run for row in rows_of(EXPERIMENTS["table1"], short)]
    assert not any("bl30k" in name for name in names("table1", short))


@pytest.fixture
def untouched(place: Place) -> Place:
    """As the paper has it."""
    return dataclasses.replace(place, overrides=(), teacher="", davis=None)


def recipe(run: str, place: Place, seed: int = 0) -> Recipe:
    return recipe_of(Job(run, seed), place)


def test_each_recipe_differs_from_the_paper_by_what_its_row_says(untouched: Place) -> None:
    full = recipe("distil-resnet18", untouched)
    assert (full.loss.omega, full.loss.logit, full.loss.representation) == (0.0, 1.0, 1.0)

    def changed(run: str) -> Loss:
        """Its loss, if that is all that differs."""
        found = recipe(run, untouched)
        assert dataclasses.replace(found, name=full.name, loss=full.loss) == full
        return found.loss

    assert changed("logit-only") == dataclasses.replace(full.loss, representation=0.0)
    for omega in (0.2, 0.8, 1.0):
        assert changed(f"omega-{omega}") == dataclasses.replace(full.loss, omega=omega)
    assert changed("hints") == dataclasses.replace(full.loss, logit=0.0, representation=0.0, hint=1.0)
    assert changed("attention") == dataclasses.replace(full.loss, logit=0.0, representation=0.0, attention=1.0)
    assert recipe("no-poly", untouched).loss.epsilon == 0
    assert recipe("main-mobilenetv2-lite", untouched).loss.epsilon == 1
    assert recipe("random-pixels", untouched).loss.sampling == "random"


def test_runs_begin_where_the_others_ended(untouched: Place) -> None:
    runs = untouched.folder / "runs"
    full = recipe("distil-resnet18", untouched, seed=1)
    assert (full.name, full.seed) == ("distil-resnet18-seed1", 1)
    assert full.init == str(runs / "static-resnet18" / "last.safetensors")
    assert full.teacher.checkpoint == str(runs / "main-stcn" / "last.safetensors")
    assert recipe("distil-resnet18", dataclasses.replace(untouched, teacher="my.safetensors")).teacher.checkpoint == (
        "my.safetensors"
    )
    assert recipe("distil-resnet18-bl30k", untouched).init == str(runs / "bl30k-resnet18" / "last.safetensors")
    assert recipe("bl30k-resnet18", untouched).model == "resnet18"
    assert recipe("main-stcn", untouched).init == str(runs / "static-stcn" / "last.safetensors")


def test_the_cpu_scale_is_short_and_keeps_the_rows_apart(untouched: Place) -> None:
    short = dataclasses.replace(untouched, scale="cpu", teacher="resnet18")
    for run, what in RUNS.items():
        if isinstance(what, Run) and "stcn" not in run and "bl30k" not in run:
            found, whole = recipe(run, short), recipe(run, dataclasses.replace(untouched, teacher="resnet18"))
            assert found.iterations < 2000
            assert found.loss == whole.loss
            assert {phase.clip.size for phase in found.phases} == {192}
    with pytest.raises(InputError, match="name a teacher, such as --teacher resnet18"):
        recipe("distil-resnet18", dataclasses.replace(short, teacher=""))


def test_validation_is_on_the_first_clips_of_the_split(place: Place) -> None:
    found = recipe_of(Job("main-resnet18", 0), dataclasses.replace(place, overrides=()))
    assert found.validation.clips == ("swim", "dive")
    assert Path(found.validation.root) == place.davis


def test_a_recipe_that_was_written_is_the_recipe(untouched: Place, tmp_path: Path) -> None:
    for run in ("static-stcn", "distil-mobilenetv2"):
        whole = recipe(run, untouched)
        write_recipe(whole, tmp_path / "recipe.yaml")
        assert load_recipe(tmp_path / "recipe.yaml") == whole
