"""Puts trained weights into the package: half-precision checkpoint, linked graph, catalogue entry."""

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


def ship(checkpoint: Path, j_and_f: float, folder: Path = FOLDER) -> ShippedModel:
    """Make a checkpoint the shipped model of its variant.

    Args:
        checkpoint: trained weights of a student.
        j_and_f: measured on the validation clips.
    """
    metadata, _ = read_checkpoint(checkpoint)
    network = load_checkpoint(checkpoint)
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    name = network.variant
    weights, graph = folder / f"{name}.safetensors", folder / f"{name}.onnx"
    save_checkpoint(
        weights, network, recipe=json.loads(metadata["recipe"]), notes=json.loads(metadata["notes"]), half=True
    )
    link_onnx(network, weights, graph)
    entry = ShippedModel(
        name, name, parameter_count(network), round(j_and_f, 4), LICENCE, {p.name: digest(p) for p in (weights, graph)}
    )
    catalogue = {**shipped(), name: entry}
    with replacing(folder / "models.json") as part:
        part.write_text(json.dumps([dataclasses.asdict(catalogue[key]) for key in sorted(catalogue)], indent=2) + "\n")
    shipped.cache_clear()
    return entry
