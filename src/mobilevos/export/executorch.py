"""The step as an ExecuTorch program, for apps built on torch: fixed shapes, weights inside, XNNPACK does the work.

Inputs and outputs are those of `mobilevos.export.tflite_step`, in that order: a program has no names for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from mobilevos.errors import InputError
from mobilevos.export.plain_step import PlainStep, traced
from mobilevos.export.quiet import quietly
from mobilevos.files import replacing
from mobilevos.model.student import Student

if TYPE_CHECKING:
    from mobilevos.export.step import Shape


def export_executorch(network: Student, path: Path, shape: Shape) -> None:
    """Write the step of a network as one ExecuTorch program for one frame size and number of objects."""
    data = executorch_program(network, shape)
    with replacing(path) as part:
        part.write_bytes(data)


def executorch_program(network: Student, shape: Shape) -> bytes:
    """The step of a network as an ExecuTorch program."""
    try:
        with quietly():
            from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
            from executorch.exir import to_edge_transform_and_lower
    except ImportError as error:
        raise InputError(
            "the export to ExecuTorch needs executorch, which is not installed: pip install 'mobilevos[executorch]'"
        ) from error
    with torch.no_grad(), quietly():
        lowered = to_edge_transform_and_lower(traced(PlainStep(network), shape), partitioner=[XnnpackPartitioner()])
        return bytes(lowered.to_executorch().buffer)
