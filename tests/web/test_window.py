"""Where the browser app looks is where the package looks: the same events through both, number by number."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from mobilevos.tracking import window
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.window import Extent, LookAhead
from tests.web_export.node import need_node, output

FRAMES = [(480, 854, 320), (1080, 1920, 320), (2160, 3840, 288), (240, 432, 480), (1280, 720, 384), (97, 131, 320)]
"""Height and width of the video, and the short side that was asked for."""


def test_the_numbers_are_the_same() -> None:
    need_node()
    theirs = json.loads(output("tests/window.mjs"))
    ours = {name: value for name, value in vars(window).items() if name.isupper()}
    assert theirs == ours


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the package and what the browser app make of the same cases."""
    need_node()
    cases, expected = _looks() | _tight() | _extents() | _cuts(), {}
    for name, every in cases.items():
        expected[name] = [result for _, result in every]
    path = tmp_path_factory.mktemp("window") / "cases.json"
    path.write_text(json.dumps({name: [case for case, _ in every] for name, every in cases.items()}))
    return expected, json.loads(output("tests/window.mjs", path))


@pytest.mark.parametrize("number", range(len(FRAMES)))
def test_every_look_of_a_clip(both: tuple[dict[str, Any], dict[str, Any]], number: int) -> None:
    ours, theirs = both[0]["looks"][number], both[1]["looks"][number]
    assert theirs["whole"] == ours["whole"]
    assert [look["box"] for look in theirs["looks"]] == [look["box"] for look in ours["looks"]]
    zooms = [look["zoom"] for look in ours["looks"]]
    assert min(zooms) <= 1  # else there is nothing to compare
    assert max(zooms) > 1.3
    for mine, other in zip(ours["looks"], theirs["looks"], strict=True):
        _assert_close(other, mine)


@pytest.mark.parametrize("name", ["next", "zoom", "extent", "mask", "joined", "cut"])
def test_each_part_by_itself(both: tuple[dict[str, Any], dict[str, Any]], name: str) -> None:
    assert len(both[1][name]) == len(both[0][name]) > 3
    for mine, other in zip(both[0][name], both[1][name], strict=True):
        _assert_close(other, mine)


def test_the_cases_know_both_answers(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert {case["cut"] for case in both[0]["cut"]} == {True, False}
    assert len({round(look["zoom"], 3) for look in both[0]["next"]}) == 2  # with room and without
    assert None in both[0]["extent"]
    assert None in both[0]["mask"]


def _looks() -> dict[str, list[tuple[Any, Any]]]:
    """Objects that drift, race, grow, shrink, are lost and found again, and films that cut."""
    cases = []
    for seed, (height, width, size) in enumerate(FRAMES):
        rng = np.random.default_rng(seed)
        whole = Geometry.fit(height, width, size, windowed=True)
        first = _extent(width * 0.4, height * 0.5, width * 0.08, height * 0.1)
        x, y, w, h = width * 0.4, height * 0.5, width * 0.08, height * 0.1
        vx, vy = rng.normal(0, 0.004, 2) * (width, height)
        found: list[Extent | str | None] = []
        for time in range(90):
            if time % 30 == 17:
                vx, vy = rng.normal(0, 0.03, 2) * (width, height)  # it races off
            grown = 1.15 if 40 <= time < 52 else 0.93 if 60 <= time < 75 else 1.0
            w, h = min(width, w * grown), min(height, h * grown)
            x, y = float(np.clip(x + vx, w / 2, width - w / 2)), float(np.clip(y + vy, h / 2, height - h / 2))
            lost = time in (9, 10, 11, 33) or time > 84
            found.append("cut" if time == 57 else None if lost else _extent(x, y, w, h))
        look = window.first_look(whole, first)
        looks = [look]
        for event in found:
            cut = isinstance(event, str)
            look = window.whole_frame(whole) if cut else window.next_look(whole, look, event)  # type: ignore[arg-type]
            looks.append(look)
        top, _, left, _ = whole.padding
        net = (whole.scaled[0] + sum(whole.padding[:2]), whole.scaled[1] + sum(whole.padding[2:]))
        seen = {"inner": _size(whole.scaled), "net": _size(net), "top": top, "left": left}
        case = {
            "frame": _size((height, width)),
            "size": size,
            "first": asdict(first),
            "found": [asdict(event) if isinstance(event, Extent) else event for event in found],
        }
        cases.append((case, {"whole": seen, "looks": [_look(whole, each) for each in looks]}))
    return {"looks": cases}


def _tight() -> dict[str, list[tuple[Any, Any]]]:
    """Large objects nearer and nearer to each border of a window: from some distance on, it gives them more room."""
    cases = []
    height, width, size = 480, 854, 320
    whole = Geometry.fit(height, width, size, windowed=True)
    last = LookAhead(width / 2, height / 2, 2.0)
    top, left, box_height, box_width = last.geometry(whole).box
    w, h = 0.7 * box_width, 0.7 * box_height
    for share in np.linspace(0.03, 0.09, 13):
        gap_x, gap_y = float(share * box_width + w / 2), float(share * box_height + h / 2)
        right, bottom = left + box_width - gap_x, top + box_height - gap_y
        for x, y in ((left + gap_x, height / 2), (right, height / 2), (width / 2, top + gap_y), (width / 2, bottom)):
            found = _extent(x, y, w, h)
            case = {"frame": _size((height, width)), "size": size, "last": asdict(last), "found": asdict(found)}
            cases.append((case, asdict(window.next_look(whole, last, found))))
    return {"next": cases}


def _extents() -> dict[str, list[tuple[Any, Any]]]:
    rng = np.random.default_rng(7)
    extents, masks, zooms, joins = [], [], [], []
    for height, width, size in FRAMES:
        whole = Geometry.fit(height, width, size, windowed=True)
        rows, columns = ((n + pad) // window.STEP for n, pad in zip(whole.scaled, _padding(whole), strict=True))
        for zoom, share in ((1.0, 0.3), (1.7, 0.001), (2.2, 0.0)):
            x, y = rng.uniform(0, width), rng.uniform(0, height)
            inside = rng.random((rows, columns)) < share
            result = window.extent_of(inside, whole.window(x, y, zoom))
            case = {"frame": _size((height, width)), "size": size, "look": [x, y, zoom], "cells": _cells(inside)}
            extents.append((case, result and asdict(result)))
            drawn = rng.random((height // 8, width // 8)) < share / 10
            result = window.extent_of_mask(drawn)
            masks.append(({"frame": _size(drawn.shape), "cells": _cells(drawn)}, result and asdict(result)))
            some = _extent(x, y, rng.uniform(0, width), rng.uniform(0, height))
            room = (float(rng.uniform(0, 30)), float(rng.uniform(0, 30)))
            case = {"frame": _size((height, width)), "size": size, "extent": asdict(some), "room": room}
            zooms.append((case, window.closest_zoom(whole, some, room)))
            several = [_extent(*rng.uniform(1, 99, 4)) for _ in range(3)]
            joins.append(([asdict(each) for each in several], asdict(window.joined(several))))
    return {"extent": extents, "mask": masks, "zoom": zooms, "joined": joins}


def _cuts() -> dict[str, list[tuple[Any, Any]]]:
    """From no change to another picture altogether, at sizes of which every pixel, or one in several, is looked at."""
    rng = np.random.default_rng(11)
    cases = []
    for height, width in ((30, 40), (95, 120), (145, 97)):
        before = (rng.beta(2, 5, (height, width, 3)) * 255).astype(np.uint8)
        for share in (0.0, 0.3, 0.5, 1.0):
            now = before.copy()
            now[: round(share * height)] = 255 - before[: round(share * height)] // 4
            palettes = [window.palette_of(picture) for picture in (before, now)]
            result = {"palettes": [each.tolist() for each in palettes], "cut": window.is_cut(*palettes)}
            case = {"frame": _size((height, width)), "pictures": [each.ravel().tolist() for each in (before, now)]}
            cases.append((case, result))
    return {"cut": cases}


def _extent(x: float, y: float, w: float, h: float) -> Extent:
    return Extent(*(float(v) for v in (x - w / 2, y - h / 2, x + w / 2, y + h / 2, 0.6 * w * h)))


def _look(whole: Geometry, look: LookAhead) -> dict[str, Any]:
    geometry = look.geometry(whole)
    box = dict(zip(("top", "left", "height", "width"), geometry.box, strict=True))
    return asdict(look) | {"box": box, "scale": geometry.scale}


def _size(shape: tuple[int, ...]) -> dict[str, int]:
    return {"height": shape[0], "width": shape[1]}


def _padding(geometry: Geometry) -> tuple[int, int]:
    top, bottom, left, right = geometry.padding
    return top + bottom, left + right


def _cells(inside: np.ndarray) -> list[int]:
    return np.flatnonzero(inside).tolist()


def _assert_close(found: Any, expected: Any) -> None:
    """The same keys with the same numbers, to 1e-6."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            _assert_close(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _assert_close(one, other)
    elif expected is None or isinstance(expected, bool):
        assert found is expected
    else:
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
