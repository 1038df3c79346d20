"""The step as TFLite, for phones and browsers: fixed shapes, weights inside, every operation one of XNNPACK's.

Kinds of networks that have templates need no converter; anything else goes through it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mobilevos.errors import InputError
from mobilevos.export.tflite_convert import convert
from mobilevos.export.tflite_step import TfliteStep
from mobilevos.export.tflite_template import (
    MANIFEST,
    MOST_CELLS,
    SLOTS,
    TEMPLATES,
    WEIGHTS,
    assemble,
    laid_out,
    read_manifest,
    write_whole,
)
from mobilevos.model.student import Student

if TYPE_CHECKING:
    from mobilevos.export.step import Shape


def export_tflite(network: Student, path: Path, shape: Shape) -> None:
    """Write the step of a network as one TFLite file for one frame size and number of objects."""
    write_whole(path, tflite_model(network, shape))


def tflite_model(network: Student, shape: Shape) -> bytes:
    """The step of a network as a TFLite model."""
    height, width, objects = shape.height, shape.width, shape.objects
    if objects is None:
        raise InputError("expected a number of objects for TFLite, which has fixed shapes; got none")
    folder = TEMPLATES / network.variant
    if shape.slots == SLOTS and max(height, width) <= 16 * MOST_CELLS and (folder / MANIFEST).exists():
        manifest = read_manifest(folder)
        if str(objects) in manifest["templates"]:
            return assemble(folder, height, width, objects, ordered_weights(network, manifest))
    return convert(TfliteStep(network), height, width, objects, shape.slots)


def write_web_bundle(network: Student, directory: Path) -> None:
    """Write what a page needs to run the network at any frame size: templates, manifest, and the weights once."""
    folder = TEMPLATES / network.variant
    manifest = read_manifest(folder)
    parts = [
        value.astype("<f2" if kind == "f16" else "<f4").tobytes()
        for value, (_, _, kind, _) in zip(ordered_weights(network, manifest), manifest["weights"], strict=True)
    ]
    write_whole(directory / WEIGHTS, b"".join(parts))
    for name in (*(template["file"] for template in manifest["templates"].values()), MANIFEST):
        write_whole(directory / name, (folder / name).read_bytes())


def ordered_weights(network: Student, manifest: dict[str, Any]) -> list[np.ndarray]:
    """A network's weights in the order and layout of templates for its kind."""
    parameters = {name: value.detach().numpy() for name, value in TfliteStep(network).named_parameters()}
    weights = []
    for name, layout, _, count in manifest["weights"]:
        if name not in parameters or parameters[name].size != count:
            raise InputError(
                f"the TFLite templates for {manifest['variant']!r} are of another network: {name!r} does not fit"
            )
        weights.append(laid_out(parameters[name], layout))
    return weights


if __name__ == "__main__":
    import typer

    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.weights import find_checkpoint

    def main(model: str, directory: Path) -> None:
        network = load_checkpoint(find_checkpoint(model))
        assert isinstance(network, Student)
        write_web_bundle(network, directory)

    typer.run(main)
