"""TFLite files on LiteRT, against torch."""

from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed (the extra litert)")

from mobilevos.errors import InputError
from mobilevos.export.step import Shape
from mobilevos.export.tflite import export_tflite, tflite_model
from mobilevos.model.checkpoint import build, load_checkpoint
from mobilevos.model.student import STUDENTS, Student
from mobilevos.runtime.base import Runtime
from mobilevos.runtime.litert_runtime import LiteRtRuntime
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker
from mobilevos.tracking.result import TrackResult
from mobilevos.weights import find_checkpoint


def follow(runtime: Runtime, frames: np.ndarray, mask: np.ndarray, queue: int = 2) -> list[TrackResult]:
    tracker = Tracker(runtime, queue=queue, size=None)
    tracker.start(frames[0], mask)
    return [tracker.step(frame) for frame in frames[1:]]


def student(variant: str) -> Student:
    torch.manual_seed(0)
    network = build(variant).eval()
    assert isinstance(network, Student)
    return network


def test_fifty_frames_of_the_shipped_network(tmp_path: Path) -> None:
    """Masks agree on at least 99.9% of the pixels, probabilities to 1e-3."""
    network = load_checkpoint(find_checkpoint("mobilenetv2-lite"))
    assert isinstance(network, Student)
    export_tflite(network, tmp_path / "step.tflite", Shape(96, 160, 2))
    frames, masks = synthetic_clip(frames=50, height=96, width=160, objects=2, seed=0)
    ours = follow(LiteRtRuntime(tmp_path / "step.tflite", threads=1), frames, masks[0])
    theirs = follow(TorchRuntime(network), frames, masks[0])
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-3)
    assert np.mean([a.mask == b.mask for a, b in zip(ours, theirs, strict=True)]) >= 0.999


@pytest.mark.parametrize("variant", STUDENTS)
@pytest.mark.parametrize(("height", "width", "objects"), [(64, 96, 1), (80, 112, 2), (112, 48, 3)])
def test_every_variant_at_any_size(variant: str, height: int, width: int, objects: int) -> None:
    """Rows and columns of cells may be odd, though those of the templates' probe are not."""
    network = student(variant)
    runtime = LiteRtRuntime(tflite_model(network, Shape(height, width, objects)), threads=1)
    assert runtime.variant == variant
    assert runtime.delegated[0] == 1, "XNNPACK runs the whole graph"
    frames, masks = synthetic_clip(frames=4, height=height, width=width, objects=objects, seed=0)
    for queue in (1, 2):
        ours, theirs = (follow(r, frames, masks[0], queue) for r in (runtime, TorchRuntime(network)))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-4)


def test_other_sizes_are_refused() -> None:
    runtime = LiteRtRuntime(tflite_model(student("mobilenetv2-lite"), Shape(64, 96, 1)), threads=1)
    frames, masks = synthetic_clip(frames=1, height=80, width=96, objects=1, seed=0)
    with pytest.raises(InputError, match=r"made for frame \(64, 96, 3\), got \(80, 96, 3\)"):
        Tracker(runtime, size=None).start(frames[0], masks[0])


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "text.tflite").write_text("hello, this is no model")
    with pytest.raises(InputError, match=r"text\.tflite' is damaged or not a TFLite model"):
        LiteRtRuntime(tmp_path / "text.tflite")
    data = tflite_model(student("mobilenetv2-lite"), Shape(64, 96, 1))
    with pytest.raises(InputError, match="damaged or not a TFLite model"):
        LiteRtRuntime(data[:1000])
    with pytest.raises(InputError, match="not one of mobilevos"):
        LiteRtRuntime(data.replace(b"mobilevos\0", b"elsewhere\0"))
