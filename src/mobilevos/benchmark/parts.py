"""Where a step's time goes: each part alone, against what the machine can do at best."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mobilevos.benchmark.tables import Report, Say
from mobilevos.export.onnx import write_onnx
from mobilevos.export.step import enlarge
from mobilevos.model.cost import multiply_adds
from mobilevos.model.features import Features
from mobilevos.model.memory import Memory
from mobilevos.model.student import Student

INCLUDES = (
    "each part as a graph of its own, on inputs of its own; the parts of a whole step add up to a little less, because "
    "fewer results are written to memory"
)
PEAK_SIDES = (512, 1024, 2048)
"""The peak is the best of the products of two square matrices of these sizes."""


class Part(nn.Module):
    """A function of a network, as a module that can be exported."""

    def __init__(self, network: nn.Module, function: Callable[..., Any]) -> None:
        super().__init__()
        self.network, self.function = network, function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def parts_of(network: Student, height: int, width: int) -> dict[str, tuple[Part, tuple[Tensor, ...]]]:
    """The parts of a step for one object and a memory of two frames, with example inputs."""
    h, w = height // 16, width // 16
    frame = torch.randint(0, 256, (1, 3, height, width)).float()
    keys = torch.randn(1, network.key_channels, 2, h, w)
    values = torch.randn(1, 1, network.value_channels, 2, h, w)
    masks = torch.rand(1, 1, height // 4, width // 4)
    with torch.no_grad():
        features = network.encode(frame)
        readout = network.read(features.key, Memory(keys, values, torch.tensor([0.0, 1.0])))

    def encode(frame: Tensor) -> tuple[Tensor, ...]:
        found = network.encode(frame)
        return found.key, found.value, found.s16, found.s8, found.s4

    def read(key: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        return network.read(key, Memory(keys, values, torch.tensor([0.0, 1.0])))

    def decode(readout: Tensor, s16: Tensor, s8: Tensor, s4: Tensor) -> Tensor:
        return network.decode(readout, Features(s16, s16, s16, s8, s4)).logits

    def memorise(value: Tensor, masks: Tensor) -> Tensor:
        return network.value_encoder(value, masks, 1 - masks)

    def output(logits: Tensor) -> Tensor:
        return enlarge(logits[0]).sigmoid()

    return {
        "encode": (Part(network, encode), (frame,)),
        "read": (Part(network, read), (features.key, keys, values)),
        "decode": (Part(network, decode), (readout, features.s16, features.s8, features.s4)),
        "memorise": (Part(network, memorise), (features.value, masks)),
        "output": (Part(network, output), (masks,)),
    }


def benchmark_parts(
    network: Student,
    *,
    height: int = 480,
    width: int = 912,
    repeats: int = 30,
    threads: int = 2,
    progress: Say = lambda line: None,
) -> Report:
    """Multiply-adds, time and share of the machine's peak of each part, on onnxruntime."""
    network = network.eval()
    rows = []
    with TemporaryDirectory() as scratch, torch.no_grad():
        path = Path(scratch) / "part.onnx"
        peak = 0.0
        for side in PEAK_SIDES:
            square = torch.randn(side, side)
            write_onnx(Part(network, torch.matmul), (square, square), path)
            peak = max(peak, side**3 / _fastest(path, (square, square), threads, repeats))
        parts = parts_of(network, height, width)
        seconds = {}
        for name, (part, inputs) in parts.items():
            write_onnx(part, inputs, path)
            seconds[name] = _fastest(path, inputs, threads, repeats)
            progress(f"{name}: {1000 * seconds[name]:.1f} ms")
    counts = multiply_adds(network, height, width)
    for name, spent in seconds.items():
        count = counts.get(name, 0)
        rows.append(_row(name, count, spent, peak))
    rows.append(_row("total", counts["total"], sum(seconds.values()), peak))
    rows.append(_row("peak", 10**9, 1e9 / peak, peak))
    return Report("parts", rows, includes=INCLUDES)


def _row(name: str, count: int, seconds: float, peak: float) -> dict[str, Any]:
    speed = count / seconds
    return {
        "part": name,
        "multiply_adds_m": round(count / 1e6),
        "fastest_ms": round(1000 * seconds, 2),
        "g_multiply_adds_per_s": round(speed / 1e9, 1),
        "of_peak": round(speed / peak, 2),
    }


def _fastest(path: Path, inputs: tuple[Tensor, ...], threads: int, repeats: int) -> float:
    """Seconds of the fastest of some runs on onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feed = {put.name: np.asarray(value) for put, value in zip(session.get_inputs(), inputs, strict=True)}
    times = []
    for _ in range(repeats + 2):
        start = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - start)
    return min(times)
