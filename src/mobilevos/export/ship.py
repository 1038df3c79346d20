"""Puts trained weights into the package: half-precision checkpoint, linked graph, catalogue entry.

python -m mobilevos.export.ship runs/lite/best.safetensors
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.export.onnx import link_onnx
from mobilevos.media.atomic import replacing
from mobilevos.model.checkpoint import digest, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.model.network import parameter_count
from mobilevos.model.student import Student
from mobilevos.weights import FOLDER, ShippedModel, shipped

LICENCE = "CC BY-NC 4.0, research use (trained on DAVIS, DUTS, ECSSD and PASCAL VOC)"


def ship(checkpoint: Path, folder: Path = FOLDER) -> ShippedModel:
    """Make a checkpoint of a student the shipped model of its variant; its notes say how well it did in validation."""
    metadata, _ = read_checkpoint(checkpoint)
    notes = json.loads(metadata["notes"])
    if "j_and_f" not in notes:
        raise InputError(f"{str(checkpoint)!r} was never validated")
    network = load_checkpoint(checkpoint)
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    name = network.variant
    weights, graph = folder / f"{name}.safetensors", folder / f"{name}.onnx"
    save_checkpoint(weights, network, recipe=json.loads(metadata["recipe"]), notes=notes, half=True)
    link_onnx(network, weights, graph)
    entry = ShippedModel(
        name,
        name,
        parameter_count(network),
        round(notes["j_and_f"], 4),
        LICENCE,
        {p.name: digest(p) for p in (weights, graph)},
    )
    catalogue = {**shipped(), name: entry}
    with replacing(folder / "models.json") as part:
        part.write_text(json.dumps([dataclasses.asdict(catalogue[key]) for key in sorted(catalogue)], indent=2) + "\n")
    shipped.cache_clear()
    return entry


if __name__ == "__main__":
    import typer

    def main(checkpoint: Path) -> None:
        print(ship(checkpoint))

    typer.run(main)
