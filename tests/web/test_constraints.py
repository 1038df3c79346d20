"""Clicks are obeyed in the browser app as in the package: the same masks, pixel by pixel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import constraints, parts
from mobilevos.tracking.constraints import obeyed
from tests.web_export.node import need_node, output

SIZES = [(90, 131), (180, 320), (300, 521)]
"""Of one, two and three pixels a cell, and sides that no cell divides."""


def test_the_numbers_are_the_same() -> None:
    need_node()
    ours = {name: value for name, value in (vars(constraints) | vars(parts)).items() if name.isupper()}
    assert json.loads(output("tests/constraints.mjs")) == ours


def test_the_masks_are_the_same(tmp_path: Path) -> None:
    need_node()
    cases, expected, changed = [], [], 0
    for number, (height, width) in enumerate(SIZES):
        rng = np.random.default_rng(number)
        frames, labels = synthetic_clip(frames=1, height=height, width=width, objects=2, seed=number)
        frame = cv2.GaussianBlur(frames[0], (3, 3), 0)
        truth, other = labels[0] == 1, labels[0] == 2
        masks = {
            "all": truth | other,
            "half": truth & (np.arange(width) < np.nonzero(truth)[1].mean()),
            "none": truth & False,
        }
        for name, mask in masks.items():
            for others in (None, np.where(other & ~mask, 2, 0).astype(np.uint8)):
                clicks: dict[str, list[tuple[int, int]]] = {"on": _some(truth, rng), "off": _some(~truth, rng)}
                clicks["off"] += _some(other, rng) if name == "all" else []
                after = obeyed(frame, mask, clicks["on"], clicks["off"], others)
                changed += bool((after != mask).any())
                expected.append(np.flatnonzero(after).tolist())
                cases.append(_case(frame, mask, clicks, others))
    assert changed > len(cases) / 2
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    for mine, theirs in zip(expected, json.loads(output("tests/constraints.mjs", path)), strict=True):
        assert theirs == mine


def test_the_strays_are_the_same(tmp_path: Path) -> None:
    need_node()
    cases, expected = [], []
    for number in range(24):
        rng = np.random.default_rng(number)
        mask = cv2.GaussianBlur(rng.normal(size=(90, 131)), (0, 0), 4) > 0.05
        marks = np.zeros_like(mask)
        marks[tuple(rng.integers((90, 131)))] = True
        marks[tuple(rng.integers((90, 131)))] = True
        expected.append(np.flatnonzero(parts.strays(mask, marks)).tolist())
        size = dict(zip(("height", "width"), mask.shape, strict=True))
        cases.append(size | {"mask": mask.ravel().tolist(), "marks": marks.ravel().tolist()})
    assert sum(bool(pixels) for pixels in expected) > 4
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    assert json.loads(output("tests/constraints.mjs", path)) == expected


def _some(area: np.ndarray, rng: np.random.Generator) -> list[tuple[int, int]]:
    y, x = np.nonzero(area)
    return [(int(x[i]), int(y[i])) for i in rng.integers(len(x), size=2)]


def _case(frame: np.ndarray, mask: np.ndarray, clicks: dict[str, Any], others: np.ndarray | None) -> dict[str, Any]:
    height, width = mask.shape
    return {
        "height": height,
        "width": width,
        "rgb": frame.ravel().tolist(),
        "mask": mask.astype(int).ravel().tolist(),
        "others": None if others is None else others.ravel().tolist(),
        **clicks,
    }
