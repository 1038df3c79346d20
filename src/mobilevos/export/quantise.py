"""The step in int8: static post-training quantisation, calibrated on real clips.

Convolutions and what lies between them become int8, everything around the memory stays in floating point (`chosen`).
The result is an ONNX graph with the weights inside, laid out so that onnxruntime computes in int8 as OpenVINO does:
eight bits without a sign for what is computed, with a sign for weights, and a scale at both ends of each operation.
Where an end lacks it, onnxruntime goes back to floating point and comes out slower than without int8.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

import cv2
import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.datasets.task import VideoTask
from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.runtime.base import Runtime
from mobilevos.runtime.graph import fitted
from mobilevos.runtime.onnx_runtime import OnnxRuntime
from mobilevos.tracking.tracker import Tracker
from mobilevos.weights import WORKING_SIZE

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

BETWEEN = ("Add", "Clip", "Concat", "Relu", "Resize")
"""What may lie between two convolutions and is computed in int8 with them."""

STEPS = 4
"""Frames of a clip that are looked at in calibration, as far apart as `STRIDE`."""
STRIDE = 3

Inputs = dict[str, np.ndarray]


def quantise(graph: Path, tasks: Sequence[VideoTask], path: Path) -> None:
    """Write an exported step graph (weights inside) as int8, calibrated on clips that nothing is measured on."""
    if not tasks:
        raise InputError("expected clips to calibrate int8 on, got none")
    import onnx
    from onnxruntime import quantization

    model = onnx.load(graph)
    with TemporaryDirectory() as scratch, _quiet():
        rough = Path(scratch) / "int8.onnx"
        inputs = record(graph, tasks)
        nodes = chosen(model)
        means = mean_inputs(model, nodes, inputs)
        quantization.quantize_static(
            model,
            rough,
            _Recorded(inputs),
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=["Conv", *BETWEEN],
            nodes_to_quantize=nodes,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        result = onnx.load(rough)
    correct_biases(onnx.load(graph), result, means)  # the quantiser has changed the other one
    del result.metadata_props[:]
    settings = {entry.key: entry.value for entry in model.metadata_props}
    onnx.helper.set_model_props(result, settings | {"precision": "int8"})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(result.SerializeToString())


def mean_inputs(model: ModelProto, nodes: Sequence[str], inputs: Sequence[Inputs]) -> dict[str, np.ndarray]:
    """What some convolutions are given on average: {name of the node: (C,)}."""
    import onnx
    import onnxruntime

    asked = onnx.ModelProto()
    asked.CopyFrom(model)
    convolutions = [node for node in model.graph.node if node.op_type == "Conv" and node.name in set(nodes)]
    if not convolutions:
        return {}
    for index, node in enumerate(convolutions):
        asked.graph.node.append(
            onnx.helper.make_node("GlobalAveragePool", [node.input[0]], [f"calibration.mean_{index}"])
        )
        asked.graph.output.append(
            onnx.helper.make_tensor_value_info(f"calibration.mean_{index}", onnx.TensorProto.FLOAT, None)
        )
    session = onnxruntime.InferenceSession(asked.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [f"calibration.mean_{index}" for index in range(len(convolutions))]
    sums = [np.zeros(1)] * len(names)
    for one in inputs:
        sums = [total + found.mean((0, 2, 3)) for total, found in zip(sums, session.run(names, one), strict=True)]
    return {node.name: total / len(inputs) for node, total in zip(convolutions, sums, strict=True)}


def correct_biases(model: ModelProto, result: ModelProto, means: Mapping[str, np.ndarray]) -> None:
    """Take out of the biases what rounding the weights adds on average (Nagel et al., ICCV 2019).

    model: in floating point. result: the same in int8, changed in place. means: as `mean_inputs` gives them.
    """
    from onnx import numpy_helper

    exact = {tensor.name: tensor for tensor in model.graph.initializer}
    rough = {tensor.name: tensor for tensor in result.graph.initializer}
    for node in model.graph.node:
        if node.name not in means or len(node.input) < 3:
            continue
        weight, bias = node.input[1:3]
        kept = [rough.get(f"{name}_{part}") for name, part in ((weight, "quantized"), (weight, "scale"))]
        stored, scale = rough.get(f"{bias}_quantized"), rough.get(f"{bias}_quantized_scale")
        if None in kept or stored is None or scale is None:
            continue
        whole, step = (numpy_helper.to_array(one).astype(np.float64) for one in kept if one is not None)
        off = whole * step.reshape(-1, 1, 1, 1) - numpy_helper.to_array(exact[weight])
        groups = len(means[node.name]) // off.shape[1]
        given = np.repeat(means[node.name].reshape(groups, -1), len(off) // groups, axis=0)  # for each output
        added = (off.sum((2, 3)) * given).sum(1)
        steps = np.rint(added / numpy_helper.to_array(scale).astype(np.float64))
        changed = numpy_helper.to_array(stored).astype(np.int64) - steps.astype(np.int64)
        limits = np.iinfo(np.int32)
        stored.CopyFrom(numpy_helper.from_array(changed.clip(limits.min, limits.max).astype(np.int32), stored.name))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the advice to prepare the graph, which is done when it is exported."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


class _Recorded:
    """Inputs, as onnxruntime's calibration asks for them."""

    def __init__(self, inputs: Sequence[Inputs]) -> None:
        self._inputs = iter(inputs)

    def get_next(self) -> Inputs | None:
        return next(self._inputs, None)


def record(graph: Path, tasks: Sequence[VideoTask]) -> list[Inputs]:
    """Inputs of the graph while it begins clips and follows objects in them: the first and a later step of each.

    Frames are resized to those of the graph where they are fixed.
    """
    runtime = _Recorder(graph)
    follow_videos(runtime, tasks, runtime.frame_size)
    return runtime.recorded


class Recorder(Runtime, Protocol):
    """A runtime that keeps the inputs of some of its steps."""

    recording: bool


def follow_videos(runtime: Recorder, tasks: Sequence[VideoTask], frame_size: tuple[int, int] | None) -> None:
    """Begin clips and follow objects in them; the first and a later step of each are recorded.

    frame_size: height and width to which frames are resized; None is the working size.
    """
    for task in tasks:
        frames = list(task.pictures)[: STEPS * STRIDE : STRIDE]
        tracker = Tracker(runtime, size=WORKING_SIZE if frame_size is None else None)
        for index, frame in enumerate(frames):
            runtime.recording = index in (0, len(frames) - 1)
            picture = _resized(task.picture(frame), frame_size, cv2.INTER_LINEAR)
            if index == 0:
                tracker.start(picture, _resized(task.truth(frame), frame_size, cv2.INTER_NEAREST))
            else:
                tracker.step(picture)


def _resized(image: Image, size: tuple[int, int] | None, interpolation: int) -> Image:
    return image if size is None else np.asarray(cv2.resize(image, size[::-1], interpolation=interpolation), np.uint8)


def chosen(model: ModelProto) -> list[str]:
    """The nodes that become int8: convolutions whose results are read by convolutions, and what lies between these.

    All else needs more steps than 255: the memory's addresses are differences of large numbers, its weights span many
    orders of magnitude, aggregation works on logarithms, masks are enlarged. What makes keys, values and logits is part
    of that; with these in int8 too, the network finds nothing at all.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    readers: dict[str, list[NodeProto]] = defaultdict(list)
    for node in model.graph.node:
        for name in node.input:
            readers[name].append(node)
    weights = {tensor.name for tensor in model.graph.initializer}

    def convolves(node: NodeProto) -> bool:
        return node.op_type == "Conv" and node.input[1].startswith("network.")  # the others enlarge masks

    @cache
    def from_convolutions(name: str) -> bool:
        node = makers.get(name)
        if node is None or convolves(node):
            return node is not None
        if node.op_type not in BETWEEN:
            return False
        given = node.input if node.op_type in ("Add", "Concat") else node.input[:1]  # the others: limits, sizes
        return all(from_convolutions(one) for one in given if one not in weights)

    @cache
    def to_convolutions(name: str) -> bool:
        return any(
            convolves(node) or (from_convolutions(node.output[0]) and to_convolutions(node.output[0]))
            for node in readers[name]
        )

    return [
        node.name for node in model.graph.node if from_convolutions(node.output[0]) and to_convolutions(node.output[0])
    ]


class _Recorder(OnnxRuntime):
    """Runs a graph and keeps the inputs of some of its steps."""

    def __init__(self, model: Path | str) -> None:
        super().__init__(model)
        self.recorded: list[Inputs] = []
        self.recording = False

    @property
    def frame_size(self) -> tuple[int, int] | None:
        """Height and width the graph was made for; None where they are open."""
        height, width, _ = self._shapes["frame"]
        return None if height is None or width is None else (height, width)

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        if self.recording:
            self.recorded.append({name: np.array(value) for name, value in fitted(inputs, self._shapes).items()})
        return super().run(inputs)
