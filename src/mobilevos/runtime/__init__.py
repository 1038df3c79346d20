"""The network's step on several engines, behind one interface."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.runtime.base import Memory, Runtime

RUNTIMES = ("auto", "torch")

__all__ = ["RUNTIMES", "Memory", "Runtime", "load_runtime"]


def load_runtime(model: str | Path, runtime: str = "auto") -> Runtime:
    """A runtime for a shipped model's name or a model's file."""
    if runtime not in RUNTIMES:
        raise InputError(f"no runtime is called {runtime!r}; there are {', '.join(RUNTIMES)}")
    if importlib.util.find_spec("torch") is None:
        raise InputError("the torch runtime needs torch: pip install 'mobilevos[train]'")
    from mobilevos.runtime.torch_runtime import TorchRuntime
    from mobilevos.weights import find_weights

    return TorchRuntime(find_weights(model))
