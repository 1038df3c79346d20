"""int8: what is quantised, and that the quantised graph still follows an object."""

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from mobilevos.datasets.davis import read_davis
from mobilevos.datasets.task import VideoTask
from mobilevos.errors import InputError
from mobilevos.export.onnx import export_onnx
from mobilevos.export.quantise import chosen, quantise, record
from mobilevos.export.step import Shape
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.runtime import is_installed, load_runtime
from mobilevos.tracking.tracker import Tracker
from mobilevos.weights import find_checkpoint
from tests.builders.davis import write_davis

FRAMES = 10

pytestmark = pytest.mark.slow  # nearly all of them wait for a graph to be exported


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[VideoTask]:
    """A textured disc that moves over a textured ground, in the layout of DAVIS."""
    root = tmp_path_factory.mktemp("davis")
    rng = np.random.default_rng(0)
    ground = rng.integers(60, 120, (12, 16, 3), np.uint8).repeat(16, 0).repeat(16, 1)
    y, x = np.mgrid[: ground.shape[0], : ground.shape[1]]
    discs = [(y - 90) ** 2 + (x - 70 - 6 * index) ** 2 < 40**2 for index in range(FRAMES)]
    frames = [np.where(disc[..., None], np.uint8([230, 200, 40]), ground) for disc in discs]
    write_davis(root, {"disc": (frames, [disc.astype(np.uint8) for disc in discs])}, {"val": ["disc"]})
    return read_davis(root, year=2016)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "lite.onnx"
    export_onnx(load_checkpoint(find_checkpoint("mobilenetv2-lite")), path)  # type: ignore[arg-type]
    return path


def followed(model: Path, clip: VideoTask, runtime: str = "onnx") -> np.ndarray:
    """Masks (T, H, W) of the object, from the first frame's truth."""
    tracker = Tracker(load_runtime(model, runtime))
    first, *rest = clip.pictures
    results = [tracker.start(clip.picture(first), clip.truth(first)), *(tracker.step(clip.picture(f)) for f in rest)]
    return np.stack([result.mask > 0 for result in results])


def test_the_first_and_a_later_step_are_recorded(graph: Path, clips: list[VideoTask]) -> None:
    recorded = record(graph, clips)
    assert [float(inputs["use_given"]) for inputs in recorded] == [1, 0]
    assert recorded[0]["frame"].shape == (320, 432, 3)


def test_a_graph_of_one_size_is_calibrated_at_it(clips: list[VideoTask], tmp_path: Path) -> None:
    """With the memory it was made for."""
    network = load_checkpoint(find_checkpoint("mobilenetv2-lite"))
    export_onnx(network, tmp_path / "fixed.onnx", Shape(64, 96, slots=3))  # type: ignore[arg-type]
    recorded = record(tmp_path / "fixed.onnx", clips)
    assert [float(inputs["use_given"]) for inputs in recorded] == [1, 0]
    for inputs in recorded:
        assert inputs["frame"].shape == (64, 96, 3)
        assert inputs["keys"].shape == (64, 3, 4, 6)
        assert inputs["values"].shape == (1, 64, 3, 4, 6)


def test_nothing_to_calibrate_on_is_refused(graph: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="calibrate"):
        quantise(graph, [], tmp_path / "int8.onnx")


def test_all_convolutions_but_those_of_the_memory_and_the_masks(graph: Path) -> None:
    """Keys, values, logits and the rating are made in floating point, and masks are enlarged in it."""
    model = onnx.load(graph)
    names = set(chosen(model))
    exact = [node for node in model.graph.node if node.op_type == "Conv" and node.name not in names]
    made = {node.input[1].rpartition(".")[0] for node in exact if node.input[1].startswith("network.")}
    assert made == {"network.key", "network.value_encoder.conv2", "network.decoder.logits", "network.rating.shown"}
    assert len(exact) == 5
    assert {node.op_type for node in model.graph.node if node.name in names} == {
        "Add",
        "Clip",
        "Conv",
        "Relu",
        "Resize",
    }


def test_int8_follows_like_float(graph: Path, clips: list[VideoTask], tmp_path: Path) -> None:
    path = tmp_path / "int8.onnx"
    quantise(graph, clips, path)

    assert path.stat().st_size < 0.4 * graph.stat().st_size
    model = onnx.load(path)
    assert {entry.key: entry.value for entry in model.metadata_props}["precision"] == "int8"
    computed = operations(path, tmp_path / "optimised.onnx")
    assert computed["QLinearConv"] == 100
    assert computed["Conv"] + computed["FusedConv"] == 5

    exact = followed(graph, clips[0])
    assert exact[-1].any()
    for runtime in ("onnx", "openvino"):
        if is_installed(runtime):
            rough = followed(path, clips[0], runtime)
            assert (exact & rough).sum() / (exact | rough).sum() > 0.95, runtime


def operations(model: Path, optimised: Path) -> Counter[str]:
    """What onnxruntime makes of a graph: how many of each operation."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(optimised)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return Counter(node.op_type for node in onnx.load(optimised).graph.node)
