"""The network's step on several engines, behind one interface."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.runtime.base import Memory, Runtime
from mobilevos.weights import find_model

RUNTIMES = ("auto", "onnx", "openvino", "torch")
EXTRAS = {"onnx": "onnxruntime", "openvino": "openvino", "torch": "torch"}
"""The package each one needs."""
FASTEST_FIRST = ("openvino", "onnx", "torch")

__all__ = ["RUNTIMES", "Memory", "Runtime", "load_runtime"]


def load_runtime(model: str | Path, runtime: str = "auto", threads: int | None = None) -> Runtime:
    """A runtime for a shipped model's name or a model's file.

    Args:
        model: a shipped name; an exported graph (`.onnx`); or a checkpoint (`.safetensors`), which only torch runs.
        runtime: one of `RUNTIMES`; auto takes the fastest that is installed and can run the model.
        threads: to compute with; None takes all cores.
    """
    if runtime not in RUNTIMES:
        raise InputError(f"no runtime is called {runtime!r}; there are {', '.join(RUNTIMES)}")
    files = find_model(model)
    usable = [name for name in FASTEST_FIRST if (files.checkpoint if name == "torch" else files.graph)]
    if runtime != "auto":
        if runtime not in usable:
            raise InputError(f"the {runtime} runtime cannot run {str(model)!r}; {' and '.join(usable)} can")
        if not _installed(runtime):
            raise InputError(f"the {runtime} runtime needs {EXTRAS[runtime]}, which is not installed")
        return _open(runtime, files.graph, files.checkpoint, threads)
    for name in usable:
        if _installed(name):
            return _open(name, files.graph, files.checkpoint, threads)
    needed = " or ".join(EXTRAS[name] for name in usable)
    raise InputError(f"{str(model)!r} needs {needed}, which is not installed")


def _installed(name: str) -> bool:
    return importlib.util.find_spec(EXTRAS[name]) is not None


def _open(name: str, graph: Path | None, checkpoint: Path | None, threads: int | None) -> Runtime:
    if name == "torch":
        assert checkpoint is not None
        from mobilevos.runtime.torch_runtime import TorchRuntime

        return TorchRuntime(checkpoint, threads=threads)
    assert graph is not None
    if name == "openvino":
        from mobilevos.runtime.openvino_runtime import OpenVinoRuntime

        return OpenVinoRuntime(graph, threads)
    from mobilevos.runtime.onnx_runtime import OnnxRuntime

    return OnnxRuntime(graph, threads)
