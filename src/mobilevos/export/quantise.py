"""The step in int8: static post-training quantisation, calibrated on real clips.

Convolutions and the sums between them become int8, everything around the memory stays in floating point (see
`EXACT_OPERATIONS`). The result is an ONNX graph with the weights inside, which OpenVINO runs in int8.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
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
    from onnx import ModelProto

EXACT_OPERATIONS = [
    "MatMul", "Softmax", "Pow", "ReduceSum", "Mul", "Sub", "Neg", "Div", "Reciprocal", "Exp", "Log", "Sigmoid",
]  # fmt: skip
"""The memory's addresses are differences of large numbers, its weights span many orders of magnitude, and aggregation
works on logarithms: eight bits are too few for them. With these quantised too, the network finds nothing at all."""

STEPS = 4
"""Frames of a clip that are looked at in calibration, as far apart as `STRIDE`."""
STRIDE = 3

Inputs = dict[str, np.ndarray]


def quantise(graph: Path, tasks: Sequence[VideoTask], path: Path) -> None:
    """Write an exported step graph (weights inside) as int8, calibrated on clips that nothing is measured on."""
    import onnx

    try:
        import nncf
    except ModuleNotFoundError as error:
        raise InputError("int8 needs nncf: pip install 'mobilevos[int8]'") from error
    if not tasks:
        raise InputError("expected clips to calibrate int8 on, got none")
    model = onnx.load(graph)
    recorded = record(graph, tasks)
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
    onnx.helper.set_model_props(result, settings | {"precision": "int8"})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(result.SerializeToString())


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

    @property
    def frame_size(self) -> tuple[int, int] | None:
        """Height and width the graph was made for; None where they are open."""
        height, width, _ = self._shapes["frame"]
        return None if height is None or width is None else (height, width)

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        if self.recording:
            self.recorded.append({name: np.array(value) for name, value in fitted(inputs, self._shapes).items()})
        return super().run(inputs)
