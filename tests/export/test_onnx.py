"""Exported graphs against torch, over whole clips."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.export.onnx import export_onnx, link_onnx
from mobilevos.export.step import Shape
from mobilevos.model.checkpoint import build, load_checkpoint, save_checkpoint
from mobilevos.model.student import STUDENTS, Student
from mobilevos.runtime.base import Runtime
from mobilevos.runtime.onnx_runtime import OnnxRuntime
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker
from mobilevos.tracking.result import TrackResult
from mobilevos.weights import find_model, shipped


def student(variant: str) -> Student:
    torch.manual_seed(0)
    network = build(variant)
    assert isinstance(network, Student)
    return network.eval()


def follow(runtime: Runtime, frames: np.ndarray, mask: np.ndarray, queue: int | None = 2) -> list[TrackResult]:
    tracker = Tracker(runtime, queue=queue, every=2)
    tracker.start(frames[0], mask)
    return [tracker.step(frame) for frame in frames[1:]]


def check(ours: list[TrackResult], theirs: list[TrackResult]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("variant", STUDENTS)
def test_one_graph_for_all_sizes(variant: str, tmp_path: Path) -> None:
    network = student(variant)
    export_onnx(network, tmp_path / "step.onnx")
    onnx.checker.check_model(tmp_path / "step.onnx", full_check=True)
    runtime, reference = OnnxRuntime(tmp_path / "step.onnx", threads=1), TorchRuntime(network)
    assert runtime.variant == variant
    for height, width, objects, queue in ((64, 96, 1, 2), (80, 48, 3, 4), (48, 64, 2, None), (48, 64, 1, 1)):
        frames, masks = synthetic_clip(frames=5, height=height, width=width, objects=objects, seed=0)
        check(follow(runtime, frames, masks[0], queue), follow(reference, frames, masks[0], queue))


@pytest.mark.slow
def test_fifty_frames(tmp_path: Path) -> None:
    """Differences do not add up over a clip."""
    network = student("mobilenetv2-lite")
    export_onnx(network, tmp_path / "step.onnx")
    frames, masks = synthetic_clip(frames=50, height=96, width=160, objects=2, seed=0)
    check(
        follow(OnnxRuntime(tmp_path / "step.onnx", threads=1), frames, masks[0]),
        follow(TorchRuntime(network), frames, masks[0]),
    )


def test_fixed_shapes(tmp_path: Path) -> None:
    network = student("mobilenetv2-lite")
    export_onnx(network, tmp_path / "step.onnx", Shape(64, 96, objects=1, slots=2))
    model = onnx.load(tmp_path / "step.onnx")
    for value in (*model.graph.input, *model.graph.output):
        assert all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim), value.name
    assert not {"Shape", "If", "Loop"} & {node.op_type for node in model.graph.node}
    runtime = OnnxRuntime(tmp_path / "step.onnx", threads=1)
    frames, masks = synthetic_clip(frames=3, height=64, width=96, objects=1, seed=0)
    reference = TorchRuntime(network)
    tracker = Tracker(reference, size=None)
    tracker.start(frames[0], masks[0])
    memory = tracker.state().group.queue.at(1)
    ours, theirs = runtime.step(frames[1], memory, 1), reference.step(frames[1], memory, 1)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-3)
    np.testing.assert_allclose(ours[1].values, theirs[1].values, atol=1e-3)
    with pytest.raises(InputError, match="multiples of 16"):
        export_onnx(network, tmp_path / "odd.onnx", Shape(60, 96))


@pytest.mark.slow
def test_a_linked_graph_reads_the_checkpoint(tmp_path: Path) -> None:
    network = student("mobilenetv2-lite")
    weights, graph = tmp_path / "weights.safetensors", tmp_path / "step.onnx"
    save_checkpoint(weights, network, half=True)
    link_onnx(network, weights, graph)
    assert graph.stat().st_size < 200_000
    frames, masks = synthetic_clip(frames=4, height=64, width=96, objects=2, seed=0)
    check(
        follow(OnnxRuntime(graph, threads=1), frames, masks[0]),
        follow(TorchRuntime(load_checkpoint(weights)), frames, masks[0]),
    )
    with pytest.raises(InputError, match="same folder"):
        link_onnx(network, weights, tmp_path / "elsewhere" / "step.onnx")


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(InputError, match="damaged or not an ONNX model"):
        OnnxRuntime(tmp_path / "text.onnx")
    foreign = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Identity", ["a"], ["b"])],
            "foreign",
            [onnx.helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [1])],
            [onnx.helper.make_tensor_value_info("b", onnx.TensorProto.FLOAT, [1])],
        ),
        opset_imports=[onnx.helper.make_opsetid("", 20)],
        ir_version=10,
    )
    onnx.save(foreign, tmp_path / "foreign.onnx")
    with pytest.raises(InputError, match="not one of mobilevos"):
        OnnxRuntime(tmp_path / "foreign.onnx")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in shipped() if not name.endswith("-int8")])
def test_shipped_graphs_track_like_torch(name: str) -> None:
    """Trained networks: masks agree on at least 99.9% of the pixels over 50 frames."""
    files = find_model(name)
    assert files.graph is not None
    assert files.checkpoint is not None
    frames, masks = synthetic_clip(frames=50, height=160, width=240, objects=2, seed=0)
    ours = follow(OnnxRuntime(files.graph, threads=1), frames, masks[0])
    theirs = follow(TorchRuntime(files.checkpoint), frames, masks[0])
    check(ours, theirs)
    agreement = np.mean([a.mask == b.mask for a, b in zip(ours, theirs, strict=True)])
    assert agreement >= 0.999
