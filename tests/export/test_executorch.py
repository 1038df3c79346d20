"""ExecuTorch programs on its own runtime, against torch."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mobilevos.cli.export import export
from mobilevos.export.executorch import executorch_program
from mobilevos.export.plain_step import PlainStep
from mobilevos.export.quiet import quietly
from mobilevos.export.step import Shape
from mobilevos.export.tflite_step import INPUTS, OUTPUTS, example_inputs
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.model.student import STUDENTS, Student
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.weights import find_checkpoint
from tests.cli.command import run_command
from tests.export.test_tflite import student

CASES = [*((variant, 1, 3) for variant in STUDENTS), ("mobilenetv2-lite", 2, 2)]
"""Networks, objects and slots."""


def loaded(data: bytes) -> Any:
    with quietly():
        runtime = pytest.importorskip("executorch.runtime", reason="executorch is not installed (the extra executorch)")
        program = runtime.Runtime.get().load_program(data)
    method = program.load_method("forward")
    method.data = data, program  # nothing else keeps what it points into
    return method


@pytest.fixture
def executorch() -> None:
    with quietly():
        pytest.importorskip("executorch.exir", reason="executorch is not installed (the extra executorch)")


def follow(step: Any, network: Student, frames: np.ndarray, mask: np.ndarray) -> list[torch.Tensor]:
    """The loop of docs/deploying.md."""
    example = example_inputs(network, *frames.shape[1:3], 1, 3)
    inputs = dict(zip(INPUTS, (torch.zeros_like(tensor) for tensor in example), strict=True))
    seen = []
    for time, frame in enumerate(frames):
        inputs["frame"] = torch.from_numpy(frame).float()
        inputs["nearness"] = torch.tensor([0, 1, 1 / 4] if time % 2 else [0, 1 / 4, 1])
        inputs["write"] = torch.ones(3) if time == 0 else torch.eye(3)[1 + time % 2]
        inputs["use_given"] = torch.tensor([float(time == 0)])
        inputs["given"][:, 0] = torch.nn.functional.avg_pool2d(torch.from_numpy(mask == 1).float()[None], 4)
        out = dict(zip(OUTPUTS, step(tuple(inputs.values())), strict=True))
        inputs["keys"], inputs["values"] = out["keys_out"].clone(), out["values_out"].clone()
        seen.append(out["probabilities"].clone())
    return seen[1:]


@pytest.mark.slow
@pytest.mark.usefixtures("executorch")
def test_a_clip_with_the_shipped_network() -> None:
    """Probabilities of twenty frames agree to 1e-3, though each is seen with what was remembered of the ones before."""
    network = load_checkpoint(find_checkpoint("mobilenetv2-lite"))
    assert isinstance(network, Student)
    frames, masks = synthetic_clip(frames=20, height=96, width=160, objects=1, seed=0)
    method = loaded(executorch_program(network, Shape(96, 160, 1)))
    ours = follow(method.execute, network, frames, masks[0])
    step = PlainStep(network).eval()
    with torch.inference_mode():
        theirs = follow(lambda inputs: step(*inputs), network, frames, masks[0])
    assert 0.005 < (theirs[-1][1] > 0.5).float().mean() < 0.5, "an object is followed"
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-3, rtol=0)


@pytest.mark.slow
@pytest.mark.usefixtures("executorch")
@pytest.mark.parametrize(("variant", "objects", "slots"), CASES)
def test_every_variant(variant: str, objects: int, slots: int) -> None:
    network = student(variant)
    method = loaded(executorch_program(network, Shape(80, 112, objects, slots)))
    inputs = example_inputs(network, 80, 112, objects, slots)
    with torch.inference_mode():
        expected = PlainStep(network).eval()(*inputs)
    found = method.execute(inputs)
    for name, a, b in zip(OUTPUTS, found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.slow
@pytest.mark.usefixtures("executorch")
def test_xnnpack_has_what_costs() -> None:
    """No convolution and no product is left to ExecuTorch's own loops."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    data = executorch_program(student("mobilenetv2-lite"), Shape(48, 64, 1))
    (plan,) = deserialize_pte_binary(data).program.execution_plan
    assert {delegate.id for delegate in plan.delegates} == {"XnnpackBackend"}
    left = {operator.name for operator in plan.operators}
    assert left
    assert not left & {"aten::convolution", "aten::mm", "aten::bmm", "aten::addmm", "aten::_softmax"}


def test_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("executorch.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "executorch", None)
    arguments = ["mobilenetv2-lite", "-o", str(tmp_path / "out"), "--to", "executorch", "--frame", "96x64"]
    ran = run_command(export, arguments, monkeypatch, capfd)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "needs executorch, which is not installed: pip install 'mobilevos[executorch]'" in ran.err
    assert not (tmp_path / "out").exists()
