"""Core ML packages: what coremltools writes is read back, and computed by torch operation by operation.

Core ML itself runs on Apple's systems only: it was never run.
"""

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from mobilevos.cli.export import export
from mobilevos.export.coreml import export_coreml
from mobilevos.export.plain_step import PlainStep
from mobilevos.export.quiet import quietly
from mobilevos.export.step import Shape
from mobilevos.export.tflite_step import INPUTS, OUTPUTS, example_inputs
from mobilevos.model.student import STUDENTS
from tests.cli.command import run_command
from tests.export.mil import Program
from tests.export.test_tflite import student

FLOAT32 = 65568
"""How a specification writes it."""
CASES = [*((variant, 1, 3) for variant in STUDENTS), ("mobilenetv2-lite", 2, 2)]
"""Networks, objects and slots."""


@pytest.fixture
def coremltools() -> None:
    with quietly():  # it warns of versions it was not tried with
        pytest.importorskip("coremltools", reason="coremltools is not installed (the extra coreml)")


@pytest.mark.usefixtures("coremltools")
@pytest.mark.parametrize(("variant", "objects", "slots"), CASES)
def test_the_converted_program_is_our_step(tmp_path: Path, variant: str, objects: int, slots: int) -> None:
    network = student(variant)
    height, width = 80, 112  # an odd number of cells each way
    export_coreml(network, tmp_path / "step.mlpackage", Shape(height, width, objects, slots))
    program = Program(tmp_path / "step.mlpackage")

    told = program.spec.description
    example = dict(zip(INPUTS, example_inputs(network, height, width, objects, slots), strict=True))
    step = PlainStep(network).eval()
    for use_given in (0.0, 1.0):
        inputs = example | {"given": torch.rand_like(example["given"]), "use_given": torch.tensor([use_given])}
        with torch.inference_mode():
            expected = dict(zip(OUTPUTS, step(**inputs), strict=True))
            found = program(inputs)
        assert list(found) == list(OUTPUTS)
        for name in OUTPUTS:
            torch.testing.assert_close(found[name], expected[name], atol=1e-4, rtol=1e-4)
    for entries, tensors in ((told.input, example), (told.output, expected)):
        types = {entry.name: entry.type.multiArrayType for entry in entries}
        shapes = {name: (tuple(kind.shape), kind.dataType) for name, kind in types.items()}
        assert shapes == {name: (tuple(tensor.shape), FLOAT32) for name, tensor in tensors.items()}
    assert told.metadata.userDefined["variant"] == variant
    assert told.metadata.userDefined["value_channels"] == str(network.value_channels)
    assert [path.name for path in tmp_path.iterdir()] == ["step.mlpackage"]


@pytest.mark.usefixtures("coremltools")
def test_an_earlier_package_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "step.mlpackage").mkdir()
    (tmp_path / "step.mlpackage" / "old").write_text("of before")
    export_coreml(student("mobilenetv2-lite"), tmp_path / "step.mlpackage", Shape(48, 64, 1))
    assert sorted(path.name for path in (tmp_path / "step.mlpackage").iterdir()) == ["Data", "Manifest.json"]
    kinds = Counter(operation.op_type for operation in Program(tmp_path / "step.mlpackage").function.operations)
    assert kinds["conv"] == 104
    assert kinds["cast"] == 0, "single precision from end to end"


def test_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "coremltools", None)
    arguments = ["mobilenetv2-lite", "-o", str(tmp_path / "out"), "--to", "coreml", "--frame", "96x64"]
    ran = run_command(export, arguments, monkeypatch, capfd)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "needs coremltools, which is not installed: pip install 'mobilevos[coreml]'" in ran.err
    assert not (tmp_path / "out").exists()
