"""The benchmarks: speed as in the paper's table, memory, queue length, runtimes."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mobilevos.benchmark.measure import INCLUDES, random_frames, random_mask, time_tracking
from mobilevos.files import replacing
from mobilevos.runtime import Runtime, is_installed, load_runtime, usable_runtimes
from mobilevos.tracking import Tracker
from mobilevos.weights import shipped

Say = Callable[[str], None]
TEACHER = "stcn"
STATUS = Path("/proc/self/statm")
"""Where Linux tells how much memory a process has."""
FULL = 12
"""Frames after which a runtime has made itself ready for a memory that is full (OpenVINO waits for 10)."""


@dataclass(frozen=True)
class Report:
    """The result of a benchmark, with what is needed to believe it."""

    name: str
    rows: list[dict[str, Any]]
    includes: str = INCLUDES
    machine: dict[str, Any] = field(default_factory=lambda: machine())

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(json.dumps(dataclasses.asdict(self), indent=2) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What it was measured on."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def open_runtime(model: str, runtime: str, threads: int | None = None) -> Runtime:
    """A shipped model, or the teacher, whose speed needs no trained weights."""
    if model != TEACHER:
        return load_runtime(model, runtime, threads)
    from mobilevos.model.teacher import STCN
    from mobilevos.runtime.torch_runtime import TorchRuntime

    return TorchRuntime(STCN(top_k=20), threads=threads)


def tracker_of(model: str, runtime: Runtime, queue: int | None = 2) -> Tracker:
    """With the memory the model is made for: STCN's grows by a frame in five."""
    return Tracker(runtime, queue=None if model == TEACHER else queue, size=None, every=5)


def benchmark_speed(
    models: Sequence[str] | None = None,
    *,
    lengths: Sequence[int] = (50, 500),
    teacher_lengths: Sequence[int] = (50,),
    height: int = 480,
    width: int = 910,
    runtimes: Sequence[str] = ("torch", "fastest"),
    progress: Say = lambda line: None,
) -> Report:
    """The paper's table on this machine: every model and the teacher, short and long clips, in one run."""
    rows = []
    if teacher_lengths and not is_installed("torch"):
        progress(f"{TEACHER} is left out: it needs torch, which is not installed")
        teacher_lengths = ()
    for model in (*(models or shipped()), *((TEACHER,) if teacher_lengths else ())):
        usable = ["torch"] if model == TEACHER else usable_runtimes(model)
        wanted = dict.fromkeys(usable[0] if name == "fastest" else name for name in runtimes)
        for runtime in [name for name in wanted if name in usable]:
            opened = open_runtime(model, runtime)
            for length in teacher_lengths if model == TEACHER else lengths:
                timing = time_tracking(tracker_of(model, opened), frames=length, height=height, width=width)
                about = {"model": model, "parameters_m": parameters(model), "runtime": runtime, "frames": length}
                rows.append({**about, **figures(timing)})
                progress(f"{model} on {runtime}, {length} frames: {timing.fps:.1f} FPS")
    return Report("speed", rows)


def parameters(model: str) -> float | None:
    """Of a shipped model or the teacher, in millions."""
    if model != TEACHER:
        return round(shipped()[model].parameters / 1e6, 2) if model in shipped() else None
    from mobilevos.model.network import parameter_count
    from mobilevos.model.teacher import STCN

    return round(parameter_count(STCN()) / 1e6, 2)


def benchmark_runtimes(
    model: str,
    *,
    threads: Sequence[int] = (1, 2),
    objects: Sequence[int] = (1, 2, 5, 10),
    frames: int = 20,
    height: int = 480,
    width: int = 910,
    progress: Say = lambda line: None,
) -> Report:
    """Each runtime that is installed, side by side, in float and, where it is shipped, in int8."""
    rows = []
    precisions = {"float32": model} | ({"int8": f"{model}-int8"} if f"{model}-int8" in shipped() else {})
    choices = [(precision, runtime) for precision, name in precisions.items() for runtime in usable_runtimes(name)]
    for precision, runtime in choices:
        for count in threads:
            opened = load_runtime(precisions[precision], runtime, count)
            for number in objects:
                timing = time_tracking(
                    Tracker(opened, size=None), frames=frames, height=height, width=width, objects=number
                )
                about = {"runtime": runtime, "precision": precision, "threads": count, "objects": number}
                rows.append({**about, **figures(timing)})
                progress(f"{runtime} {precision}, {count} threads, {number} objects: {timing.fps:.1f} FPS")
    return Report("runtimes", rows)


def benchmark_queue(
    model: str,
    *,
    queues: Sequence[int] = tuple(range(1, 21)),
    runtime: str = "auto",
    frames: int = 20,
    height: int = 480,
    width: int = 910,
    score: Callable[[Tracker], float] | None = None,
    progress: Say = lambda line: None,
    keep: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Latency against the length of the memory, as the paper's figure; with J&F where a score is given.

    What there is so far is handed to `keep` after every length: with a score it is a matter of many minutes.
    """
    opened = load_runtime(model, runtime)
    report = Report("queue", [])
    for queue in queues:
        tracker = Tracker(opened, queue=queue, size=None)
        timing = time_tracking(tracker, frames=frames, height=height, width=width, warm_up=queue + FULL)
        row: dict[str, Any] = {"queue": queue, **figures(timing)}
        if score is not None:
            row["j_and_f"] = score(tracker)
        report.rows.append(row)
        keep(report)
        quality = f", J&F {row['j_and_f']:.3f}" if score else ""
        progress(f"queue of {queue}: {1000 * timing.median:.1f} ms a frame{quality}")
    return report


def benchmark_memory(
    model: str,
    *,
    frames: int = 500,
    runtime: str = "auto",
    height: int = 480,
    width: int = 910,
    progress: Say = lambda line: None,
) -> Report:
    """Resident memory against the number of frames."""
    tracker = Tracker(load_runtime(model, runtime), size=None)
    rows = []
    for index, frame in enumerate(random_frames(frames + 1, height, width)):
        if index == 0:
            tracker.start(frame, random_mask(height, width, 1))
        else:
            tracker.step(frame)
        if index % max(1, frames // 20) == 0:
            resident = resident_bytes()
            rows.append({"frame": index, "resident_mb": None if resident is None else round(resident / 1e6, 1)})
            progress(f"frame {index}: {'unknown' if resident is None else rows[-1]['resident_mb']} MB")
    return Report("memory", rows)


def resident_bytes() -> int | None:
    """Memory of this process now; where the system does not tell, the most it ever had; None where it tells neither."""
    if STATUS.exists():
        return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ModuleNotFoundError:  # Windows has none
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def figures(timing: Any) -> dict[str, float]:
    """A timing as figures of a table."""
    return {
        "fps": round(timing.fps, 2),
        "fastest_ms": round(1000 * timing.fastest, 2),
        "median_ms": round(1000 * timing.median, 2),
    }
