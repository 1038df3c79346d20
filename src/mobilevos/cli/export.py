"""mobilevos export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(help="A shipped model's name or a checkpoint.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the graphs.")],
    to: Annotated[str, typer.Option(help="Formats, separated by commas: onnx.")] = "onnx",
    frame: Annotated[str | None, typer.Option(help="Fixed frame size, e.g. 864x480; open if not given.")] = None,
    objects: Annotated[int | None, typer.Option(min=1, help="Fixed number of objects; open if not given.")] = None,
    queue: Annotated[int, typer.Option(min=1, help="Slots of memory of a graph with a fixed frame size.")] = 2,
) -> None:
    """Write the whole per-frame step, memory included, as one graph."""
    from mobilevos.errors import InputError
    from mobilevos.export.onnx import Shape, export_onnx
    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.model.student import Student
    from mobilevos.weights import find_checkpoint

    unknown = sorted(set(to.split(",")) - {"onnx"})
    if unknown:
        raise InputError(f"cannot export to {unknown[0]!r}; there is onnx")
    shape = None
    if frame is not None:
        width, _, height = frame.partition("x")
        if not (width.isdigit() and height.isdigit()):
            raise InputError(f"expected a frame size such as 864x480, got {frame!r}")
        shape = Shape(int(height), int(width), objects, queue)
    network = load_checkpoint(find_checkpoint(model))
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    path = output / f"{network.variant}{'' if frame is None else '-' + frame}.onnx"
    export_onnx(network, path, shape)
    print(path)
