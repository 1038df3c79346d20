"""What a run leaves to look at: a CSV, TensorBoard events, lines or a progress bar, and pictures."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import cv2
import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from mobilevos.files import replacing


class RunLog:
    """Logs of a run's folder; continues those of an earlier start up to `iteration`.

    Args:
        folder: of the run.
        iteration: where the run goes on; later lines of an earlier start are dropped.
        iterations: the last one, for the progress bar.
    """

    def __init__(self, folder: Path, iteration: int, iterations: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.folder = folder
        self._curve = folder / "curve.csv"
        self._columns = _truncate(self._curve, iteration)
        self._events = SummaryWriter(str(folder / "events"), purge_step=iteration)
        self._bar: Progress | None = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total}"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[numbers]}"),
            )
            self._bar.start()
            self._task = self._bar.add_task(folder.name, total=iterations, completed=iteration, numbers="")
        self._iterations = iterations

    def record(self, iteration: int, values: Mapping[str, float]) -> None:
        """Numbers of an iteration: into the CSV, TensorBoard and onto the screen."""
        row = {"iteration": iteration, **values}
        if self._columns is None or not set(row) <= set(self._columns):
            self._columns = _widen(self._curve, list(row))
        with self._curve.open("a", newline="") as stream:
            csv.DictWriter(stream, self._columns).writerow(row)
        for name, value in values.items():
            self._events.add_scalar(name, value, iteration)
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
        if self._bar is not None:
            self._bar.update(self._task, completed=iteration, numbers=numbers)
        else:
            print(f"{iteration}/{self._iterations}  {numbers}", file=sys.stderr, flush=True)

    def picture(self, name: str, iteration: int, image: np.ndarray) -> None:
        """A picture (H, W, 3) of predictions."""
        path = self.folder / "pictures" / f"{iteration:07d}-{name}.jpg"
        path.parent.mkdir(exist_ok=True)
        _, data = cv2.imencode(".jpg", image[..., ::-1])
        with replacing(path) as part:
            part.write_bytes(data.tobytes())
        self._events.add_image(name, image, iteration, dataformats="HWC")

    def __enter__(self) -> RunLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()
        if self._bar is not None:
            self._bar.stop()


def _truncate(path: Path, iteration: int) -> list[str] | None:
    """Drop the rows after an iteration; the columns that are there."""
    if not path.exists():
        return None
    with path.open(newline="") as stream:
        reader = csv.DictReader(stream)
        rows = [row for row in reader if int(row["iteration"]) <= iteration]
        columns = list(reader.fieldnames or [])
    _write(path, columns, rows)
    return columns


def _widen(path: Path, columns: list[str]) -> list[str]:
    """Add columns to a CSV."""
    rows: list[dict[str, str]] = []
    if path.exists():
        with path.open(newline="") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
            known = list(reader.fieldnames or [])
            columns = known + [column for column in columns if column not in known]
    _write(path, columns, rows)
    return columns


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    with replacing(path) as part, part.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, columns)
        writer.writeheader()
        writer.writerows(rows)
