"""TFLite files in int8: static post-training quantisation, calibrated on real clips."""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mobilevos.arrays import Array
from mobilevos.datasets.task import VideoTask
from mobilevos.errors import InputError
from mobilevos.export.quantise import follow_videos
from mobilevos.export.tflite_convert import METADATA, packed
from mobilevos.runtime.litert_runtime import LiteRtRuntime

CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")
BETWEEN = ("ADD", "RELU", "PAD", "RESIZE_BILINEAR", "MAX_POOL_2D", "CONCATENATION", "MEAN")
"""Operations that stay in int8 where all they see comes from convolutions.

Everything else is in floating point: the memory's addresses are differences of large numbers, its weights span many
orders of magnitude, and aggregation works on logarithms."""

Inputs = dict[str, np.ndarray]


def quantise_tflite(model: bytes, tasks: Sequence[VideoTask]) -> bytes:
    """A TFLite model of `mobilevos.export.tflite` in int8; inputs and outputs stay float32.

    Args:
        model: for as many objects as the clips have.
        tasks: to calibrate on, resized to the model's frame; nothing should be measured on them later.
    """
    try:
        from ai_edge_quantizer import quantizer
    except ModuleNotFoundError as error:
        raise InputError("int8 TFLite needs ai-edge-quantizer: pip install 'mobilevos[litert]'") from error
    if not tasks:
        raise InputError("expected clips to calibrate int8 on, got none")
    recorded = record(model, tasks)
    model = fused(model)
    work = quantizer.Quantizer(bytearray(model))
    for kind, names in coarse(model).items():
        scope = "|".join(map(re.escape, names))
        work.add_static_config(f"^(?:{scope});?$", kind, activation_num_bits=8, weight_num_bits=8)
    quiet = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        warnings.simplefilter("ignore")
        ranges = work.calibrate({"serving_default": recorded}, num_threads=1)
        result: Any = work.quantize(ranges)
    return _marked(bytes(result.quantized_model))


def fused(model: bytes) -> bytes:
    """The same model with each ReLU of a sum as a sum of its own that has the ReLU inside.

    Blocks go on with the sum as it is, too, so no converter joins them; but XNNPACK has no ReLU on int8.
    """
    from ai_edge_litert import schema_py_generated as schema

    parsed = schema.ModelT.InitFromPackedBuf(model)
    (graph,) = parsed.subgraphs
    codes = [code.builtinCode for code in parsed.operatorCodes]
    sums = {
        int(operator.outputs[0]): operator
        for operator in graph.operators
        if codes[operator.opcodeIndex] == schema.BuiltinOperator.ADD
    }
    for operator in graph.operators:
        source = sums.get(int(operator.inputs[0]))
        if codes[operator.opcodeIndex] == schema.BuiltinOperator.RELU and source is not None:
            operator.opcodeIndex, operator.inputs = source.opcodeIndex, source.inputs
            operator.builtinOptionsType = schema.BuiltinOptions.AddOptions
            operator.builtinOptions = schema.AddOptionsT(fusedActivationFunction=schema.ActivationFunctionType.RELU)
    return packed(parsed)


def coarse(model: bytes) -> dict[str, list[str]]:
    """The operations that are quantised, by kind; they go by the names of their outputs."""
    from ai_edge_litert import schema_py_generated as schema

    kinds = {code: name for name, code in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
    parsed = schema.ModelT.InitFromPackedBuf(model)
    (graph,) = parsed.subgraphs
    constant = {i for i, tensor in enumerate(graph.tensors) if parsed.buffers[tensor.buffer].data is not None}
    chosen: dict[str, list[str]] = {}
    made: set[int] = set()  # by chosen operations
    for operator in graph.operators:
        kind = kinds[parsed.operatorCodes[operator.opcodeIndex].builtinCode]
        (output,) = operator.outputs
        shape = graph.tensors[output].shape
        convolves = kind in CONVOLUTIONS and shape[-1] > 1  # the last one makes the logits of the masks
        between = kind in BETWEEN and {*map(int, operator.inputs)} - constant <= made
        if convolves or between:
            made.add(int(output))
            name = graph.tensors[output].name
            chosen.setdefault(kind, []).append(name.decode() if isinstance(name, bytes) else name)
    return chosen


def record(model: bytes, tasks: Sequence[VideoTask]) -> list[Inputs]:
    """Inputs of the model while it begins clips and follows objects in them: the first and a later step of each."""
    runtime = _Recorder(model)
    follow_videos(runtime, tasks, runtime.frame_size)
    return runtime.recorded


class _Recorder(LiteRtRuntime):
    """Runs a model and keeps the inputs of some of its steps."""

    def __init__(self, model: bytes) -> None:
        super().__init__(model)
        self.recorded: list[Inputs] = []
        self.recording = False

    def feed(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, Array]:
        if self.recording:
            self.recorded.append({name: np.array(value) for name, value in inputs.items()})
        return super().feed(inputs)


def _marked(data: bytes) -> bytes:
    """The same model with metadata that says int8."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(data)
    for buffer in model.buffers:
        if buffer.offset:  # the quantiser writes large buffers behind the flatbuffer
            buffer.data = np.frombuffer(data, np.uint8, buffer.size, buffer.offset)
    for entry in model.metadata:
        if entry.name in (METADATA, METADATA.encode()):
            buffer = model.buffers[entry.buffer]
            settings = json.loads(bytes(bytearray(buffer.data))) | {"precision": "int8"}
            buffer.data = list(json.dumps(settings).encode())
    return packed(model)
