"""Soaks: many short jobs that are killed and corrected at random, and one long video; nothing may be lost, or grow.

Each short job is a video of a random size, rate and codec with random marks. It is followed by the command, killed at a
random moment and resumed, and corrected in a random frame and resumed again. What comes out has to be what the same
marks give at once, byte for byte.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import runpy
import shutil
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mobilevos.arrays import Ids
from mobilevos.benchmark.measure import random_frames, random_mask
from mobilevos.benchmark.tables import Report, Say, resident_bytes
from mobilevos.media.masks import write_mask
from mobilevos.media.video import Frame
from mobilevos.pipeline import FrameMarks, segment
from mobilevos.pipeline.output import FINISHED
from mobilevos.pipeline.staging import NEW
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker

CODECS = (
    ("pictures", "", ""),
    ("h264", ".mp4", "yuv420p"),
    ("h264", ".mkv", "yuv444p"),
    ("mpeg4", ".avi", "yuv420p"),
    ("mjpeg", ".mov", "yuvj420p"),
    ("libvpx-vp9", ".webm", "yuv420p"),
    ("prores_ks", ".mov", "yuv422p10le"),
    ("ffv1", ".mkv", "yuv444p"),
)
"""What short videos are: codec, ending, pixels"""
RATES = (Fraction(24), Fraction(30000, 1001), Fraction(25), Fraction(60))
POLL = 0.005
"""Seconds between two looks at a run that is to be killed."""
POINTS = 20
"""How often the memory of the long video is read."""


# a new process need not import everything anew, which is most of a short job
_PROCESSES = (
    multiprocessing.get_context("spawn") if sys.platform == "win32" else multiprocessing.get_context("forkserver")
)
_PROCESSES.set_forkserver_preload(
    ["mobilevos.cli.segment", "mobilevos.pipeline.run", "mobilevos.runtime.onnx_runtime", "typer._adapters"]
)


@dataclass(frozen=True)
class Job:
    """A short video, its marks, and what is done to the command."""

    number: int
    source: Path
    frames: int
    marks: tuple[str, ...]
    correction: tuple[str, ...]
    kill_after: int | None
    """The command is killed when it has recorded so many frames: at a place that no machine's speed changes much."""

    def describe(self) -> str:
        return f"job {self.number}: {self.source.name} {' '.join((*self.marks, *self.correction))}"


def benchmark_soak(jobs: int, seed: int = 0, runtime: str = "onnx", progress: Say = lambda line: None) -> Report:
    """Run random short jobs; the row says how many of them kept everything. What went wrong is told, with its job."""
    totals = {"jobs": 0, "frames": 0, "killed": 0, "different": 0, "tracebacks": 0, "failed": 0, "left over": 0}
    for number in range(jobs):
        with TemporaryDirectory() as scratch:
            job = make_job(number, Path(scratch), random.Random(f"{seed}-{number}"))
            found = run_job(job, Path(scratch), runtime, progress)
        for name, count in found.items():
            totals[name] += count
        totals["jobs"] += 1
        totals["frames"] += job.frames
        wrong = [name for name in ("different", "tracebacks", "failed", "left over") if found[name]]
        if wrong:
            progress(f"{job.describe()}: {', '.join(wrong)}")
        elif (number + 1) % 10 == 0:
            progress(f"{number + 1} of {jobs} jobs, {totals['killed']} of them killed")
    return Report("soak", [{"seed": seed, **totals}], "making the videos, following, kills, corrections, comparing")


def make_job(number: int, folder: Path, rng: random.Random) -> Job:
    """A random job; the same for the same generator."""
    frames, height, width = rng.randint(6, 24), rng.randint(48, 120), rng.randint(64, 160)
    pictures, ids = synthetic_clip(frames=frames, height=height, width=width, objects=2, seed=rng.randrange(1000))
    codec, ending, pixels = rng.choice(CODECS)
    source = folder / f"source{ending}"
    if not ending:
        _write_pictures(source, pictures)
    else:
        height, width = height - height % 2, width - width % 2  # pairs of pixels share a colour
        pictures, ids = pictures[:, :height, :width], ids[:, :height, :width]
        _write_video(source, pictures, rng.choice(RATES), codec, pixels)
    at = rng.randrange(1, frames)
    write_mask(folder / "first.png", ids[0])
    write_mask(folder / "later.png", np.roll(ids[at], rng.randint(-3, 3), axis=1))
    marks = rng.choice([("--mask", str(folder / "first.png"))] * 2 + _rough(ids[0], 0, rng))
    corrections: list[tuple[str, ...]] = [("--gone", f"{at}=1"), ()]
    if "--mask" in marks:  # which has both objects
        corrections.append(("--mask", f"{at}={folder / 'later.png'}"))
    correction = rng.choice(corrections + _rough(ids[at], at, rng))
    kill_after = rng.choice([rng.randrange(frames), rng.randrange(frames), None])
    return Job(number, source, frames, marks, correction, kill_after)


def run_job(job: Job, folder: Path, runtime: str, progress: Say = lambda line: None) -> dict[str, int]:
    """How often what went wrong; what a command that failed has said is told."""
    counts = dict.fromkeys(("killed", "different", "tracebacks", "failed", "left over"), 0)

    def run(name: str, marks: tuple[str, ...], *options: str, kill_after: int | None = None) -> None:
        command = ["segment", str(job.source), *marks, "-o", str(folder / name)]
        command += ["--size", "64", "--runtime", runtime, "--format", "masks,matte", *options]
        errors = folder / "errors.txt"
        process = _PROCESSES.Process(target=_act, args=(command, errors))
        process.start()
        while kill_after is not None and process.is_alive():
            if recorded(folder / name) >= kill_after:
                process.kill()
                process.join()
                counts["killed"] += 1
                return
            time.sleep(POLL)
        process.join()
        said = errors.read_text(encoding="utf-8", errors="replace")
        counts["tracebacks"] += "Traceback" in said
        if process.exitcode != 0:
            counts["failed"] += 1
            progress(f"job {job.number} ended with {process.exitcode}: {said.strip()[-500:]}")

    run("steps", job.marks, "--resume", kill_after=job.kill_after)
    run("steps", job.marks, "--resume")
    if job.correction:
        run("steps", job.marks + job.correction, "--resume", kill_after=job.kill_after)
        run("steps", job.marks + job.correction, "--resume")
    run("whole", job.marks + job.correction)
    steps, whole = contents(folder / "steps"), contents(folder / "whole")
    counts["different"] = int(steps != whole or sum(name.endswith(".png") for name in whole) != job.frames)
    counts["left over"] = int(any((folder / "steps").rglob("*.part")) or (folder / "steps" / ".new").exists())
    return counts


def _act(command: list[str], errors: Path) -> None:
    """The command itself, in a process of its own; what it says goes into a file."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with errors.open("w") as file, open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["mobilevos", *command]
    runpy.run_module("mobilevos", run_name="__main__")  # as python -m mobilevos does


def recorded(folder: Path) -> int:
    """Frames that a run has recorded so far; -1 while it has not begun."""
    work = folder / NEW if (folder / NEW).exists() or (folder / FINISHED).exists() else folder
    return sum(1 for _ in (work / "masks").glob("*.png")) if (work / "masks").exists() else -1


def contents(folder: Path) -> dict[str, bytes]:
    """All results in a folder, but for what is there to go on from."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in files.items() if not name.parts[0].startswith(".")}


def benchmark_long(
    model: str,
    *,
    frames: int = 2000,
    runtime: str = "auto",
    height: int = 480,
    width: int = 854,
    progress: Say = lambda line: None,
) -> Report:
    """Resident memory while a long video is followed and written: reading, masks, overlay and states included."""
    rows: list[dict[str, float | None]] = []

    def look(frame: Frame, ids: Ids, confidence: object) -> None:
        if frame.index % max(1, frames // POINTS) == 0:
            resident = resident_bytes()
            rows.append({"frame": frame.index, "resident_mb": None if resident is None else round(resident / 1e6, 1)})
            progress(f"frame {frame.index}: {rows[-1]['resident_mb'] or 'unknown'} MB")

    given = random_frames(frames, height, width)
    with TemporaryDirectory() as folder, Tracker.load(model, runtime) as tracker:
        marks = {0: FrameMarks(random_mask(height, width, 1))}
        segment(tracker, given, marks, Path(folder) / "out", formats=["masks", "overlay"], sink=look)
    return Report("long", rows, "all that `mobilevos segment` does, for frames that are made as they are asked for")


def growth(rows: list[dict[str, float | None]]) -> float | None:
    """Megabytes by which the last quarter of a run has more than the second, on average; None where nobody knows."""
    values = [row["resident_mb"] for row in rows]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or len(known) < 4:
        return None
    quarter = len(known) // 4
    return float(np.mean(known[-quarter:]) - np.mean(known[quarter : 2 * quarter]))


def _write_pictures(folder: Path, pictures: np.ndarray) -> None:
    from PIL import Image as Pictures

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for index, picture in enumerate(pictures):
        Pictures.fromarray(picture).save(folder / f"{index:03d}.png")


def _rough(ids: Ids, at: int, rng: random.Random) -> list[tuple[str, ...]]:
    """A box around the first object of a frame, clicks on it, and one beside it; none where it is not there."""
    ys, xs = np.nonzero(ids == 1)
    if not len(xs):
        return []
    box = f"{xs.min()},{ys.min()},{xs.max() + 1 - xs.min()},{ys.max() + 1 - ys.min()}"
    on, other = ((xs[i], ys[i]) for i in (rng.randrange(len(xs)), rng.randrange(len(xs))))
    beside_y, beside_x = np.nonzero(ids == 0)
    i = rng.randrange(len(beside_x))
    click = f"{at}=1:{on[0]},{on[1]}"
    more = ("--click", f"{at}=1:{other[0]},{other[1]}", "--not", f"{at}=1:{beside_x[i]},{beside_y[i]}")
    return [("--box", f"{at}=1:{box}"), ("--click", click), ("--click", click, *more)]


def _write_video(path: Path, pictures: np.ndarray, rate: Fraction, codec: str, pixels: str) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = pictures.shape[1:3]
        stream.pix_fmt = pixels
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
