"""The shipped models: weights, and graphs that read them in place.

`models.json` lists them; each has a checkpoint (`NAME.safetensors`) and a step graph (`NAME.onnx`) that points into it.
Those in int8 have a graph only, with the weights inside.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mobilevos.errors import InputError

FOLDER = Path(__file__).parent
CATALOGUE = "models.json"
QUEUE = 4
"""Frames that are remembered unless something else is asked for: at 1.05 times the time of two, they follow better."""
FIXED_QUEUE = 3
"""Of exported graphs with fixed sizes, for phones and browsers, unless something else is asked for."""
WORKING_SIZE = 320
"""Short side at which the shipped models see a frame: the size they were trained at, and follow best at."""


@dataclass(frozen=True)
class ModelFiles:
    """Where a model is."""

    checkpoint: Path | None = None
    """Weights for torch"""
    graph: Path | None = None
    """Step graph for the other runtimes"""


@dataclass(frozen=True)
class ShippedModel:
    """A model that came with the package."""

    name: str
    variant: str
    parameters: int
    j_and_f: float
    """On the validation clips of the model card"""
    licence: str
    sha256: dict[str, str]
    """Of each of its files"""


@cache
def shipped() -> dict[str, ShippedModel]:
    """The models that came with the package, by name."""
    return read_catalogue(FOLDER)


def read_catalogue(folder: Path) -> dict[str, ShippedModel]:
    """The models that a folder lists, by name."""
    path = folder / CATALOGUE
    if not path.exists():
        return {}
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {entry["name"]: ShippedModel(**entry) for entry in entries}


def find_model(model: str | Path) -> ModelFiles:
    """The files of a shipped model's name, of `hf://owner/name` on the Hugging Face Hub, or of a path.

    Those that are shipped or come from the Hub are checked against their hashes.
    """
    if str(model).startswith("hf:"):  # a Path has one slash less
        from mobilevos.weights.hub import fetched

        return ModelFiles(**fetched(str(model)))
    known = shipped()
    if str(model) in known:
        entry = known[str(model)]
        for name, expected in entry.sha256.items():
            _check(FOLDER / name, expected)
        weights = f"{entry.name}.safetensors"
        return ModelFiles(FOLDER / weights if weights in entry.sha256 else None, FOLDER / f"{entry.name}.onnx")
    path = Path(model)
    if not path.is_file():
        raise InputError(
            f"{str(model)!r} is neither a shipped model ({', '.join(known) or 'there are none'}) nor a file"
        )
    return ModelFiles(graph=path) if path.suffix == ".onnx" else ModelFiles(checkpoint=path)


def find_checkpoint(model: str | Path) -> Path:
    """The weights of a shipped model's name, or of a path."""
    files = find_model(model)
    if files.checkpoint is None:
        raise InputError(f"expected a checkpoint, got the graph {str(model)!r}")
    return files.checkpoint


def _check(path: Path, expected: str) -> None:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(
            f"the shipped file {path.name} cannot be read: {error.strerror}; install the package anew"
        ) from error
    if found != expected:
        raise InputError(f"the shipped file {path.name} is damaged; install the package anew")
