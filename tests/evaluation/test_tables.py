"""The tables: on the terminal, as CSV, as JSON."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from mobilevos.evaluation.davis import summarise
from mobilevos.evaluation.scores import Evaluation, SequenceScores, Speed
from mobilevos.evaluation.tables import COLUMNS, describe_speed, show, write_csv, write_json

BEAR = SequenceScores("bear", (1,), ("00001", "00002"), np.array([[1.0, 0.5]]), np.array([[0.75, 0.25]]))
DOGS = SequenceScores(
    "dogs", (1, 4), ("00001", "00002"), np.array([[0.0, 0.5], [np.nan, 0.75]]), np.array([[0.5, 0.5], [np.nan, 1]])
)
SPEED = Speed(frames=100, objects=1.5, step_seconds=4, all_seconds=5)
EVALUATION = Evaluation("DAVIS 2017", summarise([BEAR, DOGS]), (BEAR, DOGS), ("a remark [1]",), SPEED)


def test_csv_has_objects_sequences_and_all(tmp_path: Path) -> None:
    write_csv(tmp_path / "out.csv", EVALUATION)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["sequence", "object", "frames", *COLUMNS]
    named = {(row["sequence"], row["object"]): row for row in rows}
    assert list(named) == [
        ("bear", "1"),
        ("bear", "all"),
        ("dogs", "1"),
        ("dogs", "4"),
        ("dogs", "all"),
        ("all", "all"),
    ]
    assert float(named["bear", "1"]["J-Mean"]) == 0.75
    assert float(named["bear", "1"]["J-Recall"]) == 0.5
    assert named["dogs", "4"]["frames"] == "1"
    assert float(named["dogs", "all"]["J-Mean"]) == 0.5  # of 0.25 and 0.75
    assert float(named["all", "all"]["J-Mean"]) == pytest.approx((0.75 + 0.25 + 0.75) / 3, abs=1e-15)
    assert float(named["all", "all"]["J&F-Mean"]) == EVALUATION.figures["J&F-Mean"]


def test_json_has_every_frame(tmp_path: Path) -> None:
    write_json(tmp_path / "out.json", EVALUATION)
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["figures"] == EVALUATION.figures
    assert data["sequences"]["dogs"]["frames"] == ["00001", "00002"]
    assert data["sequences"]["dogs"]["objects"]["4"]["J"] == [None, 0.75]
    assert data["sequences"]["bear"]["objects"]["1"]["F-Mean"] == 0.5
    assert data["notes"] == ["a remark [1]"]
    assert data["speed"]["tracking_fps"] == 25
    assert data["speed"]["everything_fps"] == 20
    assert "Tracker.step" in data["speed"]["includes"]


def test_the_terminal_shows_all_in_80_columns() -> None:
    output = io.StringIO()
    show(EVALUATION, Console(width=80, file=output))
    text = output.getvalue()
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split()}
    assert rows["bear"] == ["1", "0.625", "0.750", "0.500", "0.500", "0.500", "0.500", "0.500"]
    assert rows["dogs"][:3] == ["2", "0.625", "0.500"]
    assert "…" not in text
    assert "note: a remark [1]" in text
    assert "25.0 frames per second tracking, 20.0 with everything" in text


def test_speed_says_what_it_includes() -> None:
    text = describe_speed(SPEED)
    assert "100 frames with 1.5 objects" in text
    assert "without the first frame of a clip and without files" in text
