"""mobilevos evaluate: J and F of a model or of a folder of predictions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mobilevos.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_QUEUE,
    Queue,
    Runtime,
    SizeOrNone,
    Window,
    identify,
    load_tracker,
)
from mobilevos.cli.progress import frame_progress
from mobilevos.errors import InputError
from mobilevos.threads import cores
from mobilevos.version import VERSION
from mobilevos.weights import WORKING_SIZE

if TYPE_CHECKING:
    from mobilevos.datasets.task import VideoTask
    from mobilevos.evaluation.scores import Evaluation, Speed
    from mobilevos.progress import Progress

app = typer.Typer(help="Score a model, or a folder of predictions, on DAVIS or YouTube-VOS.", no_args_is_help=True)

Root = Annotated[Path, typer.Option(help="The dataset's folder.", file_okay=False)]
Model = Annotated[str | None, typer.Option(help="A shipped model's name or a model file.")]
Predictions = Annotated[Path | None, typer.Option(help="A folder of predictions, <sequence>/<frame>.png.")]
Save = Annotated[Path | None, typer.Option(help="Keep the model's predictions in this folder, as palette PNGs.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on in the folder of --save: finished sequences are left.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write everything, down to each frame, to this file.")]
Csv = Annotated[Path | None, typer.Option("--csv", help="Write the figures of objects and sequences to this file.")]
Report = Annotated[Path | None, typer.Option(help="Write an HTML page with charts and the worst frames.")]
Submission = Annotated[Path | None, typer.Option(help="Zip the predictions for the dataset's server.")]
Processes = Annotated[int, typer.Option(help="Processes that score; 0 is one a core.", min=0)]


@app.command()
def davis(
    root: Root,
    split: Annotated[str, typer.Option(help="A split's name, or a text file of sequence names.")] = "val",
    year: Annotated[int, typer.Option(help="2017: several objects; 2016: everything is one object.")] = 2017,
    resolution: Annotated[str, typer.Option(help="The folder below JPEGImages and Annotations.")] = "480p",
    model: Model = None,
    predictions: Predictions = None,
    save: Save = None,
    resume: Resume = False,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: SizeOrNone = WORKING_SIZE,
    window: Window = "auto",
    json: Json = None,
    csv: Csv = None,
    report: Report = None,
    submission: Submission = None,
    processes: Processes = 0,
) -> None:
    """Score on DAVIS 2016 or 2017, semi-supervised."""
    from mobilevos.datasets.davis import read_davis
    from mobilevos.evaluation.davis import evaluate_davis

    request = _Request(model, predictions, save, resume, runtime, queue, size, window, json, csv, report, submission)
    tasks = read_davis(root, split, year, resolution)
    request.run(
        tasks,
        lambda folder, progress: evaluate_davis(tasks, folder, processes or cores(), progress),
        data=f"DAVIS {year} {resolution}",
        inside="",
    )


@app.command()
def youtube(
    root: Root,
    split: Annotated[Path | None, typer.Option(help="A text file of clip names; without it all of meta.json.")] = None,
    seen: Annotated[
        Path | None, typer.Option(help="Classes of the training set: its meta.json, or a text file.")
    ] = None,
    model: Model = None,
    predictions: Predictions = None,
    save: Save = None,
    resume: Resume = False,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: SizeOrNone = WORKING_SIZE,
    window: Window = "auto",
    json: Json = None,
    csv: Csv = None,
    report: Report = None,
    submission: Submission = None,
    processes: Processes = 0,
) -> None:
    """Score on YouTube-VOS, or write the submission where the ground truth is hidden."""
    from mobilevos.datasets.youtube import read_youtube
    from mobilevos.evaluation.youtube import evaluate_youtube

    request = _Request(model, predictions, save, resume, runtime, queue, size, window, json, csv, report, submission)
    dataset = read_youtube(root, split, seen)
    request.run(
        dataset.tasks,
        lambda folder, progress: evaluate_youtube(dataset, folder, processes or cores(), progress),
        data="YouTube-VOS",
        inside="Annotations",
    )


@app.command()
def tracks(
    root: Root,
    clips: Annotated[str, typer.Argument(help="Names with commas, or a list of them: a split's name or a text file.")],
    model: Annotated[str, typer.Option(help="A shipped model's name or a model file.")] = DEFAULT_MODEL,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: SizeOrNone = WORKING_SIZE,
    window: Window = "auto",
    starts: Annotated[int, typer.Option(help="First frames in each direction.", min=1)] = 3,
    backwards: Annotated[bool, typer.Option(help="Follow clips backwards too.")] = True,
    json: Json = None,
) -> None:
    """Follow clips of a DAVIS folder from several first frames, in both directions: a mean with a spread."""
    from rich.console import Console
    from rich.table import Table

    from mobilevos.datasets.davis import davis_split
    from mobilevos.evaluation.tracks import follow_clips, summarise, write_scores

    if json and not json.parent.is_dir():
        raise InputError(f"cannot write {json}: there is no folder {json.parent}")
    names = clips.split(",") if "," in clips or (root / "JPEGImages" / "480p" / clips).is_dir() else None
    names = davis_split(root, clips) if names is None else names
    tracker = load_tracker(model, runtime, queue, size or None, window)
    scores = follow_clips(
        tracker,
        root,
        names,
        starts=starts,
        backwards=backwards,
        report=lambda score: typer.echo(f"{score.track}: {score.j_and_f:.3f}", err=True),
    )
    summary = summarise(scores)
    table = Table("clip", "J&F", "tracks")
    for name, value in summary.clips.items():
        table.add_row(name, f"{value:.3f}", str(sum(score.track.clip == name for score in scores)))
    table.add_row("mean", f"{summary.mean:.3f} \u00b1 {summary.spread:.3f}", str(len(scores)), end_section=True)
    Console().print(table)
    if json:
        write_scores(json, scores)


@dataclass(frozen=True)
class _Request:
    """What is asked for, whichever the dataset."""

    model: str | None
    predictions: Path | None
    save: Path | None
    resume: bool
    runtime: str
    queue: str
    size: int
    window: str
    json: Path | None
    csv: Path | None
    report: Path | None
    submission: Path | None

    def __post_init__(self) -> None:
        if (self.model is None) == (self.predictions is None):
            raise InputError("expected one of --model and --predictions")
        if self.predictions and (self.save or self.resume):
            raise InputError("--save and --resume go with --model: these predictions are there already")
        if self.resume and not self.save:
            raise InputError("--resume needs the folder of --save")
        for path in (self.json, self.csv, self.report, self.submission):
            if path and not path.parent.is_dir():
                raise InputError(f"cannot write {path}: there is no folder {path.parent}")

    def run(
        self, tasks: list[VideoTask], score: Callable[[Path, Progress], Evaluation], data: str, inside: str
    ) -> None:
        """Predict if there is a model, score if there is a ground truth, and write what is asked for.

        data: the dataset and its options, in words; inside: the folder inside a submission.
        """
        hidden = not any(task.scored for task in tasks)
        if hidden and (self.json or self.csv or self.report or not (self.save or self.submission)):
            raise InputError(
                "the ground truth of this split is hidden, so nothing can be scored; "
                "--save and --submission write the predictions"
            )
        with self._folder(tasks, data) as (folder, speed):
            if self.submission:
                from mobilevos.evaluation.prediction import write_submission

                write_submission(tasks, folder, self.submission, inside)
            if not hidden:
                evaluation = score(folder, frame_progress)
                self._write(replace(evaluation, speed=speed), tasks, folder)

    @contextmanager
    def _folder(self, tasks: list[VideoTask], data: str) -> Iterator[tuple[Path, Speed | None]]:
        """The folder of predictions, filled by the model where there is one, and how fast that went."""
        if self.predictions:
            yield self.predictions, None
            return
        from mobilevos.evaluation.prediction import predict_videos

        model = str(self.model)
        tracker = load_tracker(model, self.runtime, self.queue, self.size or None, self.window)
        run = {
            "data": data,
            "model": identify(model),
            "runtime": self.runtime,
            "queue": self.queue,
            "size": str(self.size),
            "window": self.window,
            "version": VERSION,
        }
        with tempfile.TemporaryDirectory() as temporary:
            folder = self.save or Path(temporary)
            speed = predict_videos(tracker, tasks, folder, run, self.resume, frame_progress)
            yield folder, speed

    def _write(self, evaluation: Evaluation, tasks: list[VideoTask], folder: Path) -> None:
        from rich.console import Console

        from mobilevos.evaluation.report import write_report
        from mobilevos.evaluation.tables import show, write_csv, write_json

        show(evaluation, Console())
        if self.json:
            write_json(self.json, evaluation)
        if self.csv:
            write_csv(self.csv, evaluation)
        if self.report:
            write_report(self.report, evaluation, tasks, folder, title=str(self.model or folder.name))
