"""One room for each thing: which package may import which, and who may import torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mobilevos

SOURCE = Path(mobilevos.__file__).parent

LAYERS = """
errors version
files arrays threads progress
weights media losses
datasets model
runtime
tracking
synthetic evaluation pipeline clips render
removal batch app demo training
export
benchmark integrations
reproduce
cli
"""
"""Lowest first. A package imports from lower rows, or itself; row mates know nothing of each other."""

ROWS = {name: row for row, names in enumerate(LAYERS.strip().splitlines()) for name in names.split()}

TORCH = {"losses", "model", "clips", "training", "export", "benchmark", "reproduce", "runtime.torch_runtime"}
"""Packages and modules that may import torch; the product works without."""

ABOVE_ALL = {"__init__", "__main__"}
"""The fa\u00e7ade and the entry point: nothing imports them."""


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if "web" not in path.relative_to(SOURCE).parts)


def name_of(path: Path) -> str:
    """`tracking.window` for src/mobilevos/tracking/window.py."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names of all that is imported, at the top or where it is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError("relative imports hide where a thing comes from")
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "mobilevos":
                yield from (f"mobilevos.{alias.name}" for alias in node.names)
            else:
                yield node.module


def faults(name: str, code: str) -> list[str]:
    """What a module of that name imports although it must not."""
    room = name.partition(".")[0]
    found = []
    for target in imported(ast.parse(code)):
        package, _, rest = target.partition(".")
        if package == "torch" and not {room, name} & TORCH:
            found.append(f"{name} imports torch")
        if package != "mobilevos" or room in ABOVE_ALL:
            continue
        other = rest.partition(".")[0]
        if other not in ROWS:
            found.append(f"{name} imports {target}, which is in no layer")
        elif other != room and ROWS[other] >= ROWS[room]:
            found.append(f"{name} imports {target}, which is not below it")
    return found


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_point_down(path: Path) -> None:
    name = name_of(path)
    assert name.partition(".")[0] in ROWS | dict.fromkeys(ABOVE_ALL), f"{name} is in no layer"
    assert not faults(name, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "code", "fault"),
    [
        ("media.video", "from mobilevos.tracking import Tracker", "tracking, which is not below"),
        ("media.video", "def f():\n    import mobilevos.pipeline.run", "pipeline.run, which is not below"),
        ("clips.crop", "from mobilevos.evaluation.metrics import jaccard", "evaluation.metrics, which is not below"),
        ("tracking.window", "import torch", "imports torch"),
        ("runtime.graph", "def f():\n    from torch import nn", "imports torch"),
        ("pipeline.run", "from mobilevos import __version__", "in no layer"),
    ],
)
def test_a_thing_in_the_wrong_room_is_seen(name: str, code: str, fault: str) -> None:
    assert fault in faults(name, code)[0]


def test_the_promise() -> None:
    """The fa\u00e7ade: what is there, and that it is there."""
    assert mobilevos.__all__ == [
        "InputError",
        "TrackResult",
        "Tracker",
        "__version__",
        "evaluate_davis",
        "load_mask",
        "load_runtime",
        "open_source",
        "read_frames",
        "remove",
        "segment",
    ]
    for name in mobilevos.__all__:
        assert getattr(mobilevos, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        mobilevos.nonsense  # noqa: B018
