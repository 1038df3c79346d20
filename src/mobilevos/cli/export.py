"""mobilevos export"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mobilevos.weights import FIXED_QUEUE

if TYPE_CHECKING:
    from mobilevos.datasets.task import VideoTask
    from mobilevos.export.step import Shape
    from mobilevos.model.student import Student


def export(
    model: Annotated[str, typer.Argument(help="A shipped model's name or a checkpoint.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the graphs.")],
    to: Annotated[str, typer.Option(help="Formats, separated by commas: onnx, tflite, executorch, coreml.")] = "onnx",
    frame: Annotated[
        str | None, typer.Option(help="Fixed frame size; if not given, open in ONNX and 864x480 in the others.")
    ] = None,
    objects: Annotated[
        int | None, typer.Option(min=1, help="Fixed number of objects; if not given, open in ONNX and 1 in the others.")
    ] = None,
    queue: Annotated[
        int | None, typer.Option(min=1, help="Slots of memory of a graph with a fixed frame size; 3 if not given.")
    ] = None,
    int8: Annotated[bool, typer.Option("--int8", help="Write int8 graphs too, calibrated on --davis.")] = False,
    davis: Annotated[Path | None, typer.Option(help="A folder of clips with masks in the layout of DAVIS.")] = None,
    split: Annotated[str, typer.Option(help="Which clips of it: a split's name or a text file.")] = "train",
) -> None:
    """Write the whole per-frame step, memory included, as one graph."""
    import shutil
    from tempfile import TemporaryDirectory

    from mobilevos.cli.targets import check_folder
    from mobilevos.datasets.davis import read_davis
    from mobilevos.errors import InputError
    from mobilevos.files import replace_folder, replacing
    from mobilevos.weights import find_checkpoint

    formats = to.split(",")
    writers = {"onnx": _write_onnx, "tflite": _write_tflite, "executorch": _write_executorch, "coreml": _write_coreml}
    unknown = sorted(set(formats) - writers.keys())
    if unknown:
        raise InputError(f"cannot export to {unknown[0]!r}; there are {', '.join(writers)}")
    if frame is not None and not re.fullmatch("[0-9]+x[0-9]+", frame):
        raise InputError(f"expected a frame size such as 864x480, got {frame!r}")
    if "onnx" in formats and frame is None and (objects or queue):
        raise InputError("--objects and --queue need --frame: an ONNX graph for any frame size leaves both open")
    if int8 and davis is None:
        raise InputError("int8 is calibrated on real tasks: expected --davis with a folder of them")
    if int8 and objects not in (None, 1):
        raise InputError(f"int8 is calibrated on one object: expected no --objects or 1, got {objects}")
    if int8 and (floats := [kind for kind in formats if kind not in ("onnx", "tflite")]):
        raise InputError(f"int8 is for onnx and tflite, not for {floats[0]}")
    check_folder(output)
    checkpoint = find_checkpoint(model)
    tasks = read_davis(davis, split, 2016) if int8 and davis is not None else []
    with TemporaryDirectory() as scratch:  # nothing is left of an export that fails
        for kind in dict.fromkeys(formats):
            writers[kind](checkpoint, Path(scratch), frame, objects, queue or FIXED_QUEUE, tasks)
        output.mkdir(parents=True, exist_ok=True)
        for made in sorted(Path(scratch).iterdir(), key=lambda path: (path.suffix, path.stem)):
            if made.is_dir():
                replace_folder(made, output / made.name)
            else:
                with replacing(output / made.name) as part:
                    shutil.copyfile(made, part)
            print(output / made.name)


def _write_onnx(
    checkpoint: Path, folder: Path, frame: str | None, objects: int | None, slots: int, tasks: list[VideoTask]
) -> None:
    from mobilevos.export.onnx import export_onnx
    from mobilevos.export.quantise import quantise

    shape = None if frame is None else _shape(frame, objects, slots)
    network = _load_student(checkpoint)
    path = folder / f"{network.variant}{_suffix(shape)}.onnx"
    export_onnx(network, path, shape)
    if tasks:
        quantise(path, tasks, path.with_stem(f"{path.stem}-int8"))


def _write_tflite(
    checkpoint: Path, folder: Path, frame: str | None, objects: int | None, slots: int, tasks: list[VideoTask]
) -> None:
    from mobilevos.export.tflite import export_tflite

    shape = _shape(frame or "864x480", objects or 1, slots)
    network = _load_student(checkpoint)
    path = folder / f"{network.variant}{_suffix(shape)}.tflite"
    export_tflite(network, path, shape)
    if tasks:
        from mobilevos.export.tflite_int8 import quantise_tflite

        path.with_stem(f"{path.stem}-int8").write_bytes(quantise_tflite(path.read_bytes(), tasks))


def _write_executorch(
    checkpoint: Path, folder: Path, frame: str | None, objects: int | None, slots: int, _: list[VideoTask]
) -> None:
    from mobilevos.export.executorch import export_executorch

    shape = _shape(frame or "864x480", objects or 1, slots)
    network = _load_student(checkpoint)
    export_executorch(network, folder / f"{network.variant}{_suffix(shape)}.pte", shape)


def _write_coreml(
    checkpoint: Path, folder: Path, frame: str | None, objects: int | None, slots: int, _: list[VideoTask]
) -> None:
    from mobilevos.export.coreml import export_coreml

    shape = _shape(frame or "864x480", objects or 1, slots)
    network = _load_student(checkpoint)
    export_coreml(network, folder / f"{network.variant}{_suffix(shape)}.mlpackage", shape)


def _shape(frame: str, objects: int | None, slots: int) -> Shape:
    from mobilevos.export.step import Shape

    width, height = map(int, frame.split("x"))
    return Shape(height, width, objects, slots)


def _suffix(shape: Shape | None) -> str:
    """What a file's name says of fixed sizes; the usual length of the memory goes without saying."""
    if shape is None:
        return ""
    objects = "" if shape.objects is None else f"-{shape.objects}"
    queue = "" if shape.slots == FIXED_QUEUE else f"-queue{shape.slots}"
    return f"-{shape.width}x{shape.height}{objects}{queue}"


def _load_student(checkpoint: Path) -> Student:
    from mobilevos.errors import InputError
    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.model.student import Student

    network = load_checkpoint(checkpoint)
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    return network
