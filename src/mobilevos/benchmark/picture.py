"""A benchmark's report as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mobilevos.benchmark.tables import Report
from mobilevos.errors import InputError
from mobilevos.files import replacing


def check_picture(path: Path) -> None:
    """Raise an InputError where a picture of this ending cannot be drawn."""
    from matplotlib.backend_bases import FigureCanvasBase

    endings = FigureCanvasBase.get_supported_filetypes()
    if _kind(path) not in endings:
        raise InputError(f"expected a picture file that ends in .png or .svg, got {path}")


def draw(report: Report, path: Path) -> None:
    """A plot: lines over queue length or frames, bars otherwise."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    rows = report.rows
    if report.name == "queue":
        x = [row["queue"] for row in rows]
        axes.plot(x, [row["median_ms"] for row in rows], "o-", color="#439a86", label="median ms a frame")
        axes.plot(x, [row["fastest_ms"] for row in rows], "o-", color="#80ded9", label="fastest ms a frame")
        axes.set(xlabel="frames in memory", ylabel="ms a frame", xticks=x, ylim=(0, None))
        if "j_and_f" in rows[0]:
            quality = axes.twinx()
            quality.plot(x, [row["j_and_f"] for row in rows], "s--", color="#d08770", label="J&F")
            quality.set_ylabel("J&F")
            quality.legend(loc="lower right")
        axes.legend(loc="upper left")
    elif report.name == "memory":
        axes.plot([row["frame"] for row in rows], [row["resident_mb"] for row in rows], color="#439a86")
        axes.set(xlabel="frame", ylabel="resident MB", ylim=(0, None))
    else:
        labels = [label(row) for row in rows]
        axes.barh(labels, [row["fps"] for row in rows], color="#439a86")
        axes.invert_yaxis()
        axes.margins(y=0.5 / len(rows))
        axes.set(xlabel="frames a second")
        if len(rows) > 12:
            figure.set_figheight(0.25 * len(rows))
    axes.set_title(f"{report.name}: {report.machine['processor']}, {report.machine['cores']} cores", fontsize=10)
    figure.text(0.01, -0.03, f"includes {report.includes}", fontsize=6)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        figure.savefig(part, format=_kind(path), dpi=150, bbox_inches="tight")
    pyplot.close(figure)


def _kind(path: Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


def label(row: dict[str, Any]) -> str:
    """What a row of a table is about, in words: its texts as they are, its numbers with what they count."""
    about = {key: value for key, value in row.items() if key not in ("fps", "fastest_ms", "median_ms", "parameters_m")}
    return ", ".join(
        value if isinstance(value, str) else f"{value} {key.removesuffix('s') if value == 1 else key}"
        for key, value in about.items()
    )
