"""The browser app raises the alarms that the package raises: the same confidences through both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mobilevos.media.overlay import DOUBTFUL
from mobilevos.pipeline.alarm import GAP, SHORTEST, Alarm, find_alarms
from mobilevos.pipeline.record import Row, rounded
from mobilevos.tracking.result import Confidence
from tests.web_export.node import need_node, output


def test_the_numbers_are_the_same() -> None:
    need_node()
    assert json.loads(output("tests/alarm.mjs")) == {"DOUBTFUL": DOUBTFUL, "SHORTEST": SHORTEST, "GAP": GAP}


def test_the_alarms_are_the_same(tmp_path: Path) -> None:
    need_node()
    cases = [_case(seed) for seed in range(40)]
    path = tmp_path / "cases.json"
    names = ("frame", "id", "confidence", "alike")
    path.write_text(json.dumps([[dict(zip(names, row, strict=True)) for row in case] for case in cases]))
    expected = [find_alarms(_row(*line) for line in case) for case in cases]
    for ours, theirs in zip(expected, json.loads(output("tests/alarm.mjs", path)), strict=True):
        assert theirs == [_told(alarm) for alarm in ours]
    every = [alarm for case in expected for alarm in case]
    assert {alarm.kind for alarm in every} == {"lost", "look-alike", "doubtful"}
    assert len(every) > 100


def _case(seed: int) -> list[tuple[int, int, float, int]]:
    """Frame, object, confidence and look-alike: three objects that are found, doubtful and lost for a while each."""
    rng = np.random.default_rng(seed)
    found = {1: 0.9, 2: 0.9, 3: 0.9}
    other = dict.fromkeys(found, 0)
    rows = []
    for frame in range(80):
        for identity in found:
            if rng.random() < 0.2:  # also next to the borders, on either side of which it is rounded
                found[identity] = float(rng.choice([0.0, 0.00004, 0.00006, 0.2, 0.4, 0.49994, 0.49996, 0.9]))
                other[identity] = int(rng.choice([0, *(i for i in found if i != identity)]))
            if rng.random() < 0.95:  # else the frame was not followed
                rows.append((frame, identity, found[identity], other[identity]))
    return rows


def _row(frame: int, identity: int, confidence: float, alike: int) -> Row:
    """As it is recorded."""
    value = rounded({identity: Confidence(confidence, alike)})[identity]
    return Row(frame, f"{frame / 25:.6f}", identity, value, value.alike)


def _told(alarm: Alarm) -> dict[str, object]:
    return {
        "id": alarm.identity,
        "lost": alarm.lost,
        "alike": alarm.alike,
        "first": alarm.first,
        "last": alarm.last,
    }
