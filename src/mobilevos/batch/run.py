"""Running jobs: each in a process of its own, so that none can harm another; tried again where it crashed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mobilevos.batch.jobs import Job
from mobilevos.errors import InputError
from mobilevos.pipeline.summary import read_summary
from mobilevos.threads import cores

COMMAND = (sys.executable, "-m", "mobilevos", "segment")
BAD_INPUT = 2
POLL = 0.2
"""Seconds after which a thread that waits for its process looks whether the work is to stop."""


@dataclass(frozen=True)
class JobResult:
    """How a job went."""

    job: Job
    status: Literal["done", "skipped", "failed"]
    """Skipped: everything was there already."""
    attempts: int
    seconds: float
    message: str
    """What the job said last."""


Submit = Callable[[Job], "Future[JobResult]"]


def run_job(
    job: Job,
    retries: int = 1,
    threads: int | None = None,
    command: Sequence[str] = COMMAND,
    stop: threading.Event | None = None,
) -> JobResult:
    """Run a job to its end. Bad input is not tried again; anything else is, and goes on where it stopped.

    stop: once it is set, the job's process is ended, and it is not tried again.
    """
    began = time.monotonic()
    stop = stop or threading.Event()
    environment = dict(os.environ)
    if threads:
        environment |= {"OMP_NUM_THREADS": str(threads)}
    message, attempt = "", 0
    while attempt <= retries and not stop.is_set():
        attempt += 1
        with tempfile.TemporaryDirectory() as folder:
            summary = Path(folder) / "summary.json"
            code, errors = _run([*command, *job.arguments, "--summary", str(summary)], environment, stop)
            if code == 0:
                said = read_summary(summary)
                status: Literal["done", "skipped"] = "skipped" if said["complete"] else "done"
                return JobResult(job, status, attempt, time.monotonic() - began, _figures(said))
        message = _last_line(errors) or _end(code)
        if code == BAD_INPUT:
            break
    return JobResult(job, "failed", attempt, time.monotonic() - began, message)


def _run(command: Sequence[str], environment: Mapping[str, str], stop: threading.Event) -> tuple[int, str]:
    """Exit code of a process and what it said on stderr; it is ended where the work is to stop."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        while True:
            try:
                _, errors = process.communicate(timeout=POLL)
                return process.returncode, errors
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    process.terminate()


def run_batch(jobs: Sequence[Job], submit: Submit) -> Iterator[JobResult]:
    """The results of all jobs, as they come."""
    futures = [submit(job) for job in jobs]
    try:
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


@contextlib.contextmanager
def local_pool(workers: int, retries: int, command: Sequence[str] = COMMAND) -> Iterator[Submit]:
    """So many jobs at once on this machine; the cores are shared out among them. An error ends all that run."""
    if workers < 1:
        raise InputError(f"expected at least 1 job at once, got {workers}")
    threads = max(1, cores() // workers)
    stop = threading.Event()
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield lambda job: pool.submit(run_job, job, retries, threads, command, stop)
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("mobilevos: ") if lines else ""


def _figures(said: Mapping[str, Any]) -> str:
    """A run in one line."""
    doubts = f", {len(said['alarms'])} places to check" if said["alarms"] else ""
    return f"{said['frames']} frames, {said['frames_per_second']:.1f} a second{doubts}"


def _end(code: int) -> str:
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with code {code}"
