"""The shipped models: whole, small, and what their catalogue says."""

import json
import shutil
from pathlib import Path

import pytest

import mobilevos.weights
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import load_checkpoint, read_checkpoint
from mobilevos.model.network import parameter_count
from mobilevos.weights import FOLDER, find_checkpoint, find_model, shipped

MOST_BYTES = 40_000_000


def test_all_of_them_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < MOST_BYTES


@pytest.mark.parametrize("name", [name for name in shipped() if not name.endswith("-int8")])
def test_the_catalogue_tells_the_truth(name: str) -> None:
    model = shipped()[name]
    network = load_checkpoint(find_checkpoint(name))
    assert (network.variant, parameter_count(network)) == (model.variant, model.parameters)
    metadata, _ = read_checkpoint(find_checkpoint(name))
    assert json.loads(metadata["notes"])["j_and_f"] == pytest.approx(model.j_and_f, abs=1e-4)
    assert json.loads(metadata["recipe"])["model"] == name


def test_damaged_files_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(shipped()))
    for path in FOLDER.glob(f"{name}.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(mobilevos.weights, "FOLDER", tmp_path)
    find_model(name)
    with (tmp_path / f"{name}.onnx").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(InputError, match=rf"{name}\.onnx is damaged; install the package anew"):
        find_model(name)
    (tmp_path / f"{name}.onnx").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        find_model(name)


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"'nonsense' is neither a shipped model \(.*mobilenetv2-lite.*\) nor a file"):
        find_model("nonsense")


@pytest.mark.parametrize("name", [name for name in shipped() if name.endswith("-int8")])
def test_int8_graphs_say_what_they_are(name: str) -> None:
    from mobilevos.runtime.onnx_runtime import OnnxRuntime

    files = find_model(name)
    assert files.checkpoint is None
    assert files.graph is not None
    runtime = OnnxRuntime(files.graph)
    assert (runtime.variant, runtime.precision) == (shipped()[name].variant, "int8")
    assert shipped()[name].j_and_f == pytest.approx(shipped()[name.removesuffix("-int8")].j_and_f, abs=0.01)
