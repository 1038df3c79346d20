"""mobilevos export"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(help="A shipped model's name or a checkpoint.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the graphs.")],
    to: Annotated[str, typer.Option(help="Formats, separated by commas: onnx, tflite.")] = "onnx",
    frame: Annotated[
        str | None, typer.Option(help="Fixed frame size; if not given, open in ONNX and 864x480 in TFLite.")
    ] = None,
    objects: Annotated[
        int | None, typer.Option(min=1, help="Fixed number of objects; if not given, open in ONNX and 1 in TFLite.")
    ] = None,
    queue: Annotated[int, typer.Option(min=1, help="Slots of memory of a graph with a fixed frame size.")] = 2,
    int8: Annotated[bool, typer.Option("--int8", help="Write int8 graphs too, calibrated on --davis.")] = False,
    davis: Annotated[Path | None, typer.Option(help="A folder of clips with masks in the layout of DAVIS.")] = None,
    split: Annotated[str, typer.Option(help="Which clips of it: a split's name or a text file.")] = "train",
) -> None:
    """Write the whole per-frame step, memory included, as one graph."""
    from mobilevos.errors import InputError
    from mobilevos.evaluation.davis import read_davis
    from mobilevos.export.onnx import export_onnx
    from mobilevos.export.quantise import quantise
    from mobilevos.export.step import Shape
    from mobilevos.export.tflite import export_tflite
    from mobilevos.media.atomic import replacing
    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.model.student import Student
    from mobilevos.weights import find_checkpoint

    formats = to.split(",")
    unknown = sorted(set(formats) - {"onnx", "tflite"})
    if unknown:
        raise InputError(f"cannot export to {unknown[0]!r}; there are onnx and tflite")
    if int8 and davis is None:
        raise InputError("int8 is calibrated on real clips: expected --davis with a folder of them")
    clips = read_davis(davis, split, 2016) if int8 and davis is not None else []
    shape = None
    if frame is not None:
        width, _, height = frame.partition("x")
        if not (width.isdigit() and height.isdigit()):
            raise InputError(f"expected a frame size such as 864x480, got {frame!r}")
        shape = Shape(int(height), int(width), objects, queue)
    network = load_checkpoint(find_checkpoint(model))
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    if "onnx" in formats:
        path = output / f"{network.variant}{'' if frame is None else '-' + frame}.onnx"
        export_onnx(network, path, shape)
        print(path)
        if clips:
            quantise(path, clips, path.with_stem(f"{path.stem}-int8"))
            print(path.with_stem(f"{path.stem}-int8"))
    if "tflite" in formats:
        fixed = Shape(*((480, 864) if shape is None else (shape.height, shape.width)), objects or 1, queue)
        path = output / f"{network.variant}-{fixed.width}x{fixed.height}-{fixed.objects}.tflite"
        export_tflite(network, path, fixed)
        print(path)
        if clips:
            from mobilevos.export.tflite_int8 import quantise_tflite

            small = path.with_stem(f"{path.stem}-int8")
            with replacing(small) as part:
                part.write_bytes(quantise_tflite(path.read_bytes(), clips))
            print(small)
