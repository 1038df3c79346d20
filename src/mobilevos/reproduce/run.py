"""One table or figure, from the recipes to the files that show it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.overlay import draw_overlay
from mobilevos.reproduce.paper import Experiment, Run, find_experiment
from mobilevos.reproduce.plan import Job, Place, job_of, jobs_of, recipe_of, rows_of
from mobilevos.reproduce.score import davis_evaluation, davis_tasks, figures_of, predictions
from mobilevos.reproduce.train import Say, train_missing
from mobilevos.reproduce.write import Found, draw, read_curve, write_csv, write_markdown
from mobilevos.version import VERSION

SHORT_CLIP, LONG_CLIP = 50, 500
PICTURES = 4
"""Moments of a clip that a figure shows"""


def plan(name: str, place: Place, measure: bool = True) -> list[str]:
    """What `reproduce` would do, a line each; measure: how long it takes here."""
    name, experiment = find_experiment(name)
    lines, hours = list[str](), 0.0
    known: dict[tuple[str, bool], float] = {}
    for job in jobs_of(experiment, place):
        if job.is_done(place):
            lines.append(f"{job.name}: done")
            continue
        if not isinstance(job.what, Run):
            lines.append(f"{job.name}: a soup of {', '.join(job.what.of)}")
            continue
        recipe = recipe_of(job, place)
        line = f"{job.name}: {recipe.iterations} iterations of {job.what.recipe}"
        if measure:
            from mobilevos.reproduce.estimate import hours_of

            kind = (job.what.recipe, job.what.taught)
            if kind not in known:
                known[kind] = hours_of(recipe)
            hours += known[kind]
            line += f", {known[kind]:.1f} hours"
        lines.append(line)
    lines.append(f"then {name}: {len(rows_of(experiment, place))} rows, {place.seeds} seeds")
    if measure and hours:
        lines.append(f"about {hours:.1f} hours of training in one process on this machine, without a GPU")
    return lines


def reproduce(name: str, place: Place, *, side_by_side: int = 1, gpus: int = 0, say: Say = print) -> Path:
    """Train what is missing, score it, and write the table as Markdown, CSV and a plot.

    Returns:
        The Markdown file; the others are beside it.
    """
    name, experiment = find_experiment(name)
    if not experiment.speed and not (place.davis or place.youtube):
        raise InputError("expected a dataset to score on, DAVIS or YouTube-VOS, got none")
    if (experiment.worst or experiment.pictures or experiment.curves) and not place.davis:
        raise InputError(f"expected a DAVIS folder for {name}, got none")
    place.folder.mkdir(parents=True, exist_ok=True)
    if experiment.speed:
        found, notes = _speed(experiment, say), ["frames a second of this machine, on the fastest runtime"]
    else:
        train_missing(jobs_of(experiment, place), place, side_by_side=side_by_side, gpus=gpus, say=say)
        found, notes = _score(experiment, place, say), _notes(experiment, place)
    curves = {}
    if experiment.curves:
        curves = {
            each.row.label: [read_curve(place.runs / job.name) for job in _jobs(each.row.run, place)] for each in found
        }
    target = place.folder / f"{name}.md"
    write_markdown(target, experiment, found, notes)
    write_csv(target.with_suffix(".csv"), experiment, found)
    draw(target.with_suffix(".png"), experiment, found, curves)
    if experiment.worst:
        _report(experiment, place, target.with_suffix(".html"))
    if experiment.pictures:
        _sheet(experiment, place, target.with_name(f"{name}-masks.png"))
    return target


def _jobs(run: str, place: Place) -> list[Job]:
    return [job_of(run, seed) for seed in range(place.seeds)]


def _score(experiment: Experiment, place: Place, say: Say) -> list[Found]:
    found = []
    for row in rows_of(experiment, place):
        say(f"{row.label}: scoring")
        figures = [figures_of(job, row, place) for job in _jobs(row.run, place)]
        names = dict.fromkeys(name for each in figures for name in each)
        found.append(Found(row, {name: [each[name] for each in figures if name in each] for name in names}))
    return found


def _speed(experiment: Experiment, say: Say) -> list[Found]:
    from mobilevos.benchmark.tables import benchmark_speed

    models = [row.run for row in experiment.rows if row.run != "stcn"]
    lengths = (SHORT_CLIP, LONG_CLIP)
    rows = benchmark_speed(
        models, lengths=lengths, teacher_lengths=lengths[:1], runtimes=("fastest",), progress=say
    ).rows
    found = []
    for row in experiment.rows:
        own = [each for each in rows if each["model"] == row.run]
        values = {"parameters (M)": [float(own[0]["parameters_m"])]} if own else {}
        for each in own:
            values["FPS short" if each["frames"] == SHORT_CLIP else "FPS long"] = [float(each["fps"])]
        found.append(Found(row, values))
    return found


def _notes(experiment: Experiment, place: Place) -> list[str]:
    notes = [
        f"scale {place.scale}, seeds {place.seeds}, mobilevos {VERSION}; "
        "± is the standard deviation over seeds; whole frames at 480p",
    ]
    if place.scale == "cpu":
        notes.append("the cpu scale is some thousand times shorter than the paper's: rows compare with each other only")
    if place.teacher:
        notes.append(f"the teacher is {place.teacher}")
    left = len(experiment.rows) - len(rows_of(experiment, place))
    if left:
        notes.append(f"{left} row with BL30K is left out")
    if place.overrides:
        notes.append(f"changed in every recipe: {', '.join(place.overrides)}")
    return notes


def _report(experiment: Experiment, place: Place, path: Path) -> None:
    """Where the errors of the first row are."""
    from mobilevos.evaluation.report import write_report

    row = experiment.rows[0]
    job = job_of(row.run, 0)
    masks = predictions(job, row, place) / "davis2017"
    write_report(path, davis_evaluation(job, row, place), davis_tasks(place, 2017), masks, title=row.label)


def _sheet(experiment: Experiment, place: Place, path: Path) -> None:
    """Rows one below the other, on the clip on which the last is farthest ahead of the first."""
    rows, jobs = experiment.rows, [job_of(row.run, 0) for row in experiment.rows]
    scores = [davis_evaluation(job, row, place).sequences for job, row in zip(jobs, rows, strict=True)]
    ahead = [last.j_and_f - first.j_and_f for first, last in zip(scores[0], scores[-1], strict=True)]
    task = davis_tasks(place, 2017)[int(np.argmax(ahead))]
    frames = list(task.pictures)
    moments = [frames[i] for i in np.linspace(0, len(frames) - 1, PICTURES).round().astype(int)]
    folders = [predictions(job, row, place) / "davis2017" for job, row in zip(jobs, rows, strict=True)]
    _write_sheet(
        path, [[draw_overlay(task.picture(f), task.prediction(folder, f)) for f in moments] for folder in folders]
    )


def _write_sheet(path: Path, rows: Sequence[Sequence[np.ndarray]]) -> None:
    sheet = np.concatenate([np.concatenate(list(row), 1) for row in rows])
    with replacing(path) as part:
        part.write_bytes(cv2.imencode(".png", sheet[..., ::-1])[1].tobytes())
