"""The edges of masks in the browser app are those of the package: the same ids, and the same mattes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from mobilevos.media import edges as package
from mobilevos.media.edges import Edges
from mobilevos.media.overlay import matte
from mobilevos.media.sinks import Look
from mobilevos.synthetic.clip import synthetic_clip
from tests.web_export.node import need_node, output

CASES = [
    (Edges(), 1.0),
    (Edges(despeckle=0), 0.0),
    (Edges(despeckle=40, fill_holes=60), 2.5),
    (Edges(grow=3), 1.0),
    (Edges(despeckle=12, grow=-2), 6.0),
    (Edges(fill_holes=100000, grow=9), 0.5),
]


def untidy(seed: int, height: int, width: int) -> np.ndarray:
    """Ids (H, W) of two objects with specks and holes, which touch the border and each other."""
    rng = np.random.default_rng(seed)
    _, masks = synthetic_clip(frames=1, height=height, width=width, objects=2, seed=seed)
    ids = masks[0].copy()
    for identity, count in ((1, 25), (2, 15), (0, 30)):
        for _ in range(count):
            y, x, size = rng.integers(height), rng.integers(width), rng.integers(1, 9)
            ids[y : y + size, x : x + size] = identity
    return ids


def test_the_numbers_are_the_same() -> None:
    need_node()
    found = json.loads(output("tests/edges.mjs"))
    usual = Edges()
    assert found["SPECK"] == package.SPECK
    assert found["usual"] == {
        "despeckle": usual.despeckle,
        "fillHoles": usual.fill_holes,
        "grow": usual.grow,
        "feather": Look().feather,
    }


@pytest.mark.parametrize("marked", [False, True])
def test_the_masks_and_mattes_are_the_same(tmp_path: Path, marked: bool) -> None:
    need_node()
    cases, expected, changed = [], [], 0
    for seed, (height, width) in enumerate([(60, 91), (120, 77)]):
        ids = untidy(seed, height, width)
        for edges, feather in CASES:
            clean = edges.cleaned(ids, marked)
            changed += bool((clean != ids).any())
            expected.append((clean, np.round(255 * matte(clean, feather))))
            names = asdict(edges)
            wanted = {"despeckle": names["despeckle"], "fillHoles": names["fill_holes"], "grow": names["grow"]}
            case = {"height": height, "width": width, "ids": ids.ravel().tolist(), "marked": marked}
            cases.append(case | {"edges": wanted | {"feather": feather}})
    assert changed >= (5 if marked else 9)
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(cases))
    found = [json.loads(line) for line in output("tests/edges.mjs", path).splitlines()]
    for ours, (ids, alpha) in zip(found, expected, strict=True):
        there = np.reshape(ours["ids"], ids.shape)
        np.testing.assert_array_equal(there > 0, ids > 0)
        assert (there != ids).sum() <= 2  # as near to one as to the other: rounding decides
        assert np.abs(np.reshape(ours["alpha"], ids.shape) - alpha).max() <= 1
