"""Running jobs: each in a process of its own, so that none can harm another; tried again where it crashed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Literal

from mobilevos.batch.jobs import Job
from mobilevos.errors import InputError
from mobilevos.media.output import is_finished

COMMAND = (sys.executable, "-m", "mobilevos", "segment")
BAD_INPUT = 2


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


def run_job(job: Job, retries: int = 1, threads: int | None = None, command: Sequence[str] = COMMAND) -> JobResult:
    """Run a job to its end. Bad input is not tried again; anything else is, and goes on where it stopped."""
    began = time.monotonic()
    if is_finished(job.output, job.formats):
        return JobResult(job, "skipped", 0, 0.0, "complete already")
    environment = dict(os.environ)
    if threads:
        environment |= {"OMP_NUM_THREADS": str(threads)}
    message, attempt = "", 0
    for attempt in range(1, retries + 2):
        done = subprocess.run(
            [*command, *job.arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode == 0:
            return JobResult(job, "done", attempt, time.monotonic() - began, _summary(done.stdout))
        message = _last_line(done.stderr) or _end(done.returncode)
        if done.returncode == BAD_INPUT:
            break
    return JobResult(job, "failed", attempt, time.monotonic() - began, message)


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


def local_pool(workers: int, retries: int, command: Sequence[str] = COMMAND) -> tuple[ThreadPoolExecutor, Submit]:
    """So many jobs at once on this machine; the cores are shared out among them."""
    if workers < 1:
        raise InputError(f"expected at least 1 job at once, got {workers}")
    threads = max(1, cores() // workers)
    pool = ThreadPoolExecutor(workers)
    return pool, lambda job: pool.submit(run_job, job, retries, threads, command)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("mobilevos: ") if lines else ""


def _summary(text: str) -> str:
    """The line with the figures."""
    return next((line for line in text.splitlines() if " frames a second" in line), _last_line(text))


def _end(code: int) -> str:
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with code {code}"
