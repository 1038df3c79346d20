"""The table of jobs: a CSV file with a line for each video.

The columns `source` and `output` are needed; all others are options of `mobilevos segment`, without the dashes. An
option that may be repeated has its values separated by semicolons; one without a value has yes or no:

    source,output,box,click,format
    a.mp4,out/a,"120,80,300,400",,"masks,overlay"
    b.mp4,out/b,,"40,50;2:300,200",alpha

Paths are seen from the folder of the file.
"""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.files import is_file
from mobilevos.media.sinks import FORMATS

REPEATED = ("mask", "box", "click", "not", "gone")
SINGLE = (
    *("format", "model", "runtime", "queue", "size", "window", "from", "to", "color"),
    *("despeckle", "fill-holes", "grow", "smooth", "feather"),
)
FLAGS = {
    "skip-damaged": ("", "skip-damaged"),
    "stop-when-lost": ("", "stop-when-lost"),
    "backward": ("no-backward", ""),
}
"""Options without a value: what `no` and `yes` mean in their column."""
YES, NO = ("yes", "true", "1"), ("no", "false", "0")


@dataclass(frozen=True)
class Job:
    """One video."""

    number: int
    """The line of the file, from 1 on, without the header."""
    source: str
    output: Path
    options: tuple[str, ...]
    """For `mobilevos segment`."""

    @property
    def arguments(self) -> list[str]:
        """All after `mobilevos segment`."""
        return [self.source, "--output", str(self.output), *self.options, "--resume"]


def read_jobs(path: str | os.PathLike[str]) -> list[Job]:
    """The jobs of a file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read the jobs in {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"expected a table of jobs, but {path} is no text") from error
    rows = csv.DictReader(text.splitlines())
    columns = [name.strip() for name in rows.fieldnames or ()]
    for needed in ("source", "output"):
        if needed not in columns:
            raise InputError(f"expected columns source and output in {path}, got {', '.join(columns) or 'nothing'}")
    options = (*REPEATED, *SINGLE, *FLAGS)
    unknown = [name for name in columns if name not in ("source", "output", *options)]
    if unknown:
        raise InputError(f"unknown column {unknown[0]!r} in {path}: expected {', '.join(options)}")
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            f"expected each column once in {path}, but {twice[0]!r} is there {columns.count(twice[0])} times"
        )
    rows.fieldnames = columns
    folder = Path(path).resolve().parent
    jobs = [_job(number, row, folder, path) for number, row in enumerate(rows, start=1)]
    if not jobs:
        raise InputError(f"there are no jobs in {path}")
    outputs: dict[Path, int] = {}
    for job in jobs:
        if job.output in outputs:
            raise InputError(
                f"lines {outputs[job.output]} and {job.number} of {path} have the same output {job.output}"
            )
        outputs[job.output] = job.number
    return jobs


def _job(number: int, row: dict[str | None, str | None], folder: Path, path: str | os.PathLike[str]) -> Job:
    if None in row:
        raise InputError(f"line {number} of {path} has more values than columns; put values with commas in quotes")
    values = {str(name): (value or "").strip() for name, value in row.items()}
    if not values["source"] or not values["output"]:
        raise InputError(f"line {number} of {path} has no {'source' if not values['source'] else 'output'}")
    formats = [name.strip() for name in values.get("format", "").split(",") if name.strip()]
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise InputError(f"line {number} of {path} has the format {unknown[0]}: expected {', '.join(FORMATS)}")
    values["format"] = ",".join(formats)
    options: list[str] = []
    for name in REPEATED:
        for value in filter(None, (part.strip() for part in values.get(name, "").split(";"))):
            options += [f"--{name}", _located(value, folder) if name == "mask" else value]
    for name in SINGLE:
        if values.get(name):
            options += [f"--{name}", values[name]]
    for name, (no, yes) in FLAGS.items():
        said = values.get(name, "").lower()
        if said not in ("", *YES, *NO):
            raise InputError(f"expected yes or no for {name} in line {number} of {path}, got {values[name]}")
        chosen = yes if said in YES else no if said in NO else ""
        options += [f"--{chosen}"] if chosen else []
    source = values["source"]
    return Job(
        number=number,
        source=source if "://" in source else str(folder / source),
        output=folder / values["output"],
        options=tuple(options),
    )


def _located(mask: str, folder: Path) -> str:
    """A mask's text with the path of its file made whole."""
    if is_file(folder / mask):
        return str(folder / mask)
    return re.sub(r"^((?:[0-9]+=)?(?:[0-9]+:)?)(.+)$", lambda parts: parts[1] + str(folder / parts[2]), mask)
