import json
from pathlib import Path

import pytest
import torch

from mobilevos.cli.soup import soup as soup_command
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.training.recipe import DataSource, Recipe
from mobilevos.training.soup import Weights, average, cook, greedy_soup, training_clips, uniform_soup
from tests.builders.davis import write_davis
from tests.cli.command import run_command


def at(*values: float) -> Weights:
    return {"w": torch.tensor(values)}


def closeness(weights: Weights) -> float:
    """The target is (1, 1)."""
    return -float((weights["w"] - 1).abs().sum())


def test_uniform_is_the_mean() -> None:
    soup = uniform_soup([at(0.0, 3.0), at(1.0, 1.0), at(2.0, 5.0)], closeness)
    torch.testing.assert_close(soup.weights["w"], torch.tensor([1.0, 3.0]))
    assert soup.ingredients == (0, 1, 2)


def test_greedy_keeps_what_helps() -> None:
    candidates = [at(5.0, 5.0), at(0.0, 1.5), at(2.0, 0.5), at(-4.0, 1.0)]
    soup = greedy_soup(candidates, closeness)
    assert soup.ingredients == (1, 2)  # together they hit the target; each of the others would spoil it
    assert soup.score == 0
    assert soup.score >= max(soup.scores)


def test_different_networks_do_not_mix() -> None:
    with pytest.raises(InputError, match="one and the same network"):
        average([at(1.0), at(1.0, 2.0)])


def test_a_soup_of_files(tiny_recipe: Recipe, tmp_path: Path) -> None:
    paths = [tmp_path / str(i) / "last.safetensors" for i in range(2)]
    for i, path in enumerate(paths):
        torch.manual_seed(i)
        save_checkpoint(path, build("mobilenetv2-lite"))
    lines: list[str] = []
    soup = cook(paths, tmp_path / "soup.safetensors", tiny_recipe, greedy=False, report=lines.append)
    assert len(lines) == 3
    mixed = load_checkpoint(tmp_path / "soup.safetensors").state_dict()["key.weight"]
    parts = [load_checkpoint(path).state_dict()["key.weight"] for path in paths]
    torch.testing.assert_close(mixed, (parts[0] + parts[1]) / 2)
    assert soup.ingredients == (0, 1)
    notes = json.loads(read_checkpoint(tmp_path / "soup.safetensors")[0]["notes"])
    assert notes["soup"] == [str(path) for path in paths]
    assert notes["scores"] == [{"file": str(p), "score": s} for p, s in zip(paths, soup.scores, strict=True)]
    with pytest.raises(InputError, match="'nowhere' is not a training clip"):
        cook(paths, tmp_path / "soup2.safetensors", tiny_recipe, clips=["nowhere"])


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    recipe = Recipe("soup", "mobilenetv2-lite", (DataSource(kind="davis", root="davis"),), data_root=str(tmp_path))
    with pytest.raises(InputError, match=r"folder of videos, but .*davis/JPEGImages/480p is missing"):
        training_clips(recipe)


def test_a_file_in_the_way_of_the_soup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    arguments = ["a.safetensors", "-o", str(tmp_path / "file" / "soup.safetensors"), "--recipe", "recipe.yaml"]
    ran = run_command(soup_command, arguments, monkeypatch, capfd)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"{tmp_path / 'file'} is a file" in ran.err


def test_clips_of_a_split_only(tmp_path: Path) -> None:
    """A folder that holds validation clips too: a soup must not be selected on them."""
    write_davis(tmp_path / "davis", {"seen": ([], []), "held-out": ([], [])}, {"2017/train": ["seen"]})
    source = DataSource(kind="davis", root="davis", split="2017/train")
    recipe = Recipe("soup", "mobilenetv2-lite", (source,), data_root=str(tmp_path))
    assert training_clips(recipe)[1] == ["seen"]
