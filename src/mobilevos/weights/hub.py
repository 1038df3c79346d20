"""Models on the Hugging Face Hub: `hf://owner/name`, or `hf://owner/name@revision`.

Such a repository holds a checkpoint, a step graph or both, and `config.json`, which names them and their hashes:

    {"library_name": "mobilevos", "checkpoint": "NAME.safetensors", "graph": "NAME.onnx",
     "licence": "...", "sha256": {"NAME.safetensors": "...", "NAME.onnx": "..."}}
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from mobilevos.errors import InputError
from mobilevos.files import replacing

PREFIX = "hf://"
CONFIG = "config.json"
LIBRARY = "mobilevos"
KINDS = {"checkpoint": ".safetensors", "graph": ".onnx"}
_COPIES: list[tempfile.TemporaryDirectory[str]] = []
"""Held until the process ends."""
ADDRESS = re.compile(r"hf://(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")


@cache
def fetched(address: str) -> dict[str, Path]:
    """The files of a model on the Hub, by kind: from huggingface_hub's cache, or downloaded into it; hashes checked."""
    parts = ADDRESS.fullmatch(address)
    if not parts:
        raise InputError(f"expected hf://owner/name or hf://owner/name@revision, got {address!r}")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise InputError(f"{address} needs huggingface_hub: pip install 'mobilevos[hub]'") from error
    wanted = [CONFIG, *(f"*{ending}" for ending in KINDS.values())]
    try:
        folder = Path(snapshot_download(parts["name"], revision=parts["revision"], allow_patterns=wanted))
    except (OSError, ValueError) as error:  # what huggingface_hub raises is one of these
        raise InputError(f"cannot get {address}: {str(error).splitlines()[0]}") from error
    return read_repository(_whole(folder), address)


def read_repository(folder: Path, name: str) -> dict[str, Path]:
    """The files of a folder in the layout above, by kind; each is as `config.json` says."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"expected a {CONFIG} in {name}: {error}") from error
    if not isinstance(config, dict) or config.get("library_name") != LIBRARY:
        raise InputError(f"{name} is no model of {LIBRARY}: its {CONFIG} does not say so")
    files = {kind: str(config[kind]) for kind in KINDS if config.get(kind)}
    if not files:
        raise InputError(f"the {CONFIG} of {name} names neither a checkpoint nor a graph")
    hashes = config.get("sha256", {})
    for kind, file in files.items():
        if Path(file).name != file or Path(file).suffix != KINDS[kind]:
            raise InputError(f"expected a file *{KINDS[kind]} as the {kind} of {name}, got {file!r}")
        if not (folder / file).is_file():
            raise InputError(f"{name} has no {file}, which its {CONFIG} names")
        if _hash(folder / file) != hashes.get(file):
            raise InputError(f"{file} of {name} is not what its {CONFIG} says: it is damaged, or was changed")
    return {kind: folder / file for kind, file in files.items()}


def write_repository(folder: Path, *, checkpoint: Path | None = None, graph: Path | None = None, licence: str) -> None:
    """A folder to upload: `hf upload owner/name FOLDER`. A graph that points into a checkpoint needs it there, too."""
    given = {kind: path for kind, path in (("checkpoint", checkpoint), ("graph", graph)) if path is not None}
    if not given:
        raise InputError("expected a checkpoint, a graph or both")
    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"library_name": LIBRARY, "licence": licence, "sha256": {}}
    for kind, path in given.items():
        with replacing(folder / path.name) as part:
            shutil.copyfile(path, part)
        config[kind] = path.name
        config["sha256"][path.name] = _hash(folder / path.name)
    with replacing(folder / CONFIG) as part:
        part.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _whole(folder: Path) -> Path:
    """The model's files as files: the cache has links to other folders, and no graph may read its weights through one.

    They are in a temporary folder that goes when the process ends.
    """
    copies = tempfile.TemporaryDirectory(prefix="mobilevos-")
    _COPIES.append(copies)
    for path in folder.iterdir():
        if path.name == CONFIG or path.suffix in KINDS.values():
            shutil.copyfile(path, Path(copies.name) / path.name)
    return Path(copies.name)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
