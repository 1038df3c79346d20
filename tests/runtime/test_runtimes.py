"""Runtimes: which one is taken, and that all give the same."""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.export.onnx import export_onnx
from mobilevos.export.step import Shape
from mobilevos.model.checkpoint import build, load_checkpoint, save_checkpoint
from mobilevos.model.student import Student
from mobilevos.runtime import load_runtime, usable_runtimes
from mobilevos.runtime.base import MemoryArrays, written
from mobilevos.runtime.onnx_runtime import OnnxRuntime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker

needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None, reason="openvino is not installed (the extra of that name)"
)


pytestmark = pytest.mark.slow  # nearly all of them wait for a graph to be exported


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained student as checkpoint and as graph."""
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    network = build("mobilenetv2-lite").eval()
    assert isinstance(network, Student)
    save_checkpoint(folder / "lite.safetensors", network)
    export_onnx(network, folder / "lite.onnx")
    return folder


def test_files_decide_what_can_run_them(model: Path) -> None:
    assert usable_runtimes(model / "lite.safetensors") == ["torch"]
    assert "onnx" in usable_runtimes(model / "lite.onnx")
    assert "torch" not in usable_runtimes(model / "lite.onnx")
    assert load_runtime(model / "lite.safetensors").name == "torch"
    assert load_runtime(model / "lite.onnx").name == usable_runtimes(model / "lite.onnx")[0]
    with pytest.raises(InputError, match=r"the torch runtime cannot run .*lite\.onnx'; .*onnx can"):
        load_runtime(model / "lite.onnx", "torch")
    with pytest.raises(InputError, match="no runtime is called 'cuda'; there are auto, onnx, openvino, torch"):
        load_runtime(model / "lite.onnx", "cuda")


def test_what_is_not_installed_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mobilevos.runtime.is_installed", lambda name: name == "onnx")
    assert load_runtime(model / "lite.onnx").name == "onnx"
    with pytest.raises(InputError, match="the openvino runtime needs openvino, which is not installed"):
        load_runtime(model / "lite.onnx", "openvino")
    with pytest.raises(InputError, match="needs a runtime that is not installed"):
        load_runtime(model / "lite.safetensors")


def test_threads_are_those_of_the_environment(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines but torch do not look at OMP_NUM_THREADS themselves."""
    given = []
    monkeypatch.setattr("mobilevos.runtime._open", lambda name, files, threads: given.append(threads))
    for text in ("3", " 2,1", "", "0", "many", "-1", "²"):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        load_runtime(model / "lite.onnx", "onnx")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    load_runtime(model / "lite.onnx", "onnx", threads=1)
    monkeypatch.delenv("OMP_NUM_THREADS")
    load_runtime(model / "lite.onnx", "onnx")
    assert given == [3, 2, None, None, None, None, None, 1, None]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be assigned on this system")
def test_onnxruntime_takes_the_cores_it_may_use(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 4, 5})
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert OnnxRuntime(model / "lite.onnx")._session.get_session_options().intra_op_num_threads == 3


@pytest.mark.parametrize("name", ["onnx", pytest.param("openvino", marks=needs_openvino)])
def test_graphs_with_fixed_shapes(model: Path, tmp_path: Path, name: str) -> None:
    """A memory that is shorter is filled up; whatever else is not as the graph was made for is one sentence."""
    network = load_checkpoint(model / "lite.safetensors")
    assert isinstance(network, Student)
    export_onnx(network, tmp_path / "fixed.onnx", Shape(64, 96, slots=4))
    frames, masks = synthetic_clip(frames=7, height=64, width=96, objects=2, seed=0)
    found = []
    for path in (tmp_path / "fixed.onnx", model / "lite.onnx"):
        tracker = Tracker(load_runtime(path, name, threads=1), queue=4, size=None)
        tracker.start(frames[0], masks[0])
        found.append([tracker.step(frame).probabilities for frame in frames[1:]])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)
    tracker = Tracker(load_runtime(tmp_path / "fixed.onnx", name, threads=1), queue=4, size=None)
    with pytest.raises(InputError, match=r"was made for frame \(64, 96, 3\), got \(80, 96, 3\)"):
        tracker.start(np.zeros((80, 96, 3), np.uint8), np.ones((80, 96), np.uint8))
    tracker = Tracker(load_runtime(tmp_path / "fixed.onnx", name, threads=1), queue=5, size=None)
    tracker.start(frames[0], masks[0])
    for frame in frames[1:4]:
        tracker.step(frame)
    with pytest.raises(InputError, match=r"was made for keys \(64, 4, 4, 6\), got \(64, 5, 4, 6\)"):
        tracker.step(frames[4])


@needs_openvino
def test_openvino_tracks_like_onnxruntime(model: Path) -> None:
    """Also when objects come and go, which changes the graph's shapes."""
    frames, masks = synthetic_clip(frames=7, height=64, width=96, objects=3, seed=0)
    results = []
    for name in ("onnx", "openvino"):
        tracker = Tracker(load_runtime(model / "lite.onnx", name, threads=1), queue=3)
        tracker.start(frames[0], np.where(masks[0] == 3, 0, masks[0]))
        found = [tracker.step(frame).probabilities for frame in frames[1:4]]
        tracker.add(np.where(masks[3] == 3, 3, 0))
        found += [tracker.step(frame).probabilities for frame in frames[4:]]
        results.append(found)
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


@needs_openvino
def test_openvino_is_not_compiled_for_every_length_of_a_growing_memory(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mobilevos.runtime import openvino_runtime
    from mobilevos.runtime.openvino_runtime import OpenVinoRuntime

    compiled = []
    compile_ = OpenVinoRuntime._compile

    def counting(self: OpenVinoRuntime, inputs: Mapping[str, np.ndarray]) -> Any:
        compiled.append(len(inputs["nearness"]))
        return compile_(self, inputs)

    monkeypatch.setattr(OpenVinoRuntime, "_compile", counting)
    monkeypatch.setattr(openvino_runtime, "SETTLED", 3)
    frames, masks = synthetic_clip(frames=16, height=64, width=96, objects=2, seed=0)
    ours, theirs = (
        Tracker(load_runtime(model / "lite.onnx", name, threads=1), queue=9) for name in ("openvino", "onnx")
    )
    for tracker in (ours, theirs):
        tracker.start(frames[0], masks[0])
    for frame in frames[1:]:
        a, b = ours.step(frame), theirs.step(frame)
        np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-3)
    assert ours.state().group.queue.memory.slots == 9
    assert compiled == [4, 8, 16, 9]


@needs_openvino
def test_openvino_names_bad_files(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(InputError, match="damaged or not an ONNX model"):
        load_runtime(tmp_path / "text.onnx", "openvino")


def test_writing_to_the_memory() -> None:
    memory = MemoryArrays(
        np.zeros((2, 3, 1, 1), np.float32), np.zeros((1, 4, 3, 1, 1), np.float32), np.zeros(3, np.float32)
    )
    key, values = np.ones((2, 1, 1), np.float32), np.full((1, 4, 1, 1), 2, np.float32)
    inside, behind = written(memory, 1, key, values), written(memory, 3, key, values)
    assert inside.keys[0, :, 0, 0].tolist() == [0, 1, 0]
    assert inside.values[0, 0, :, 0, 0].tolist() == [0, 2, 0]
    assert inside.nearness.tolist() == [0, 1, 0]
    assert behind.keys[0, :, 0, 0].tolist() == [0, 0, 0, 1]
    assert behind.nearness.tolist() == [0, 0, 0, 1]
    assert memory.keys.sum() == 0
