"""Puts trained weights into the package: half-precision checkpoint, linked graph, catalogue entry.

python -m tools.ship runs/lite-h/best.safetensors
python -m tools.ship runs/lite-h/best.safetensors --int8 DAVIS
python -m tools.ship runs/final/last.safetensors --int8 DAVIS --scored runs/lite-h/best.safetensors
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mobilevos.datasets.davis import davis_places, read_davis
from mobilevos.errors import InputError
from mobilevos.export.onnx import link_onnx
from mobilevos.files import replacing
from mobilevos.model.checkpoint import digest, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.model.network import parameter_count
from mobilevos.model.student import Student
from mobilevos.weights import CATALOGUE, FOLDER, ShippedModel, read_catalogue, shipped

LICENCE = (
    "CC BY-NC 4.0, research use (trained on DAVIS, YouTube-VOS, DUTS, PASCAL VOC, CUB-200, MOTS, OTB and others: "
    "LICENSE-WEIGHTS.md)"
)


def ship(
    checkpoint: Path, folder: Path = FOLDER, davis: Path | None = None, scored: Path | None = None
) -> ShippedModel:
    """Make a checkpoint of a student the shipped model of its variant.

    Its notes say how well it did in validation. A soup was never validated: that is done here, on the clips its recipe
    leaves out, in a DAVIS folder. Weights of a final run, which trains on the validation clips too, cannot be
    validated: `scored` are the weights it began with, and theirs is the score that is told.
    """
    metadata, _ = read_checkpoint(checkpoint)
    notes, recipe = json.loads(metadata["notes"]), json.loads(metadata["recipe"])
    network = load_checkpoint(checkpoint)
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    if scored is not None:
        notes = json.loads(read_checkpoint(scored)[0]["notes"]) | {"scored": "before the final run on all clips"}
    elif trained := trained_on_validation(recipe):
        raise InputError(f"{str(checkpoint)!r} was trained on the validation clip {trained!r}: say which run is scored")
    if "j_and_f" not in notes:
        if davis is None:
            raise InputError(f"{str(scored or checkpoint)!r} was never validated")
        from mobilevos.training.validation import mean_score, validate

        measured = network if scored is None else load_checkpoint(scored)
        scores = validate(measured, davis, recipe["validation"]["clips"])
        notes |= {"j_and_f": mean_score(scores), "clips": {score.name: score.j_and_f for score in scores}}
    name = network.variant
    weights, graph = folder / f"{name}.safetensors", folder / f"{name}.onnx"
    save_checkpoint(weights, network, recipe=recipe, notes=notes, half=True)
    link_onnx(network, weights, graph)
    entry = ShippedModel(
        name,
        name,
        parameter_count(network),
        round(notes["j_and_f"], 4),
        LICENCE,
        {p.name: digest(p) for p in (weights, graph)},
    )
    _enter(entry, folder)
    return entry


def trained_on_validation(recipe: dict[str, Any]) -> str | None:
    """The first validation clip that a source of videos does not leave out; None where all are left out."""
    for source in recipe["sources"]:
        if source["kind"] == "davis" and source["root"] == recipe["validation"]["root"]:
            for clip in recipe["validation"]["clips"]:
                if clip not in source["exclude"]:
                    return str(clip)
    return None


def ship_int8(checkpoint: Path, davis: Path, folder: Path = FOLDER, scored: Path | None = None) -> ShippedModel:
    """The same in int8, as a model of its own: calibrated on those clips of a DAVIS folder that do not validate it."""
    from mobilevos.export.onnx import export_onnx
    from mobilevos.export.quantise import quantise
    from mobilevos.runtime import load_runtime
    from mobilevos.tracking.tracker import Tracker
    from mobilevos.training.validation import follow, mean_score

    metadata, _ = read_checkpoint(checkpoint)
    validation = json.loads(metadata["recipe"])["validation"]["clips"]
    network = load_checkpoint(checkpoint)
    name = f"{network.variant}-int8"
    graph = folder / f"{name}.onnx"
    names = sorted({place.name for place in davis_places(davis)} - set(validation))
    with TemporaryDirectory() as scratch:
        split = Path(scratch) / "calibration.txt"
        split.write_text("\n".join(names))
        tested = graph if scored is None else Path(scratch) / "scored.onnx"
        for target, weights in {graph: checkpoint, tested: scored or checkpoint}.items():
            student = load_checkpoint(weights)
            assert isinstance(student, Student)
            export_onnx(student, Path(scratch) / "float.onnx")
            quantise(Path(scratch) / "float.onnx", read_davis(davis, str(split), 2016), target)
        score = mean_score(follow(Tracker(load_runtime(tested, "openvino")), davis, validation))
    entry = ShippedModel(
        name, network.variant, parameter_count(network), round(score, 4), LICENCE, {graph.name: digest(graph)}
    )
    _enter(entry, folder)
    return entry


def _enter(entry: ShippedModel, folder: Path) -> None:
    """Put a model into the catalogue."""
    catalogue = {**read_catalogue(folder), entry.name: entry}
    with replacing(folder / CATALOGUE) as part:
        part.write_text(json.dumps([dataclasses.asdict(catalogue[key]) for key in sorted(catalogue)], indent=2) + "\n")
    shipped.cache_clear()


if __name__ == "__main__":
    import typer

    def main(checkpoint: Path, int8: Path | None = None, scored: Path | None = None) -> None:
        print(ship(checkpoint, davis=int8, scored=scored))
        if int8 is not None:
            print(ship_int8(checkpoint, int8, scored=scored))

    typer.run(main)
