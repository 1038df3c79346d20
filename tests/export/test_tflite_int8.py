"""TFLite in int8: what is quantised, and that it still follows."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed (the extra litert)")

from mobilevos.datasets.davis import read_davis
from mobilevos.errors import InputError
from mobilevos.evaluation.davis import score_sequence
from mobilevos.export.step import Shape
from mobilevos.export.tflite import tflite_model
from mobilevos.export.tflite_int8 import coarse, fused, quantise_tflite, record
from mobilevos.export.tflite_step import INPUTS, example_inputs
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.model.student import Student
from mobilevos.runtime.litert_runtime import LiteRtRuntime
from mobilevos.tracking import Tracker
from mobilevos.weights import find_checkpoint


@pytest.fixture(scope="module")
def network() -> Student:
    network = load_checkpoint(find_checkpoint("mobilenetv2-lite"))
    assert isinstance(network, Student)
    return network


@pytest.fixture(scope="module")
def model(network: Student) -> bytes:
    return tflite_model(network, Shape(96, 160, 1))


def test_a_relu_inside_a_sum_changes_no_number(model: bytes, network: Student) -> None:
    torch.manual_seed(0)
    inputs = {k: v.numpy() for k, v in zip(INPUTS, example_inputs(network, 96, 160, 1, 3), strict=True)}
    ours, theirs = (LiteRtRuntime(data, threads=1).feed(inputs) for data in (fused(model), model))
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-5)
    assert "RELU" not in coarse(fused(model))


def test_the_memory_stays_exact(model: bytes, network: Student) -> None:
    """Convolutions are quantised, all but those that make logits, and what lies between them; nothing else."""
    chosen = coarse(fused(model))
    assert set(chosen) == {"CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "PAD", "RESIZE_BILINEAR"}
    convolutions = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
    depthwise = sum(m.groups > 1 for m in convolutions)
    assert len(chosen["DEPTHWISE_CONV_2D"]) == depthwise + 1  # and the frame's normalisation
    assert len(chosen["CONV_2D"]) == len(convolutions) - depthwise - 2


def test_calibration_sees_the_clips(model: bytes, shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("bear")
    clips = read_davis(shared_data / "davis-2016-train", str(tmp_path / "one.txt"), 2016)
    first, later = record(model, clips)
    assert first["use_given"] == 1
    assert later["use_given"] == 0
    assert first["frame"].shape == (96, 160, 3)
    assert 0 < first["given"][0, 0].mean() < 0.5
    assert later["nearness"].tolist() == [0, 1, 0.25]
    with pytest.raises(InputError, match=r"got none|needs ai-edge-quantizer"):
        quantise_tflite(model, [])


def test_int8_follows_like_float(network: Student, shared_data: Path, tmp_path: Path) -> None:
    """At the size of these clips. J&F on a clip that it was not calibrated on is within 0.01."""
    pytest.importorskip("ai_edge_quantizer", reason="ai-edge-quantizer is not installed (the extra litert)")
    root = shared_data / "davis-2016-train"
    (tmp_path / "calibration.txt").write_text("bear\nbus\nlucia\nmotorbike")
    model = tflite_model(network, Shape(320, 576, 1))
    data = quantise_tflite(model, read_davis(root, str(tmp_path / "calibration.txt"), 2016))
    assert len(data) < 0.35 * len(model)
    runtime = LiteRtRuntime(data, threads=1)
    assert runtime.precision == "int8"
    assert runtime.delegated[0] == 1, "XNNPACK runs the whole graph"
    (tmp_path / "test.txt").write_text("hike")
    (clip,) = read_davis(root, str(tmp_path / "test.txt"), 2016)
    names = list(clip.pictures)[:12]
    frames = [np.asarray(cv2.resize(clip.picture(name), (576, 320)), np.uint8) for name in names]
    truths = np.stack([cv2.resize(clip.truth(name), (576, 320), interpolation=cv2.INTER_NEAREST) for name in names])
    found = []
    for each in (runtime, LiteRtRuntime(model, threads=1)):
        tracker = Tracker(each, size=None)
        masks = [tracker.start(frames[0], truths[0]).mask, *(tracker.step(frame).mask for frame in frames[1:])]
        scores = score_sequence(np.stack(masks), truths)
        found.append((np.mean(scores.j) + np.mean(scores.f)) / 2)
    assert found[1] > 0.7
    assert found[0] == pytest.approx(found[1], abs=0.01)
