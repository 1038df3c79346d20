"""The step on OpenVINO: the fastest on Intel and AMD processors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import openvino
from openvino import opset8

from mobilevos.arrays import Array
from mobilevos.errors import InputError
from mobilevos.runtime.graph import GraphRuntime, filled_up, fitted

KEPT = 3
"""Compiled graphs that are kept: beginning a track, following it and reading a mark have shapes of their own."""
SHORT = 4
"""Memories up to this length are filled up to it while they grow: one graph begins a track and follows it."""
BLOCK = 8
"""Longer ones are filled up to a multiple of this length."""
SETTLED = 10
"""A memory that had the same length so many times grows no more, and gets a graph of its own after all."""


class OpenVinoRuntime(GraphRuntime):
    """An exported step graph (ONNX).

    OpenVINO compiles for fixed sizes, so the graph is compiled for each size of the frame, number of objects and length
    of the memory; the last few are kept. Compiling takes as long as many frames, so a memory that grows is filled up
    with slots that nothing reads.

    Args:
        model: the file.
        threads: to compute with; None takes all cores.
        bfloat16: whether what is not int8 is computed in bfloat16, on processors that can; None does so for graphs in
            int8, which gave up exactness already.
    """

    name = "openvino"

    def __init__(self, model: Path | str, threads: int | None = None, bfloat16: bool | None = None) -> None:
        self._core = openvino.Core()
        self._config = {"PERFORMANCE_HINT": "LATENCY"}
        if threads:
            self._config["INFERENCE_NUM_THREADS"] = str(threads)
        try:
            self._model = self._core.read_model(str(model))
        except RuntimeError as error:
            raise InputError(f"{str(model)!r} is damaged or not an ONNX model") from error
        info = self._model.get_rt_info()
        framework = info["framework"] if "framework" in info else {}  # noqa: SIM401 (not a dict)
        self.describe(
            model,
            {name: framework[name].astype(str) for name in framework},
            [entry.get_any_name() for entry in self._model.outputs],
        )
        wanted = self.precision == "int8" if bfloat16 is None else bfloat16
        able = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self._config["INFERENCE_PRECISION_HINT"] = "bf16" if wanted and able else "f32"
        self._shapes = {
            entry.get_any_name(): [d.get_length() if d.is_static else None for d in entry.get_partial_shape()]
            for entry in self._model.inputs
        }
        self.slots = self._shapes["nearness"][0]
        self._compiled: dict[tuple[tuple[int, ...], ...], openvino.InferRequest] = {}
        self._slots, self._times = 0, 0

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        slots = len(inputs["nearness"])
        self._times = self._times + 1 if slots == self._slots else 1
        self._slots = slots
        inputs = fitted(inputs, self._shapes)
        if self._times <= SETTLED and self._shapes["nearness"][0] is None:
            inputs = filled_up(inputs, SHORT - slots if slots <= SHORT else -slots % BLOCK)
        probabilities, keys, values, rating = self._run(inputs)
        return probabilities, keys[:, :slots], values[:, :, :slots], rating

    def _run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        shapes = tuple(array.shape for array in inputs.values())
        request = self._compiled.pop(shapes, None) or self._compile(inputs)
        self._compiled[shapes] = request  # the last one used is the last one dropped
        if len(self._compiled) > KEPT:
            del self._compiled[next(iter(self._compiled))]
        frame = inputs["frame"]
        planes = np.empty((frame.shape[2], *frame.shape[:2]), np.uint8)
        cv2.split(frame, list(planes))  # in place: stacking what it returns costs as much as is gained
        outputs = request.infer({**inputs, "frame": planes}, share_inputs=True, share_outputs=True)
        probabilities, keys, values, rating = (np.array(outputs[i]) for i in range(4))  # the next frame overwrites them
        return probabilities, keys, values, rating

    def _compile(self, inputs: Mapping[str, np.ndarray]) -> openvino.InferRequest:
        model = self._model.clone()
        model.reshape({name: array.shape for name, array in inputs.items()})
        take_planes(model)
        drop_empty_sums(model)
        return self._core.compile_model(model, "CPU", self._config).create_infer_request()


def take_planes(model: openvino.Model) -> None:
    """Let the frame come as (3, H, W), by planes: OpenVINO's own rearrangement of bytes is slow."""
    frame = next(parameter for parameter in model.get_parameters() if "frame" in parameter.output(0).get_names())
    height, width, channels = frame.output(0).get_shape()
    planes = opset8.parameter([channels, height, width], np.uint8)
    for reader in list(frame.output(0).get_target_inputs()):
        node = reader.get_node()
        if node.get_type_name() == "ShapeOf":
            node.output(0).replace(opset8.constant(np.array([height, width, channels])).output(0))
        else:  # to floating point, then to planes
            (transposed,) = node.output(0).get_target_inputs()
            transposed.get_node().output(0).replace(opset8.convert(planes, "f32").output(0))
    model.add_parameters([planes])
    model.remove_parameter(frame)
    planes.output(0).set_names({"frame"})
    model.validate_nodes_and_infer_types()


def drop_empty_sums(model: openvino.Model) -> None:
    """Remove sums over dimensions of length one, as those over a single object, which OpenVINO would copy."""
    for node in model.get_ordered_ops():
        if node.get_type_name() == "ReduceSum" and node.input_value(0).get_shape() == node.output(0).get_shape():
            node.output(0).replace(node.input_value(0))
