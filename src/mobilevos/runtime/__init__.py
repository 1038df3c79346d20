"""The network's step on several engines, behind one interface."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.runtime.base import MemoryArrays, Runtime
from mobilevos.threads import wanted_threads
from mobilevos.weights import ModelFiles, find_model

RUNTIMES = ("auto", "onnx", "openvino", "torch")
PACKAGES = {"onnx": "onnxruntime", "openvino": "openvino", "torch": "torch"}
"""The package each one needs."""
FASTEST_FIRST = ("openvino", "onnx", "torch")

__all__ = ["RUNTIMES", "MemoryArrays", "Runtime", "load_runtime"]


def load_runtime(model: str | Path, runtime: str = "auto", threads: int | None = None) -> Runtime:
    """A runtime for a shipped model's name or a model's file.

    Args:
        model: a shipped name; an exported graph (`.onnx`); or a checkpoint (`.safetensors`), which only torch runs.
        runtime: one of `RUNTIMES`; auto takes the fastest that is installed and can run the model.
        threads: to compute with; None takes as many as OMP_NUM_THREADS says, or all cores.
    """
    if runtime not in RUNTIMES:
        raise InputError(f"no runtime is called {runtime!r}; there are {', '.join(RUNTIMES)}")
    usable = usable_runtimes(model)
    if runtime != "auto" and runtime not in usable:
        if not is_installed(runtime):
            raise InputError(f"the {runtime} runtime needs {PACKAGES[runtime]}, which is not installed")
        raise InputError(f"the {runtime} runtime cannot run {str(model)!r}; {' and '.join(usable) or 'none'} can")
    if not usable:
        raise InputError(f"{str(model)!r} needs a runtime that is not installed: {', '.join(PACKAGES.values())}")
    return _open(usable[0] if runtime == "auto" else runtime, find_model(model), threads or wanted_threads())


def usable_runtimes(model: str | Path) -> list[str]:
    """The runtimes that are installed and can run a model, fastest first."""
    files = find_model(model)
    can = [name for name in FASTEST_FIRST if (files.checkpoint if name == "torch" else files.graph)]
    return [name for name in can if is_installed(name)]


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(PACKAGES[name]) is not None


def _open(name: str, files: ModelFiles, threads: int | None) -> Runtime:
    if name == "torch":
        from mobilevos.runtime.torch_runtime import TorchRuntime

        assert files.checkpoint is not None
        return TorchRuntime(files.checkpoint, threads=threads)
    assert files.graph is not None
    if name == "openvino":
        from mobilevos.runtime.openvino_runtime import OpenVinoRuntime

        return OpenVinoRuntime(files.graph, threads)
    from mobilevos.runtime.onnx_runtime import OnnxRuntime

    return OnnxRuntime(files.graph, threads)
