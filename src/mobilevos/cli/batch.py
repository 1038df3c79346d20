"""mobilevos batch"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mobilevos.batch import JobResult


def batch(
    jobs: Annotated[Path, typer.Argument(help="A CSV file: source, output, and options of `mobilevos segment`.")],
    workers: Annotated[int, typer.Option("--workers", "-j", min=0, help="Videos at once; 0 is one a core.")] = 0,
    retries: Annotated[int, typer.Option(min=0, help="How often a job that crashed is tried again.")] = 1,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Ray cluster, or on one of its own: local.")
    ] = None,
) -> None:
    """Follow objects through many videos; run it again to go on with what is not finished."""
    import signal

    from mobilevos.batch import read_jobs, run_batch
    from mobilevos.batch.run import local_pool
    from mobilevos.threads import cores

    table = read_jobs(jobs)
    results: list[JobResult] = []
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no process is left behind
    try:
        if ray is not None:
            from mobilevos.batch.ray_pool import ray_pool

            pool = ray_pool(ray, retries)
        else:
            pool = local_pool(workers or min(cores(), len(table)), retries)
        with pool as submit:
            for result in run_batch(table, submit):
                results.append(result)
                said = f"{len(results)} of {len(table)}: {result.job.source}: {result.status}"
                print(said, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on with what is not finished.", err=True)
        raise typer.Exit(1) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    _show(results)
    if any(result.status == "failed" for result in results):
        raise typer.Exit(1)


def _show(results: list[JobResult]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("job", "source", "status", "tries", "seconds", "what it said")
    for result in sorted(results, key=lambda r: r.job.number):
        name = Path(result.job.source).name
        seconds = f"{result.seconds:.1f}"
        table.add_row(str(result.job.number), name, result.status, str(result.attempts), seconds, result.message)
    Console().print(table)
