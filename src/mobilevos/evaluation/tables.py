"""An evaluation as tables on the terminal, as CSV and as JSON."""

import csv
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from mobilevos.evaluation.metrics import Statistics
from mobilevos.evaluation.scores import Evaluation, SequenceScores, Speed, mean_statistics
from mobilevos.files import replacing

COLUMNS = ("J&F-Mean", "J-Mean", "J-Recall", "J-Decay", "F-Mean", "F-Recall", "F-Decay")


def show(evaluation: Evaluation, console: Console) -> None:
    """Print the table of sequences, the global figures, the speed and the notes."""
    table = _table(f"{evaluation.protocol}, by sequence", "ids", *COLUMNS)
    for sequence in evaluation.sequences:
        figures = [f"{value:.3f}" for value in _figures(*_means(sequence))]
        table.add_row(sequence.name, str(len(sequence.objects)), *figures)
    console.print(table)
    table = _table(f"{evaluation.protocol}, over all objects", *evaluation.figures)
    count = len(evaluation.sequences)
    table.add_row(f"{count} sequences", *(f"{value:.3f}" for value in evaluation.figures.values()))
    console.print(table)
    if evaluation.speed:
        console.print(describe_speed(evaluation.speed), soft_wrap=True)
    for note in evaluation.notes:
        console.print(f"note: {note}", soft_wrap=True, markup=False)


def describe_speed(speed: Speed) -> str:
    """The speed in words, with what it includes."""
    return (
        f"{speed.tracking_fps:.1f} frames per second tracking, {speed.everything_fps:.1f} with everything, over "
        f"{speed.frames} frames with {speed.objects:.1f} objects on average ({speed.INCLUDES})"
    )


def write_csv(path: Path, evaluation: Evaluation) -> None:
    """Write a row for each object, one for each sequence (object "all"), and one for all (sequence "all").

    The last has the means over objects of everything, whichever figure the dataset itself calls its global one.
    """
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("sequence", "object", "frames", *COLUMNS))
        for sequence in evaluation.sequences:
            for index, j, f, values in zip(
                sequence.objects, sequence.j_statistics, sequence.f_statistics, sequence.j, strict=True
            ):
                writer.writerow((sequence.name, index, np.count_nonzero(~np.isnan(values)), *_figures(j, f)))
            writer.writerow((sequence.name, "all", len(sequence.frames), *_figures(*_means(sequence))))
        frames = sum(len(sequence.frames) for sequence in evaluation.sequences)
        writer.writerow(("all", "all", frames, *_figures(*_means(*evaluation.sequences))))


def write_json(path: Path, evaluation: Evaluation) -> None:
    """Write everything, down to J and F of each object in each frame."""
    with replacing(path) as part:
        part.write_text(json.dumps(as_dict(evaluation), indent=1) + "\n", encoding="utf-8")


def as_dict(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation in lists and dictionaries; null where an object is not scored in a frame."""
    speed = evaluation.speed
    return {
        "protocol": evaluation.protocol,
        "figures": dict(evaluation.figures),
        "sequences": {
            sequence.name: {"frames": list(sequence.frames), "objects": dict(_objects(sequence))}
            for sequence in evaluation.sequences
        },
        "notes": list(evaluation.notes),
        "speed": speed
        and {
            **asdict(speed),
            "tracking_fps": speed.tracking_fps,
            "everything_fps": speed.everything_fps,
            "includes": speed.INCLUDES,
        },
    }


def _table(title: str, *columns: str) -> Table:
    """A table whose first column holds names; narrow, so that all of DAVIS fits in 80 characters."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", overflow="ellipsis")
    for column in columns:
        table.add_column(column.replace("-", "\n"), justify="right", no_wrap=True)
    return table


def _objects(sequence: SequenceScores) -> Iterator[tuple[str, dict[str, Any]]]:
    statistics = zip(sequence.j_statistics, sequence.f_statistics, strict=True)
    for row, (index, (j, f)) in enumerate(zip(sequence.objects, statistics, strict=True)):
        figures = dict(zip(COLUMNS, _figures(j, f), strict=True))
        yield str(index), {**figures, "J": _numbers(sequence.j[row]), "F": _numbers(sequence.f[row])}


def _numbers(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _means(*sequences: SequenceScores) -> tuple[Statistics, Statistics]:
    """The means over the objects of these sequences."""
    j = [each for sequence in sequences for each in sequence.j_statistics]
    f = [each for sequence in sequences for each in sequence.f_statistics]
    return mean_statistics(j), mean_statistics(f)


def _figures(j: Statistics, f: Statistics) -> tuple[float, ...]:
    """The values of COLUMNS."""
    return ((j.mean + f.mean) / 2, j.mean, j.recall, j.decay, f.mean, f.recall, f.decay)
