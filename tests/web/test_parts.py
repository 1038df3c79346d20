"""Parts of the browser app by themselves, and against the package: the same numbers on both sides."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from mobilevos.export.tflite_template import assemble
from mobilevos.tracking.confidence import confidence
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.recall import alike
from mobilevos.tracking.result import Sight
from tests.web_export.node import WEB, need_node, node, output

MODEL = WEB.parent / "src" / "mobilevos" / "web" / "model"


def test_the_parts_by_themselves() -> None:
    need_node()
    node("--test", "tests/layers.test.mjs", "tests/parts.test.mjs", "tests/editor.test.mjs", "tests/tracker.test.mjs")


def test_confidence_is_the_same_as_the_trackers(tmp_path: Path) -> None:
    need_node()
    rng = np.random.default_rng(0)
    lines, expected = [], []
    for objects, smooth in ((1, 1), (2, 3), (3, 6), (3, 4), (2, 2), (2, 0)):
        logits = rng.normal(0, 2, (1 + objects, 48, 64)).astype(np.float32)
        for _ in range(smooth):  # from noise to blobs
            logits = (logits + np.roll(logits, 1, 1) + np.roll(logits, 1, 2) + np.roll(logits, (1, 1), (1, 2))) / 4
        logits *= 1 + smooth
        if not smooth:
            logits[2] = -9  # an object that is nowhere
        odds = np.exp(logits)
        probabilities = odds / odds.sum(0)
        geometry = Geometry.fit(96, 128, 48).window(70.0, 40.0, 1.0 + 0.4 * objects)
        ids = tuple(range(1, objects + 1))
        rating = rng.random(objects).astype(np.float32)
        keys = rng.normal(0, 2, (8, 2, 3, 4)).astype(np.float32)
        keys[:, 1] = keys[:, 0, ::-1] + 0.1 * keys[:, 1]  # what was above is below
        covered = rng.random((objects, 3, 4)).astype(np.float32)
        looks = alike(keys[:, 1], keys[:, 0], covered) if smooth != 1 else None
        sight = Sight(ids, probabilities, geometry, rating, looks)
        expected.append(confidence(sight))
        case = {
            "frame": {"height": 96, "width": 128},
            "size": 48,
            "look": (70.0, 40.0, 1.0 + 0.4 * objects),
            "probabilities": probabilities.ravel().tolist(),
            "rating": rating.tolist(),
            "keys": None if looks is None else keys.ravel().tolist(),
            "covered": covered.reshape(objects, -1).tolist(),
        }
        lines.append(json.dumps(case))
    cases = tmp_path / "cases.jsonl"
    cases.write_text("\n".join(lines))
    found = output("tests/confidence.mjs", cases)
    for line, ours in zip(found.splitlines(), expected, strict=True):
        theirs = json.loads(line)
        assert theirs["confidence"] == pytest.approx(list(ours.values()), abs=1e-5)
        assert [0 if other is None else other + 1 for other in theirs["alike"]] == [
            each.alike for each in ours.values()
        ]
    assert expected[-1][2] == 0
    assert {each.alike for every in expected for each in every.values()} >= {0, 1, 2}


@pytest.mark.parametrize(("height", "width", "objects"), [(288, 512, 1), (480, 864, 2), (64, 48, 4)])
def test_the_page_puts_the_same_model_together(height: int, width: int, objects: int) -> None:
    need_node()
    if not MODEL.is_dir():
        pytest.skip("the browser app is not built (make web)")
    found = output("tests/assemble.mjs", MODEL, str(height), str(width), str(objects))
    assert found.strip() == hashlib.sha256(assemble(MODEL, height, width, objects)).hexdigest()
