"""Makes the templates of TFLite models (see `mobilevos.export.tflite_template`), once per kind of network.

python -m tools.tflite_cut mobilenetv2-lite
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mobilevos.export.tflite_convert import convert, packed
from mobilevos.export.tflite_step import INPUTS, OUTPUTS, TfliteStep
from mobilevos.export.tflite_template import (
    FORMAT,
    MANIFEST,
    MOST_CELLS,
    SLOTS,
    TEMPLATES,
    Size,
    laid_out,
    line,
    write_whole,
)
from mobilevos.model.student import STUDENTS, Student

SMALL = 8
"""Integers up to here are never sizes of a probe: counts of objects, slots, kernels, padding"""


def make_templates(network: Student, directory: Path, objects: Sequence[int] = (1, 2, 3, 4)) -> None:
    """Write a template per number of objects, and their manifest. Each is a conversion: a minute or two."""
    height, width = probe(network)
    step = TfliteStep(network)
    generator = torch.Generator().manual_seed(0)
    for value in step.parameters():  # no two alike, so that each is found in the converted file
        value.data = torch.randn(value.shape, generator=generator)
    parameters = {name: value.detach().numpy() for name, value in step.named_parameters()}
    weights: list[list[Any]] = []
    templates = {}
    for count in objects:
        data = convert(step, height, width, count, SLOTS)
        kept, template = cut(data, parameters, height, width, weights)
        name = f"step-{count}.bin"
        templates[count] = {"file": name} | template
        write_whole(directory / name, kept)
    manifest = {
        "format": FORMAT,
        "variant": network.variant,
        "key_channels": network.key_channels,
        "value_channels": network.value_channels,
        "slots": SLOTS,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "weights": weights,
        "templates": templates,
    }
    write_whole(directory / MANIFEST, json.dumps(manifest, separators=(",", ":")).encode())


def probe(network: Student) -> tuple[int, int]:
    """A frame size all of whose `_sizes` differ from each other and from every number of channels."""
    taken = _taken(network)
    for rows, columns in itertools.product(range(18, 100, 2), range(18, 100, 2)):
        values = [size.at(16 * rows, 16 * columns) for size in _sizes()]
        if len({*values}) == len(values) and not taken & {*values} and min(values) > SMALL:
            return 16 * rows, 16 * columns
    raise AssertionError("some frame size has no collisions")


def cut(
    data: bytes, parameters: Mapping[str, np.ndarray], height: int, width: int, weights: list[list[Any]]
) -> tuple[bytes, dict[str, Any]]:
    """A converted model without its weights, and what `assemble` needs to make it whole at any size.

    Args:
        data: converted at the size of `probe`.
        parameters: of the step that was converted, no two alike.
        height, width: of the probe.
        weights: entries of the manifest; those that are missing are added.
    """
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(data)
    (graph,) = model.subgraphs
    known = {
        laid_out(value, layout).tobytes(): (name, layout)
        for name, value in parameters.items()
        for layout in (("flat",) if value.ndim < 4 else ("conv", "depthwise"))
    }
    lines = {line(height // 16): (16, 0), line(width // 16): (0, 16)}
    contents = [b"" if buffer.data is None else bytes(bytearray(buffer.data)) for buffer in model.buffers]
    for i, content in enumerate(contents):
        if content in lines:
            model.buffers[i].data = np.zeros(4 * MOST_CELLS, np.uint8)
    data = packed(model)

    positions: dict[Size, list[int]] = {}
    sizes = {size.at(height, width): size for size in _sizes()}
    out = np.frombuffer(data, np.uint8)

    def note(first: int, count: int) -> None:
        for at in range(first, first + 4 * count, 4):
            value = int(out[at : at + 4].view("<i4")[0])
            if value in sizes:
                positions.setdefault(sizes[value], []).append(at)

    view = schema.Model.GetRootAs(data)
    tensors = [view.Subgraphs(0).Tensors(i) for i in range(len(graph.tensors))]
    holes, coordinates = [], []
    for tensor in tensors:
        for slot, count in ((4, tensor.ShapeLength()), (18, tensor.ShapeSignatureLength())):
            if count:
                note(_vector(tensor, slot), count)
    integers = {tensor.Buffer() for tensor in tensors if tensor.Type() == schema.TensorType.INT32}
    index = {tuple(entry[:2]): i for i, entry in enumerate(weights)}
    for i, content in enumerate(contents):
        if not content:
            continue
        at = _vector(view.Buffers(i), 4)
        if content in known:
            name, layout = key = known[content]
            if key not in index:
                index[key] = len(weights)
                kind = "f16" if parameters[name].ndim > 1 else "f32"  # as in checkpoints of half precision
                weights.append([name, layout, kind, parameters[name].size])
            holes.append((at, index[key], len(content)))
        elif content in lines:
            rows, columns = lines[content]
            coordinates.append((at, rows, columns))
            positions.setdefault(Size(rows, columns, 4), []).append(at - 4)  # the vector's length in bytes
        elif i in integers:
            note(at, len(content) // 4)
    holes.sort()
    kept, start = [], 0
    for at, _, length in holes:
        kept.append(data[start:at])
        start = at + length
    template = {
        "size": len(data),
        "holes": [hole[:2] for hole in holes],
        "sizes": [[[s.rows, s.columns, s.times, s.plus], at] for s, at in positions.items()],
        "coordinates": coordinates,
    }
    return b"".join([*kept, data[start:]]), template


def _sizes() -> list[Size]:
    """What integers in a step's file can depend on the frame's size: levels, levels with padding, cells."""
    levels = [Size(d, 0) for d in (1, 2, 4, 8, 16, 32)] + [Size(0, d) for d in (1, 2, 4, 8, 16, 32)]
    padded = [Size(s.rows, s.columns, 1, 2) for s in levels]
    wide = [Size(1, 0, 1, 6), Size(0, 1, 1, 6)]  # ResNet's first convolution
    return [*levels, *padded, *wide, Size(16, 16), Size(16, 16, SLOTS)]


def _taken(network: Student) -> set[int]:
    """Numbers of channels, alone and joined with the positions in the memory read."""
    dims = {dim for value in network.parameters() for dim in value.shape}
    return dims | {dim + extra for dim in dims for extra in (1, 4)}


def _vector(table: Any, slot: int) -> int:
    """Where the elements of a vector of a flatbuffer's table begin."""
    return int(table._tab.Vector(table._tab.Offset(slot)))


if __name__ == "__main__":
    import typer

    def main(variant: str) -> None:
        make_templates(STUDENTS[variant](), TEMPLATES / variant)

    typer.run(main)
