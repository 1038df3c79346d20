"""The step in int8: static post-training quantisation, calibrated on real clips.

Convolutions and the sums between them become int8, everything around the memory stays in floating point (see
`EXACT_OPERATIONS`). The result is an ONNX graph with the weights inside, which OpenVINO runs in int8.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, helper

from mobilevos.errors import InputError
from mobilevos.evaluation.clips import Clip
from mobilevos.media.atomic import replacing
from mobilevos.runtime.base import Array
from mobilevos.runtime.onnx_runtime import OnnxRuntime
from mobilevos.tracking.tracker import Tracker

EXACT_OPERATIONS = [
    "MatMul", "Softmax", "Pow", "ReduceSum", "Mul", "Sub", "Neg", "Div", "Reciprocal", "Exp", "Log", "Sigmoid",
]  # fmt: skip
"""The memory's addresses are differences of large numbers, its weights span many orders of magnitude, and aggregation
works on logarithms: eight bits are too few for them. With these quantised too, the network finds nothing at all."""

STEPS = 4
"""Frames of a clip that are looked at in calibration, as far apart as `STRIDE`."""
STRIDE = 3

Inputs = dict[str, np.ndarray]


def quantise(graph: Path, clips: Sequence[Clip], path: Path) -> None:
    """Write an exported step graph (weights inside) as int8, calibrated on clips that nothing is measured on."""
    try:
        import nncf
    except ModuleNotFoundError as error:
        raise InputError("int8 needs nncf: pip install 'mobilevos[int8]'") from error
    if not clips:
        raise InputError("expected clips to calibrate int8 on, got none")
    model = onnx.load(graph)
    recorded = record(graph, clips)
    nncf.set_log_level(logging.ERROR)
    result: ModelProto = nncf.quantize(
        model,
        nncf.Dataset(recorded, dict),
        preset=nncf.QuantizationPreset.MIXED,
        target_device=nncf.TargetDevice.CPU,
        subset_size=len(recorded),
        ignored_scope=nncf.IgnoredScope(names=exact_nodes(model), types=EXACT_OPERATIONS, validate=False),
    )
    del result.metadata_props[:]
    settings = {entry.key: entry.value for entry in model.metadata_props}
    helper.set_model_props(result, settings | {"precision": "int8"})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(result.SerializeToString())


def record(graph: Path, clips: Sequence[Clip]) -> list[Inputs]:
    """Inputs of the graph while it begins clips and follows objects in them: the first and a later step of each."""
    runtime = _Recorder(graph)
    for clip in clips:
        frames = list(clip.pictures)[: STEPS * STRIDE : STRIDE]
        tracker = Tracker(runtime)
        for index, frame in enumerate(frames):
            runtime.recording = index in (0, len(frames) - 1)
            if index == 0:
                tracker.start(clip.picture(frame), clip.truth(frame))
            else:
                tracker.step(clip.picture(frame))
    return runtime.recorded


def exact_nodes(model: ModelProto) -> list[str]:
    """Single nodes that stay in floating point beside `EXACT_OPERATIONS`.

    They are the choice between given and predicted masks, and the convolution that enlarges the masks, which would
    leave them in 255 steps.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    names = []
    for node in model.graph.node:
        enlarges = node.op_type == "Conv" and not node.input[1].startswith("network.")
        chooses = node.op_type == "Add" and any(makers[i].op_type == "Mul" for i in node.input if i in makers)
        if enlarges or chooses:
            names.append(node.name)
    return names


class _Recorder(OnnxRuntime):
    """Runs a graph and keeps the inputs of some of its steps."""

    def __init__(self, model: Path | str) -> None:
        super().__init__(model)
        self.recorded: list[Inputs] = []
        self.recording = False

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array]:
        if self.recording:
            self.recorded.append({name: np.array(value) for name, value in inputs.items()})
        return super().run(inputs)
