"""Training curves as a picture.

python -m tools.curves docs/pictures/training/lite.png runs/lite-a runs/lite-b
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.files import replacing

COLOURS = ("#439a86", "#d08770", "#5e81ac", "#b48ead", "#ebcb8b", "#4c566a")
SMOOTH = 15
"""Logged values a point of the drawn loss is the mean of."""


@dataclass(frozen=True)
class Curve:
    """What a run logged."""

    name: str
    minutes: list[float]
    loss: list[float]
    iou: list[float]
    validated: list[float]
    """Minutes of each validation"""
    j_and_f: list[float]


def read_curve(run: Path) -> Curve:
    """The curve of a run's folder."""
    path = run / "curve.csv"
    if not path.is_file():
        raise InputError(f"expected a training run with a curve.csv, got {str(run)!r}")
    curve = Curve(run.name, [], [], [], [], [])
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            if row["minutes"]:
                curve.minutes.append(float(row["minutes"]))
                curve.loss.append(float(row["loss"]))
                curve.iou.append(float(row["iou"]))
            if row.get("validation"):
                curve.validated.append(curve.minutes[-1])
                curve.j_and_f.append(float(row["validation"]))
    return curve


def smoothed(values: Sequence[float], width: int = SMOOTH) -> list[float]:
    """Each value as the mean of itself and up to `width - 1` before it."""
    return [
        sum(values[max(0, end - width) : end]) / len(values[max(0, end - width) : end])
        for end in range(1, len(values) + 1)
    ]


def draw_curves(curves: Sequence[Curve], path: Path) -> None:
    """Training IoU and J&F of the validation clips against time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for curve, colour in zip(curves, itertools.cycle(COLOURS), strict=False):
        left.plot(curve.minutes, smoothed(curve.iou), color=colour, label=curve.name, linewidth=1.2)
        right.plot(curve.validated, curve.j_and_f, "o-", color=colour, label=curve.name, linewidth=1.2, markersize=4)
    left.set(xlabel="minutes", ylabel=f"IoU in training (mean of {SMOOTH})")
    right.set(xlabel="minutes", ylabel="J&F, validation clips")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=110)
    pyplot.close(figure)


if __name__ == "__main__":
    import typer

    def main(picture: Path, runs: list[Path]) -> None:
        """Draw the curves of runs into one picture."""
        draw_curves([read_curve(run) for run in runs], picture)

    typer.run(main)
