"""mobilevos benchmark"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mobilevos.benchmark import Report

app = typer.Typer(help="Measure speed and memory on this machine.", no_args_is_help=True)

Model = Annotated[str, typer.Option(help="A shipped model's name or a file.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the figures here.")]
Picture = Annotated[Path | None, typer.Option(help="Draw them here (.png, .svg).")]
Runtime = Annotated[str, typer.Option(help="What runs the network.")]
DEFAULT = "mobilenetv2-lite"


def _check(json: Path | None, picture: Path | None = None) -> None:
    """Say what cannot be written before anything is measured."""
    from mobilevos.cli.targets import check_file

    for path in (json, picture):
        if path:
            check_file(path)
    if picture:
        from mobilevos.benchmark.picture import check_picture

        check_picture(picture)


def _finish(report: Report, json: Path | None, picture: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        *(str(key) for key in report.rows[0]), title=f"{report.machine['processor']}, {report.machine['cores']} cores"
    )
    for row in report.rows:
        table.add_row(*("unknown" if value is None else str(value) for value in row.values()))
    Console().print(table)
    print(f"Included: {report.includes}.")
    if json:
        report.write(json)
    if picture:
        from mobilevos.benchmark.picture import draw

        draw(report, picture)


@app.command()
def speed(
    json: Json = None,
    picture: Picture = None,
    frames: Annotated[
        list[int] | None, typer.Option(min=1, help="Clip length; repeatable. 50 and 500 by default.")
    ] = None,
    teacher: Annotated[bool, typer.Option(help="Time the teacher too (slow).")] = True,
) -> None:
    """Every model on random 480 x 910 clips, with the teacher, in one run."""
    from mobilevos.benchmark import benchmark_speed

    _check(json, picture)
    report = benchmark_speed(lengths=frames or (50, 500), teacher_lengths=(50,) if teacher else (), progress=print)
    _finish(report, json, picture)


@app.command()
def runtimes(model: Model = DEFAULT, json: Json = None, picture: Picture = None) -> None:
    """Every installed runtime, with 1 and 2 threads and several objects."""
    from mobilevos.benchmark import benchmark_runtimes

    _check(json, picture)
    _finish(benchmark_runtimes(model, progress=print), json, picture)


@app.command()
def window(model: Model = DEFAULT, runtime: Runtime = "auto", json: Json = None) -> None:
    """480p, 1080p and 4K with the window and without it, in turns in one run."""
    from mobilevos.benchmark.window import benchmark_window

    _check(json, None)
    _finish(benchmark_window(model, runtime=runtime, progress=print), json, None)


@app.command()
def memory(
    model: Model = DEFAULT,
    runtime: Runtime = "auto",
    frames: Annotated[int, typer.Option(min=1)] = 500,
    json: Json = None,
    picture: Picture = None,
) -> None:
    """Resident memory against the number of frames."""
    from mobilevos.benchmark import benchmark_memory

    _check(json, picture)
    _finish(benchmark_memory(model, frames=frames, runtime=runtime, progress=print), json, picture)


@app.command()
def long(
    model: Model = DEFAULT,
    runtime: Runtime = "auto",
    frames: Annotated[int, typer.Option(min=4)] = 2000,
    json: Json = None,
) -> None:
    """Resident memory while a long video is followed and written."""
    from mobilevos.benchmark.soak import benchmark_long, growth

    _check(json)
    report = benchmark_long(model, frames=frames, runtime=runtime, progress=print)
    _finish(report, json, None)
    more = growth(report.rows)
    if more is not None:
        print(f"The last quarter has {more:+.1f} MB more than the second.")


@app.command()
def soak(
    jobs: Annotated[int, typer.Option(min=1, help="Short videos; 1000 take about two hours on two cores.")] = 20,
    seed: Annotated[int, typer.Option(help="Another number is other jobs.")] = 0,
    runtime: Runtime = "onnx",
    json: Json = None,
) -> None:
    """Random short videos, killed, resumed and corrected: nothing may be lost. Ends with code 1 where something is."""
    from mobilevos.benchmark.soak import benchmark_soak

    _check(json)
    report = benchmark_soak(jobs, seed, runtime, progress=print)
    _finish(report, json, None)
    if any(report.rows[0][name] for name in ("different", "tracebacks", "failed", "left over")):
        raise typer.Exit(1)


@app.command()
def removal(
    davis: Annotated[Path | None, typer.Option(help="A DAVIS folder with real clips.")] = None,
    clip: Annotated[
        list[str] | None,
        typer.Option(help="background:object: clips of it, one to be put before the other."),
    ] = None,
    frames: Annotated[int, typer.Option(min=2, help="Of each clip, at most.")] = 40,
    json: Json = None,
) -> None:
    """Objects taken out of clips whose background is known, against inpainting frame by frame and leaving them in."""
    from mobilevos.benchmark.removal import benchmark_removal, painted_cases, pasted_cases
    from mobilevos.errors import InputError

    if (davis is None) != (clip is None):
        raise InputError("expected --davis and --clip together")
    _check(json)
    cases = painted_cases(frames=frames) if davis is None or clip is None else pasted_cases(davis, clip, frames=frames)
    _finish(benchmark_removal(cases, progress=print), json, None)


@app.command()
def queue(
    model: Model = DEFAULT,
    runtime: Runtime = "auto",
    longest: Annotated[int, typer.Option(min=1)] = 20,
    davis: Annotated[Path | None, typer.Option(help="A DAVIS folder, to say how good each length is.")] = None,
    clip: Annotated[list[str] | None, typer.Option(help="A clip of it; repeatable.")] = None,
    json: Json = None,
    picture: Picture = None,
) -> None:
    """Latency against the length of the memory, and J&F where clips are given."""
    from mobilevos.benchmark import benchmark_queue
    from mobilevos.errors import InputError
    from mobilevos.tracking import Tracker

    if (davis is None) != (clip is None):
        raise InputError("expected --davis and --clip together")
    _check(json, picture)
    score: Callable[[Tracker], float] | None = None
    if davis is not None and clip is not None:
        from mobilevos.training.validation import check_clips, follow, mean_score

        check_clips(davis, clip)

        def j_and_f(tracker: Tracker) -> float:
            return round(mean_score(follow(tracker, davis, clip)), 4)

        score = j_and_f

    def keep(so_far: Report) -> None:
        if json:
            so_far.write(json)

    report = benchmark_queue(
        model,
        queues=range(1, longest + 1),
        runtime=runtime,
        score=score,
        progress=print,
        keep=keep,
    )
    _finish(report, json, picture)


@app.command()
def parts(model: Model = DEFAULT, json: Json = None) -> None:
    """Multiply-adds, time and share of the machine's peak of each part of a step, on onnxruntime."""
    from mobilevos.benchmark.parts import benchmark_parts
    from mobilevos.errors import InputError
    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.model.student import Student
    from mobilevos.weights import find_checkpoint

    _check(json)
    network = load_checkpoint(find_checkpoint(model))
    if not isinstance(network, Student):
        raise InputError(f"expected a student, got a {network.variant!r}")
    _finish(benchmark_parts(network, progress=print), json, None)


@app.command()
def training(
    recipe: Annotated[Path, typer.Argument(help="YAML file of a training stage.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value")] = None,
    json: Json = None,
) -> None:
    """Iterations a second with and without the loader."""
    from mobilevos.benchmark.training import benchmark_training
    from mobilevos.training.recipe import load_recipe

    _check(json)
    report = benchmark_training(load_recipe(recipe, overrides or ()))
    if os.environ.get("RANK", "0") == "0":
        _finish(report, json, None)
