"""Which form of the shipped model is the fastest on this machine: measured once, and kept.

    tracker = Tracker.load(*fastest().names)

In int8 a frame takes about two thirds of the time where the processor has the instructions for it, and longer than in
floating point where it has not.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.runtime import PACKAGES, RUNTIMES, load_runtime, usable_runtimes
from mobilevos.runtime.base import MemoryArrays, Runtime
from mobilevos.threads import cores, wanted_threads
from mobilevos.version import VERSION
from mobilevos.weights import QUEUE, WORKING_SIZE, shipped

AUTO = "auto"
"""What this is called as a model."""

FORMS = ("mobilenetv2-lite", "mobilenetv2-lite-int8")
ROUNDS = 6


@dataclass(frozen=True)
class Fastest:
    """A shipped model and a runtime."""

    model: str
    runtime: str
    milliseconds: Mapping[str, float]
    """Of a frame, by "model on runtime", for all that were measured."""
    measured: bool
    """Whether it was measured now, and not before."""

    @property
    def names(self) -> tuple[str, str]:
        return self.model, self.runtime

    def __str__(self) -> str:
        times = ", ".join(f"{name} {ms:.0f}" for name, ms in sorted(self.milliseconds.items(), key=lambda one: one[1]))
        return f"Measured once, ms a frame: {times}."


def fastest(
    runtime: str = "auto",
    kept: Path | None = None,
    timed: Callable[[Mapping[str, Runtime]], dict[str, float]] | None = None,
) -> Fastest:
    """The fastest form of `mobilenetv2-lite`.

    Args:
        runtime: only on this one; auto takes all that are installed.
        kept: the file in which what was measured is kept; by default in the user's cache folder.
        timed: what measures; see `milliseconds`.
    """
    if runtime not in RUNTIMES:
        raise InputError(f"no runtime is called {runtime!r}; there are {', '.join(RUNTIMES)}")
    usable = {(model, name) for model in FORMS if model in shipped() for name in usable_runtimes(model)}
    pairs = [(model, name) for model, name in sorted(usable) if runtime in ("auto", name)]
    if runtime == "auto" and len({name for _, name in pairs}) > 1:
        pairs = [(model, name) for model, name in pairs if name != "torch"]  # far behind, and slow to load
    if not pairs:
        raise InputError(f"no shipped model runs on {runtime}")
    if len(pairs) == 1:
        return Fastest(*pairs[0], milliseconds={}, measured=False)
    file, key = kept or cache_folder() / "fastest.json", _situation(pairs)
    times = _read(file).get(key)
    known = times is not None and {f"{model} on {name}" for model, name in pairs} == times.keys()
    if times is None or not known:
        opened = {f"{model} on {name}": load_runtime(model, name) for model, name in pairs}
        times = (timed or milliseconds)(opened)
        _write(file, {**_read(file), key: times})
    model, _, name = min(times, key=lambda one: times[one]).partition(" on ")
    return Fastest(model, name, times, not known)


def milliseconds(runtimes: Mapping[str, Runtime]) -> dict[str, float]:
    """What a frame takes at least, measured in turns, so that all of them have the same share of a busy moment."""
    rng = np.random.default_rng(0)
    frame = rng.integers(0, 256, (WORKING_SIZE, 576, 3), np.uint8)
    mask = np.zeros((1, *frame.shape[:2]), np.float32)
    mask[:, 100:200, 200:300] = 1
    memories = {}
    for name, runtime in runtimes.items():
        key, values = runtime.memorise(frame, mask)
        slots = min(QUEUE, runtime.slots or QUEUE)
        nearness = np.array([0, *(1 / age**2 for age in range(1, slots))], np.float32)
        memories[name] = MemoryArrays(key[:, None].repeat(slots, 1), values[:, :, None].repeat(slots, 2), nearness)
    least = dict.fromkeys(runtimes, float("inf"))
    for turn in range(ROUNDS):
        for name, runtime in runtimes.items():
            began = time.perf_counter()
            runtime.step(frame, memories[name], memories[name].slots - 1)
            if turn:
                least[name] = min(least[name], 1000 * (time.perf_counter() - began))
    return {name: round(value, 2) for name, value in least.items()}


def cache_folder() -> Path:
    """Where the user's programs keep what they can make again."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "mobilevos"


def _situation(pairs: list[tuple[str, str]]) -> str:
    """A short text that is another one where other times are to be expected."""
    about = {
        "version": VERSION,
        "files": {model: shipped()[model].sha256 for model, _ in pairs},
        "packages": {name: importlib.metadata.version(PACKAGES[name]) for _, name in pairs},
        "threads": wanted_threads() or cores(),
        "machine": [platform.node(), platform.machine(), platform.processor()],
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _read(file: Path) -> dict[str, dict[str, float]]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _write(file: Path, content: Mapping[str, Mapping[str, float]]) -> None:
    """Where it cannot be kept, it is measured again next time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_text(json.dumps(content, indent=2), encoding="utf-8")
    except (OSError, InputError):
        pass
