"""TFLite files: the step in another arrangement, put together from templates."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from mobilevos.cli.export import export
from mobilevos.errors import InputError
from mobilevos.export import tflite_step
from mobilevos.export.step import Shape, StepGraph, example_inputs
from mobilevos.export.tflite import export_tflite, ordered_weights, tflite_model, write_web_bundle
from mobilevos.export.tflite_step import TfliteStep
from mobilevos.export.tflite_template import TEMPLATES, WEIGHTS, Size, assemble, line, read_manifest, read_weights
from mobilevos.model.checkpoint import build
from mobilevos.model.student import STUDENTS, Student
from tests.cli.command import run_command
from tools.tflite_cut import probe

CONVERTER = os.environ.get("MOBILEVOS_LITERT_PYTHON")


def student(variant: str, locality: bool = True) -> Student:
    """Random weights, without the zeros that untrained networks begin with."""
    torch.manual_seed(0)
    network = build(variant, locality=locality)
    assert isinstance(network, Student)
    for value in network.parameters():
        if not value.any():
            torch.nn.init.normal_(value.data, std=0.05)
    return network.eval()


@pytest.mark.parametrize("use_given", [0.0, 1.0])
@pytest.mark.parametrize("objects", [1, 3])
@pytest.mark.parametrize(
    ("variant", "locality"), [*((variant, True) for variant in STUDENTS), ("mobilenetv2-lite", False)]
)
def test_the_arrangement_changes_no_number(variant: str, locality: bool, objects: int, use_given: float) -> None:
    network = student(variant, locality)
    frame, keys, values, nearness, slot, given, _ = example_inputs(network, 80, 112, objects, 3)
    given = torch.rand_like(given)
    with torch.inference_mode():
        expected = StepGraph(network)(frame, keys, values, nearness, slot, given, torch.tensor(use_given))
        probabilities, keys_out, values_out, rating = TfliteStep(network)(
            frame.float(),
            keys.flatten(2),
            values.flatten(3).permute(0, 2, 3, 1),
            nearness,
            torch.eye(3)[slot],
            given,
            torch.tensor([use_given]),
        )
    torch.testing.assert_close(probabilities, expected[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(keys_out, expected[1].flatten(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(values_out, expected[2].flatten(3).permute(0, 2, 3, 1), atol=1e-5, rtol=0)
    torch.testing.assert_close(rating, expected[3], atol=1e-5, rtol=0)


def test_a_frame_can_fill_all_slots() -> None:
    """How a track begins in one call, and how nothing is remembered."""
    network = student("mobilenetv2-lite")
    example = dict(zip(tflite_step.INPUTS, tflite_step.example_inputs(network, 48, 64, 1, 2), strict=True))
    step = TfliteStep(network)
    with torch.inference_mode():
        _, keys, values, _ = step(**example | {"write": torch.ones(2)})
        _, same_keys, same_values, _ = step(**example | {"write": torch.zeros(2)})
    assert torch.equal(keys[:, 0], keys[:, 1])
    assert torch.equal(values[:, 0], values[:, 1])
    assert torch.equal(same_keys, example["keys"])
    assert torch.equal(same_values, example["values"])


def test_sizes_by_hand() -> None:
    assert Size(1, 0).at(480, 864) == 480
    assert Size(0, 4).at(480, 864) == 216
    assert Size(32, 0, 1, 2).at(80, 112) == 5  # 80 / 32 = 2.5, and the padding
    assert Size(16, 16, 2).at(480, 864) == 2 * 30 * 54
    assert np.frombuffer(line(4), "<f4").tolist() == [-1.5, -0.5, 0.5, 1.5]


@pytest.mark.parametrize("variant", STUDENTS)
def test_a_probe_can_be_told_from_channels(variant: str) -> None:
    """Sizes that are found in a file by their value must not be mistaken."""
    network = student(variant)
    height, width = probe(network)
    channels = {dim for value in network.parameters() for dim in value.shape}
    sizes = {size // d + plus for size in (height, width) for d in (1, 2, 4, 8, 16, 32) for plus in (0, 2)}
    assert not sizes & channels
    assert len(sizes) == 24
    assert min(sizes) > 8
    assert height % 32 == width % 32 == 0, "else a convolution with stride may lose its explicit padding"


@pytest.mark.parametrize("variant", STUDENTS)
def test_templates_fit_their_network(variant: str) -> None:
    network = student(variant)
    manifest = read_manifest(TEMPLATES / variant)
    weights = ordered_weights(network, manifest)
    unused = {"network.read.sharpness"}  # the step has its exponential
    names = {name for name, _ in TfliteStep(network).named_parameters()}
    assert {entry[0] for entry in manifest["weights"]} == names - unused
    assert sorted(manifest["templates"]) == ["1", "2", "3", "4"]
    for objects in (1, 4):
        data = assemble(TEMPLATES / variant, 64, 96, objects, weights)
        assert data[4:8] == b"TFL3"
        assert all(value.astype("<f4").tobytes() in data for value in weights[:3])


def test_a_bundle_holds_the_weights_once(tmp_path: Path) -> None:
    network = student("mobilenetv2-lite").half().float()
    write_web_bundle(network, tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4_300_000
    manifest = read_manifest(tmp_path)
    for ours, theirs in zip(read_weights(tmp_path, manifest), ordered_weights(network, manifest), strict=True):
        np.testing.assert_array_equal(ours, theirs.ravel().astype(ours.dtype))
    plain = tflite_model(network, Shape(64, 96, 2))
    bundled = assemble(tmp_path, 64, 96, 2)
    # all but the memory's strength, an exponential, is a number of half precision
    assert sum(a != b for a, b in zip(plain, bundled, strict=True)) <= 4


def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    network = student("mobilenetv2-lite")
    folder = TEMPLATES / network.variant
    with pytest.raises(InputError, match="multiples of 16, got 100 x 64"):
        export_tflite(network, tmp_path / "a.tflite", Shape(64, 100, 1))
    with pytest.raises(InputError, match="expected a number of objects"):
        export_tflite(network, tmp_path / "a.tflite", Shape(64, 96))
    with pytest.raises(InputError, match="templates for 1, 2, 3, 4 objects, got 5"):
        assemble(folder, 64, 96, 5)
    with pytest.raises(InputError, match="multiples of 16 up to 4096, got 96 x 0"):
        assemble(folder, 0, 96, 1)
    with pytest.raises(InputError, match="holds no TFLite bundle"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(InputError, match="not a TFLite bundle of this version"):
        read_manifest(tmp_path)
    with pytest.raises(InputError, match="are of another network: 'network"):
        ordered_weights(student("resnet18"), read_manifest(folder))
    assert not (tmp_path / "a.tflite").exists()


def test_a_damaged_bundle_is_not_assembled(tmp_path: Path) -> None:
    write_web_bundle(student("mobilenetv2-lite"), tmp_path)
    (tmp_path / "step-1.bin").write_bytes((tmp_path / "step-1.bin").read_bytes()[:-8])
    with pytest.raises(InputError, match="damaged"):
        assemble(tmp_path, 64, 96, 1)
    (tmp_path / WEIGHTS).write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        assemble(tmp_path, 64, 96, 2)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["mobilenetv2-lite", "-o", str(tmp_path), "--to", "tflite"]
    ran = run_command(export, [*arguments, "--frame", "96x64", "--objects", "2"], monkeypatch, capfd)
    assert ran.code == 0
    assert ran.out.strip() == str(tmp_path / "mobilenetv2-lite-96x64-2.tflite")
    assert (tmp_path / "mobilenetv2-lite-96x64-2.tflite").stat().st_size > 7_000_000
    monkeypatch.setitem(__import__("sys").modules, "litert_torch", None)
    ran = run_command(export, [*arguments, "--objects", "7"], monkeypatch, capfd)
    assert ran.code == 2
    assert "needs litert-torch, which is not installed" in ran.err
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(CONVERTER is None, reason="MOBILEVOS_LITERT_PYTHON names no interpreter with litert-torch")
def test_templates_are_what_the_converter_makes(tmp_path: Path) -> None:
    """The same operations with the same shapes and constants, at a size that is not the probe's."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated", reason="ai-edge-litert is not installed")
    script = f"""
import torch
from pathlib import Path
from mobilevos.export.tflite_convert import convert
from mobilevos.export.tflite_step import TfliteStep
from mobilevos.model.checkpoint import load_checkpoint
Path({str(tmp_path / "converted.tflite")!r}).write_bytes(
    convert(TfliteStep(load_checkpoint({str(tmp_path / "net.safetensors")!r})), 96, 160, 2, 2))
"""
    from mobilevos.model.checkpoint import save_checkpoint

    network = student("mobilenetv2-lite")
    save_checkpoint(tmp_path / "net.safetensors", network)
    assert CONVERTER is not None
    subprocess.run([CONVERTER, "-c", script], check=True, capture_output=True)
    found = []
    for data in ((tmp_path / "converted.tflite").read_bytes(), tflite_model(network, Shape(96, 160, 2))):
        model = schema.ModelT.InitFromPackedBuf(data)
        (graph,) = model.subgraphs
        contents = [b"" if b.data is None else bytes(bytearray(b.data)) for b in model.buffers]
        codes = [code.builtinCode for code in model.operatorCodes]
        found.append(
            [
                (
                    codes[operator.opcodeIndex],
                    [list(graph.tensors[i].shape) for i in (*operator.inputs, *operator.outputs)],
                    [contents[graph.tensors[i].buffer] for i in operator.inputs],
                )
                for operator in graph.operators
            ]
        )
    assert found[0] == found[1]
