"""The step as ONNX: one file, or a small graph that takes its weights from a checkpoint beside it."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper
from safetensors import safe_open
from torch import Tensor, nn

from mobilevos.errors import InputError
from mobilevos.export.step import INPUTS, OUTPUTS, Shape, StepGraph, example_inputs
from mobilevos.files import replacing
from mobilevos.model.student import Student

OPSET = 20
MOST_OBJECTS, MOST_SLOTS, MOST_CELLS = 255, 4096, 512


def step_model(network: Student, shape: Shape | None = None) -> onnx.ModelProto:
    """The step of a network as an ONNX model with the weights inside."""
    graph = StepGraph(network).eval()
    if shape is None:
        example = example_inputs(network, 96, 128)
    else:
        example = example_inputs(network, shape.height, shape.width, shape.objects or 2, shape.slots)
    model = _exported(graph, example, INPUTS, OUTPUTS, _dynamic_shapes(shape))
    settings = {
        "format": "mobilevos-step",
        "variant": network.variant,
        "key_channels": str(network.key_channels),
        "value_channels": str(network.value_channels),
        "shape": json.dumps(None if shape is None else vars(shape)),
    }
    helper.set_model_props(model, settings)
    return model


def write_onnx(module: nn.Module, inputs: tuple[Tensor, ...], path: Path) -> None:
    """Write any module with fixed shapes as ONNX."""
    model = _exported(module, inputs, [f"input{index}" for index in range(len(inputs))], None, None)
    path.write_bytes(model.SerializeToString())


def _exported(
    module: nn.Module,
    example: tuple[Tensor, ...],
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
    dynamic_shapes: dict[str, dict[int, torch.export.Dim] | None] | None,
) -> onnx.ModelProto:
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            module,
            example,
            dynamo=True,
            input_names=list(inputs),
            output_names=None if outputs is None else list(outputs),
            dynamic_shapes=dynamic_shapes,
            opset_version=OPSET,
            optimize=True,
            verbose=False,
        )
    assert program is not None
    model: onnx.ModelProto = program.model_proto
    for node in model.graph.node:  # the exporter's notes on where each came from: half a megabyte of them
        del node.metadata_props[:]
    return model


def export_onnx(network: Student, path: Path, shape: Shape | None = None) -> None:
    """Write the step of a network as one ONNX file."""
    data = step_model(network, shape).SerializeToString()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(data)


def link_onnx(network: Student, checkpoint: Path, path: Path) -> None:
    """Write the step as a graph of a few kilobytes that reads its weights from `checkpoint`, in the same folder.

    A checkpoint stores plain numbers one after the other, so the graph can point into it: the weights are on disk
    once, for torch and for ONNX. Those in half precision are made single when a session loads them.
    """
    if checkpoint.parent.resolve() != path.parent.resolve():
        raise InputError("expected the graph and its checkpoint in the same folder")
    model = step_model(network)
    offsets = _offsets(checkpoint)
    casts, kept = [], []
    for tensor in model.graph.initializer:
        name = tensor.name.removeprefix("network.")
        if name not in offsets:
            kept.append(tensor)
            continue
        kind, begin, end = offsets[name]
        linked = TensorProto(name=tensor.name, dims=tensor.dims, data_location=TensorProto.EXTERNAL)
        linked.data_type = TensorProto.FLOAT16 if kind == "F16" else TensorProto.FLOAT
        for key, value in (("location", checkpoint.name), ("offset", begin), ("length", end - begin)):
            linked.external_data.add(key=key, value=str(value))
        if kind == "F16":
            linked.name = f"{tensor.name}.half"
            casts.append(helper.make_node("Cast", [linked.name], [tensor.name], to=TensorProto.FLOAT))
        kept.append(linked)
    nodes = [*casts, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    del model.graph.value_info[:]
    with replacing(path) as part:
        part.write_bytes(model.SerializeToString())


def _offsets(checkpoint: Path) -> dict[str, tuple[str, int, int]]:
    """Type, begin and end of each tensor in a safetensors file."""
    with safe_open(checkpoint, framework="numpy"):
        pass  # checks that the file is whole
    with checkpoint.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(size))
    base = 8 + size
    return {
        name: (entry["dtype"], base + entry["data_offsets"][0], base + entry["data_offsets"][1])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _dynamic_shapes(shape: Shape | None) -> dict[str, dict[int, torch.export.Dim] | None] | None:
    n = torch.export.Dim("n", min=1, max=MOST_OBJECTS)
    if shape is not None:
        if shape.objects is not None:
            return None
        free: dict[str, dict[int, torch.export.Dim] | None] = dict.fromkeys(INPUTS)
        return free | {"values": {0: n}, "given": {0: n}}
    t = torch.export.Dim("t", min=1, max=MOST_SLOTS)
    h = torch.export.Dim("h", min=1, max=MOST_CELLS)
    w = torch.export.Dim("w", min=1, max=MOST_CELLS)
    return {
        "frame": {0: 16 * h, 1: 16 * w},
        "keys": {1: t, 2: h, 3: w},
        "values": {0: n, 2: t, 3: h, 4: w},
        "nearness": {0: t},
        "slot": None,
        "given": {0: n, 2: 4 * h, 3: 4 * w},
        "use_given": None,
    }
