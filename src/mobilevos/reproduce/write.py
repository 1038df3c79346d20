"""A reproduced table as files: Markdown, CSV and a plot, each with the paper's numbers beside ours."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mobilevos.files import replacing
from mobilevos.reproduce.paper import Experiment, Row

PAPER, OURS = "#b0b8bf", "#439a86"


@dataclass(frozen=True)
class Found:
    """A row with our figures: one value a seed, by column."""

    row: Row
    values: Mapping[str, Sequence[float]]

    def mean(self, column: str) -> float | None:
        values = self.values.get(column, ())
        return statistics.fmean(values) if values else None

    def spread(self, column: str) -> float | None:
        """Standard deviation over seeds; None for one seed."""
        values = self.values.get(column, ())
        return statistics.stdev(values) if len(values) > 1 else None

    def told(self, column: str) -> str:
        mean, spread = self.mean(column), self.spread(column)
        if mean is None:
            return "–"
        return f"{mean:.1f}" if spread is None else f"{mean:.1f} ± {spread:.1f}"


def columns_of(experiment: Experiment, found: Sequence[Found]) -> list[str]:
    """The paper's columns, and the mean J&F of other datasets that we have scored on."""
    others = [name for each in found for name in each.values if name.endswith("J&F")]
    return list(dict.fromkeys([*experiment.columns, *others]))


def write_markdown(path: Path, experiment: Experiment, found: Sequence[Found], notes: Sequence[str]) -> None:
    """Two columns for each figure: the paper's and ours."""
    columns = columns_of(experiment, found)
    head = ["", *(f"{name}, {whose}" for name in columns for whose in ("paper", "ours"))]
    lines = [f"# {experiment.title}", "", _line(head), _line(["---"] * len(head))]
    for each in found:
        cells = [each.row.label]
        for name in columns:
            paper = each.row.paper.get(name)
            cells += ["–" if paper is None else f"{paper:g}", each.told(name)]
        lines.append(_line(cells))
    lines += ["", *(f"- {note}" for note in notes)]
    with replacing(path) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_csv(path: Path, experiment: Experiment, found: Sequence[Found]) -> None:
    """One line for each row and column: what the paper says, our mean and spread, and each seed."""
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["row", "column", "paper", "mean", "spread", "seeds"])
        for each in found:
            for name in columns_of(experiment, found):
                seeds = " ".join(f"{value:.3f}" for value in each.values.get(name, ()))
                numbers = (each.row.paper.get(name), each.mean(name), each.spread(name))
                table.writerow([each.row.label, name, *("" if x is None else f"{x:.3f}" for x in numbers), seeds])


def draw(path: Path, experiment: Experiment, found: Sequence[Found], curves: Mapping[str, Sequence[Curve]]) -> None:
    """Bars for each column that both or one of us has, ours with the spread; for some figures also curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = [name for name in columns_of(experiment, found) if any(_has(each, name) for each in found)]
    panels = len(columns) + bool(curves)
    figure, axes = pyplot.subplots(
        1, max(1, panels), figsize=(1.5 + 3 * max(1, panels), 3.5), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], columns, strict=False):
        _bars(axis, name, found)
    if curves:
        for number, (label, lines) in enumerate(curves.items()):
            for line in lines:
                axes[0][-1].plot(line.iterations, line.scores, color=f"C{number}", label=label)
                label = "_"  # one entry of the legend for all seeds
        axes[0][-1].set(xlabel="iteration", ylabel="J&F of validation clips")
        axes[0][-1].legend(fontsize=7)
    figure.suptitle(experiment.title, fontsize=10)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)
    pyplot.close(figure)


@dataclass(frozen=True)
class Curve:
    """How well a run did while it was trained."""

    iterations: tuple[int, ...]
    scores: tuple[float, ...]


def read_curve(run: Path) -> Curve:
    """From a run's folder; empty where nothing was validated."""
    try:
        with (run / "curve.csv").open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("validation")]
    except OSError:
        rows = []
    return Curve(tuple(int(row["iteration"]) for row in rows), tuple(float(row["validation"]) for row in rows))


def _has(each: Found, name: str) -> bool:
    return name in each.row.paper or name in each.values


def _bars(axis: Any, name: str, found: Sequence[Found]) -> None:
    for place, each in enumerate(found):
        paper, ours = each.row.paper.get(name), each.mean(name)
        if paper is not None:
            axis.bar(place - 0.2, paper, 0.4, color=PAPER, label="paper" if place == 0 else "_")
        if ours is not None:
            axis.bar(place + 0.2, ours, 0.4, yerr=each.spread(name), color=OURS, label="ours" if place == 0 else "_")
    shown = [x for each in found for x in (each.row.paper.get(name), each.mean(name)) if x is not None]
    axis.set_ylim(max(0, min(shown) - 5), max(shown) + 2)
    axis.set_xticks(range(len(found)), [each.row.label for each in found], rotation=30, ha="right", fontsize=7)
    axis.set_title(name, fontsize=9)
    axis.legend(fontsize=7)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
