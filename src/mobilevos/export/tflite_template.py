"""TFLite models of any frame size from templates of 57 kilobytes, without a converter.

A TFLite file has fixed shapes, and a browser should not download the weights again for each. Files of one network
differ only in the integers of their shapes and in the coordinates of their grid; a template is such a file with the
weights cut out, and a list of where those integers are. There is one per number of objects. `assemble` puts a file
together, and a page does the same in a few lines. All numbers are little-endian.

`manifest.json`:

| field | what |
| --- | --- |
| `weights` | `[name, layout, type, count]` of each tensor in `weights.bin`, in order; `type` is `f16` or `f32` |
| `templates` | by number of objects, as below |

A template, with positions in the assembled file:

| field | what |
| --- | --- |
| `file`, `size` | the template's file, and the bytes of the assembled one |
| `holes` | `[position, tensor]`: weights as float32; all bytes outside the holes are the template's file in order |
| `sizes` | `[[rows, columns, times, plus], positions]`: an int32 that is a product of sizes, see `Size` |
| `coordinates` | `[position, rows, columns]`: as many float32 0, 1, 2, ... as the size says, centred around 0 |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing

TEMPLATES = Path(__file__).parent / "templates"
"""A folder per kind of network, made by `tools.tflite_cut`"""
MANIFEST, WEIGHTS = "manifest.json", "weights.bin"
SLOTS = 3
FORMAT = "mobilevos-tflite-1"
MOST_CELLS = 256
"""Rows or columns of stride-16 cells that a template has room for"""


@dataclass(frozen=True)
class Size:
    """An integer that depends on the frame: ceil(H / rows) * ceil(W / columns) * times + plus; a divisor of 0 is 1."""

    rows: int
    columns: int
    times: int = 1
    plus: int = 0

    def at(self, height: int, width: int) -> int:
        rows = -(-height // self.rows) if self.rows else 1
        columns = -(-width // self.columns) if self.columns else 1
        return rows * columns * self.times + self.plus


def assemble(
    directory: Path, height: int, width: int, objects: int, weights: Sequence[np.ndarray] | None = None
) -> bytes:
    """The TFLite model for one frame size and number of objects.

    Args:
        directory: of templates.
        height, width: of the frame, multiples of 16.
        objects: one of the numbers there is a template for.
        weights: in the manifest's order; by default those in the same directory.
    """
    manifest = read_manifest(directory)
    template = manifest["templates"].get(str(objects))
    if template is None:
        raise InputError(f"there are TFLite templates for {', '.join(manifest['templates'])} objects, got {objects}")
    if height % 16 or width % 16 or not 0 < min(height, width) <= max(height, width) <= 16 * MOST_CELLS:
        raise InputError(f"expected a frame size in multiples of 16 up to {16 * MOST_CELLS}, got {width} x {height}")
    weights = read_weights(directory, manifest) if weights is None else weights
    kept = memoryview((directory / template["file"]).read_bytes())
    out = bytearray(template["size"])
    start, end = 0, len(out)
    for position, tensor in template["holes"]:
        out[start:position], kept = kept[: position - start], kept[position - start :]
        data = weights[tensor].astype("<f4").tobytes()
        start = position + len(data)
        out[position:start] = data
    out[start:] = kept
    if len(out) != end:
        raise InputError(f"the TFLite template {template['file']!r} is damaged, or its weights do not fit")
    for size, positions in template["sizes"]:
        value = Size(*size).at(height, width).to_bytes(4, "little")
        for position in positions:
            out[position : position + 4] = value
    for position, rows, columns in template["coordinates"]:
        count = Size(rows, columns).at(height, width)
        out[position : position + 4 * count] = line(count)
    return bytes(out)


def line(count: int) -> bytes:
    """Coordinates of so many cells, centred."""
    return (np.arange(count) - (count - 1) / 2).astype("<f4").tobytes()


def laid_out(value: np.ndarray, layout: str) -> np.ndarray:
    """A parameter as a TFLite file has it: channels last."""
    axes = {"flat": None, "conv": (0, 2, 3, 1), "depthwise": (1, 2, 3, 0)}[layout]
    return np.ascontiguousarray(value if axes is None else value.transpose(axes))


def read_manifest(directory: Path) -> dict[str, Any]:
    """What a bundle holds."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(directory)!r} holds no TFLite bundle ({error})") from error
    if manifest.get("format") != FORMAT:
        raise InputError(f"{str(directory / MANIFEST)!r} is not a TFLite bundle of this version")
    return manifest


def read_weights(directory: Path, manifest: dict[str, Any]) -> list[np.ndarray]:
    """The tensors of `weights.bin`, flat."""
    data = (directory / WEIGHTS).read_bytes()
    types = [np.dtype("<f2" if kind == "f16" else "<f4") for _, _, kind, _ in manifest["weights"]]
    counts = [count for _, _, _, count in manifest["weights"]]
    ends = np.cumsum([kind.itemsize * count for kind, count in zip(types, counts, strict=True)])
    if len(data) != ends[-1]:
        raise InputError(f"{str(directory / WEIGHTS)!r} is damaged: expected {ends[-1]} bytes, got {len(data)}")
    starts = [0, *ends[:-1]]
    return [np.frombuffer(data, *where) for where in zip(types, counts, starts, strict=True)]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, and the folders on the way to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(data)
