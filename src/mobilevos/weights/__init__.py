"""The shipped weights."""

from __future__ import annotations

from pathlib import Path

from mobilevos.errors import InputError

FOLDER = Path(__file__).parent


def shipped() -> dict[str, Path]:
    """Names of the models that came with the package, and their files."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.safetensors"))}


def find_weights(model: str | Path) -> Path:
    """The file of a shipped model's name, or of a path."""
    models = shipped()
    if str(model) in models:
        return models[str(model)]
    if Path(model).is_file():
        return Path(model)
    known = ", ".join(models) or "none"
    raise InputError(f"{str(model)!r} is neither a shipped model ({known}) nor a file")
