"""The HTML page: whole, alone, with the right numbers and pictures."""

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from PIL import Image

from mobilevos.datasets.davis import read_davis
from mobilevos.evaluation.davis import evaluate_davis
from mobilevos.evaluation.report import MISSED, RIGHT, WRONG, overlay, worst_frames, write_report
from mobilevos.evaluation.scores import SequenceScores
from tests.evaluation.reference_cases import cases, write_dataset


class Checker(HTMLParser):
    """Fails where tags do not close; collects the sources of pictures and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img", "br", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "line"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page(tmp_path: Path) -> None:
    write_dataset(tmp_path, {name: cases()[name] for name in ("one", "three", "gap")}, ("three", "gap"))
    clips = read_davis(tmp_path)
    evaluation = evaluate_davis(clips, tmp_path / "predictions")
    write_report(tmp_path / "report.html", evaluation, clips, tmp_path / "predictions", "a <model>")
    page = (tmp_path / "report.html").read_text()
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    assert "a <model>" in checker.text
    assert f"{evaluation.figures['J&F-Mean']:.3f}" in checker.text
    assert page.count("<polyline") == sum(len(scores.objects) for scores in evaluation.sequences)
    assert page.count('class="bar"') == 2 * len(evaluation.sequences)
    assert "prefers-color-scheme: dark" in page
    # nothing is fetched from elsewhere
    assert checker.sources
    assert all(source.startswith("data:image/jpeg;base64,") for source in checker.sources)
    assert "url(" not in page
    for source in checker.sources:
        Image.open(io.BytesIO(base64.b64decode(source.split(",")[1]))).load()
    hardest = min(evaluation.sequences, key=lambda scores: scores.j_and_f)
    assert re.search(r'class="name">([^<]*)<', page).group(1) == hardest.name  # type: ignore[union-attr]


def test_worst_frames_are_the_worst_and_apart() -> None:
    j = np.full((1, 40), 0.9)
    j[0, [5, 6, 30]] = 0.1, 0.2, 0.3
    frames = tuple(map(str, range(40)))
    bad = SequenceScores("bad", (1,), frames, j, j)
    good = SequenceScores("good", (2, 3), frames, np.full((2, 40), np.nan), np.full((2, 40), np.nan))
    good.j[1, 7] = good.f[1, 7] = 0.25
    chosen = worst_frames([bad, good], 3)
    assert [(each.sequence, each.object, each.frame) for each in chosen] == [
        ("bad", 1, "5"),
        ("good", 3, "7"),
        ("bad", 1, "30"),
    ]
    assert chosen[0].j == 0.1


def test_no_sequence_takes_all_the_room() -> None:
    frames = tuple(map(str, range(200)))
    many = [SequenceScores(name, (1,), frames, *np.full((2, 1, 200), value)) for value, name in enumerate("abcd")]
    names = [each.sequence for each in worst_frames(many, 12)]
    assert {name: names.count(name) for name in "abcd"} == dict.fromkeys("abcd", 3)


def test_overlay_colours() -> None:
    picture = np.full((2, 2, 3), 100, np.uint8)
    pred, truth = np.array([[True, True], [False, False]]), np.array([[True, False], [True, False]])
    shown = overlay(picture, pred, truth)
    for (y, x), colour in (((0, 0), RIGHT), ((0, 1), WRONG), ((1, 0), MISSED)):
        assert shown[y, x].tolist() == [round(0.4 * 100 + 0.6 * channel) for channel in colour]
    assert shown[1, 1].tolist() == [100, 100, 100]
