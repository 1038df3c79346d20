"""What rounding weights adds to a convolution on average is taken out of its bias."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnxruntime import InferenceSession

from mobilevos.export.quantise import correct_biases, mean_inputs

STEP = 0.05


def convolution(weight: np.ndarray, bias: np.ndarray, groups: int) -> onnx.ModelProto:
    node = onnx.helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv", group=groups)
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, channels, None, None])
        for name, channels in (("x", weight.shape[1] * groups), ("y", len(weight)))
    ]
    tensors = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in (("w", weight), ("b", bias))]
    graph = onnx.helper.make_graph([node], "one", values[:1], values[1:], tensors)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("groups", [1, 6])
def test_means_agree_after_it(groups: int) -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(6, 6 // groups, 3, 3)) * 0.2
    bias = rng.normal(size=6)
    inputs = [{"x": rng.uniform(0, 4, (1, 6, 12, 14)).astype(np.float32)} for _ in range(5)]
    model = convolution(weight, bias, groups)
    means = mean_inputs(model, ["conv"], inputs)
    assert means["conv"] == pytest.approx(np.mean([one["x"].mean((0, 2, 3)) for one in inputs], axis=0), rel=1e-5)
    assert mean_inputs(model, [], inputs) == {}

    whole = np.floor(weight / STEP).astype(np.int8)  # rounded down, so that all are off in one direction
    scale = np.full(6, STEP)
    fine = np.full(6, 1e-4)
    tensors = {
        "w_quantized": whole,
        "w_scale": scale.astype(np.float32),
        "b_quantized": np.rint(bias / fine).astype(np.int32),
        "b_quantized_scale": fine.astype(np.float32),
    }
    result = onnx.ModelProto()
    result.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in tensors.items())

    def off(stored: np.ndarray) -> float:
        """How far the mean outputs of the rounded convolution are from those of the exact one."""
        rounded = convolution(whole * STEP, stored * 1e-4, groups)
        runs = [InferenceSession(one.SerializeToString()) for one in (model, rounded)]
        outputs = [np.mean([run.run(None, one)[0].mean((0, 2, 3)) for one in inputs], axis=0) for run in runs]
        return float(np.abs(outputs[0] - outputs[1]).max())

    before = off(tensors["b_quantized"])
    correct_biases(model, result, means)
    after = off({one.name: numpy_helper.to_array(one) for one in result.graph.initializer}["b_quantized"])
    assert before > 0.3
    assert after < 0.02 * before
