"""What becomes a shipped model, and how it is entered."""

import json
from pathlib import Path

import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, digest, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.runtime import load_runtime
from mobilevos.weights import find_checkpoint, read_catalogue, shipped
from tools.ship import ship

NAME = "mobilenetv2-lite"


@pytest.mark.slow
def test_a_validated_student_is_entered_with_its_hashes(tmp_path: Path) -> None:
    before = shipped()
    entry = ship(find_checkpoint(NAME), tmp_path)
    assert read_catalogue(tmp_path) == {NAME: entry}
    assert entry.j_and_f == shipped()[NAME].j_and_f
    assert entry.sha256 == {name: digest(tmp_path / name) for name in (f"{NAME}.safetensors", f"{NAME}.onnx")}
    ours, theirs = (
        load_checkpoint(path).state_dict() for path in (tmp_path / f"{NAME}.safetensors", find_checkpoint(NAME))
    )
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)
    assert load_runtime(tmp_path / f"{NAME}.onnx", "onnx").variant == NAME
    assert shipped() == before


@pytest.mark.slow
def test_others_stay_in_the_catalogue(tmp_path: Path) -> None:
    ship(find_checkpoint("mobilenetv2"), tmp_path)
    ship(find_checkpoint(NAME), tmp_path)
    assert list(read_catalogue(tmp_path)) == ["mobilenetv2", NAME]


def test_what_was_never_validated_is_not_shipped(tmp_path: Path) -> None:
    checkpoint = tmp_path / "soup.safetensors"
    metadata, _ = read_checkpoint(find_checkpoint(NAME))
    save_checkpoint(checkpoint, load_checkpoint(find_checkpoint(NAME)), recipe=json.loads(metadata["recipe"]), notes={})
    with pytest.raises(InputError, match="was never validated"):
        ship(checkpoint, tmp_path / "weights")
    assert not (tmp_path / "weights").exists()


@pytest.mark.slow
def test_a_final_run_is_shipped_with_the_score_of_the_weights_it_began_with(tmp_path: Path) -> None:
    """It has seen the validation clips, so that its own score would say nothing."""
    network = load_checkpoint(find_checkpoint(NAME))
    recipe = json.loads(read_checkpoint(find_checkpoint(NAME))[0]["recipe"])
    for source in recipe["sources"]:
        source["exclude"] = []
    save_checkpoint(tmp_path / "final.safetensors", network, recipe=recipe, notes={"j_and_f": 0.99})
    with pytest.raises(InputError, match="was trained on the validation clip 'bmx-bumps'"):
        ship(tmp_path / "final.safetensors", tmp_path / "weights")
    (tmp_path / "weights").mkdir()
    entry = ship(tmp_path / "final.safetensors", tmp_path / "weights", scored=find_checkpoint(NAME))
    assert entry.j_and_f == shipped()[NAME].j_and_f
    notes = json.loads(read_checkpoint(tmp_path / "weights" / f"{NAME}.safetensors")[0]["notes"])
    assert notes["scored"] == "before the final run on all clips"


def test_teachers_are_not_shipped(tmp_path: Path) -> None:
    checkpoint = tmp_path / "stcn.safetensors"
    save_checkpoint(checkpoint, build("stcn"), recipe={}, notes={"j_and_f": 0.9})
    with pytest.raises(InputError, match="expected a student, got a 'stcn'"):
        ship(checkpoint, tmp_path)
    assert list(tmp_path.iterdir()) == [checkpoint]
