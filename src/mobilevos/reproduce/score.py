"""The figures of trained weights: J and F as the paper measures them, whole frames at 480p."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mobilevos.datasets.task import VideoTask
from mobilevos.evaluation.prediction import predict_videos, write_submission
from mobilevos.evaluation.scores import Evaluation
from mobilevos.files import replacing
from mobilevos.model.checkpoint import digest
from mobilevos.reproduce.paper import Row
from mobilevos.reproduce.plan import Job, Place
from mobilevos.threads import cores
from mobilevos.tracking import Tracker

Figures = dict[str, float]
SIZE = 480
RUNTIME = "torch"


def figures_of(job: Job, row: Row, place: Place) -> dict[str, float]:
    """All figures of a job's weights on the datasets that there are; J, F and their mean in percent."""
    weights, folder = job.weights(place), predictions(job, row, place)
    scored = digest(weights)

    def tracker() -> Tracker:
        return Tracker.load(weights, RUNTIME, queue=row.queue, size=SIZE, window="off")

    figures: dict[str, float] = {}
    for year in (2016, 2017) if place.davis else ():
        about = {"weights": scored, "data": f"{place.davis} {place.split} {year}"}
        tasks = davis_tasks(place, year)
        figures |= _kept(folder / f"davis{year}", about, partial(_davis_figures, tracker, tasks, year))
    if place.youtube:
        about = {"weights": scored, "data": str(place.youtube)}
        figures |= _kept(folder / "youtube", about, partial(_youtube_figures, tracker, place.youtube))
    return figures


def predictions(job: Job, row: Row, place: Place) -> Path:
    """The folder of a job's masks."""
    return place.folder / "masks" / f"{job.name}-queue-{row.queue or 'unbounded'}"


def davis_tasks(place: Place, year: int) -> list[VideoTask]:
    from mobilevos.datasets.davis import read_davis

    assert place.davis is not None
    return read_davis(place.davis, place.split, year)


def davis_evaluation(job: Job, row: Row, place: Place) -> Evaluation:
    """On DAVIS 2017, from masks that are there."""
    from mobilevos.evaluation.davis import evaluate_davis

    return evaluate_davis(davis_tasks(place, 2017), predictions(job, row, place) / "davis2017", cores())


def _kept(folder: Path, about: dict[str, str], score: Callable[[Path, dict[str, str]], Figures]) -> Figures:
    """What `score` says of masks in a folder; asked once, and again for other weights or data."""
    file = folder.with_suffix(".json")
    if file.is_file():
        stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if stored["of"] == about:
            known: Figures = stored["figures"]
            return known
        shutil.rmtree(folder, ignore_errors=True)
    figures = score(folder, about)
    with replacing(file) as part:
        part.write_text(json.dumps({"of": about, "figures": figures}, indent=2) + "\n", encoding="utf-8")
    return figures


def _davis_figures(
    tracker: Callable[[], Tracker], tasks: list[VideoTask], year: int, folder: Path, about: dict[str, str]
) -> Figures:
    from mobilevos.evaluation.davis import evaluate_davis

    speed = predict_videos(tracker(), tasks, folder, about, resume=True)
    found, name = evaluate_davis(tasks, folder, cores()).figures, f"DAVIS{year % 100}"
    figures = {f"{name} {letters}": 100 * found[f"{letters}-Mean"] for letters in ("J&F", "J", "F")}
    return figures | ({f"{name} FPS": speed.tracking_fps} if speed else {})


def _youtube_figures(tracker: Callable[[], Tracker], root: Path, folder: Path, about: dict[str, str]) -> Figures:
    """Where the ground truth is hidden there are none, but a zip for the server."""
    from mobilevos.datasets.youtube import read_youtube
    from mobilevos.evaluation.youtube import evaluate_youtube

    dataset = read_youtube(root)
    predict_videos(tracker(), dataset.tasks, folder, about, resume=True)
    if not any(task.scored for task in dataset.tasks):
        write_submission(dataset.tasks, folder, folder.with_suffix(".zip"), "Annotations")
        return {}
    evaluation = evaluate_youtube(dataset, folder, cores())
    found = {name: 100 * value for name, value in evaluation.figures.items()}
    parts = {f"YouTube {name[0]} {name[2:].lower()}": value for name, value in found.items() if name != "G"}
    means = {
        f"YouTube {letter}": sum(values) / len(values)
        for letter in "JF"
        if (values := [value for name, value in parts.items() if name.startswith(f"YouTube {letter}")])
    }
    return {"YouTube J&F": found["G"], **means, **parts}
