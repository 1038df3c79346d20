"""mobilevos models: what is shipped, and how it was trained."""

from pathlib import Path

import pytest
import yaml

from mobilevos.cli.models import models
from mobilevos.model.checkpoint import build, save_checkpoint
from mobilevos.training.recipe import load_recipe
from mobilevos.weights import shipped
from tests.cli.command import run_command


def test_all_are_listed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run_command(models, [], monkeypatch, capfd)
    assert ran.code == 0
    assert all(name in ran.out for name in shipped())
    assert max(map(len, ran.out.splitlines())) <= 80
    for model in shipped().values():
        (line,) = [line for line in ran.out.splitlines() if line.startswith(f"{model.name} ")]
        assert f"{model.j_and_f:.3f}" in line
        assert model.licence in " ".join(ran.out.split())


@pytest.mark.parametrize("name", ["mobilenetv2-lite", "mobilenetv2", "resnet18"])
def test_the_recipe_in_the_weights_can_be_read_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ran = run_command(models, ["--recipe", name], monkeypatch, capfd)
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "recipe.yaml").write_text(ran.out)
    recipe = load_recipe(tmp_path / "recipe.yaml")
    assert recipe.model == name
    assert f"name: {recipe.name}\n" in ran.out


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bare.safetensors", "mobilevos: the weights of 'bare.safetensors' do not say which recipe made them"),
        ("mobilenetv2-lite-int8", "mobilevos: expected a checkpoint, got the graph 'mobilenetv2-lite-int8'"),
        ("nonsense", "mobilevos: 'nonsense' is neither a shipped model"),
    ],
)
def test_where_there_is_no_recipe(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_checkpoint("bare.safetensors", build("mobilenetv2-lite"))
    ran = run_command(models, ["--recipe", name], monkeypatch, capfd)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1


def test_what_is_printed_is_what_the_metadata_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "last.safetensors"
    recipe = {"name": "mine", "queue": None, "sources": [{"kind": "davis", "exclude": ["a", "b"]}]}
    save_checkpoint(path, build("mobilenetv2-lite"), recipe=recipe)
    ran = run_command(models, ["--recipe", str(path)], monkeypatch, capfd)
    assert yaml.safe_load(ran.out) == recipe
    assert ran.out.startswith("name: mine\n"), "in the order of the fields"
