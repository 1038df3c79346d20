"""An evaluation as one HTML page that needs nothing else: bars, J over time, and the worst frames as pictures."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from mobilevos.datasets.task import VideoTask
from mobilevos.evaluation.scores import Evaluation, SequenceScores, mean_statistics
from mobilevos.evaluation.tables import describe_speed
from mobilevos.files import replacing

WORST_FRAMES = 12
"""Pictures of bad frames on the page."""

APART = 10
"""Scored frames between two of them in one sequence: neighbours fail alike."""

PICTURE_WIDTH = 560

RIGHT, MISSED, WRONG = (64, 138, 222), (240, 140, 40), (214, 64, 160)
"""The colours of pixels that are the object in both, in the ground truth only, in the prediction only."""

LINES = ("#3d86d8", "#e0782f", "#2f9e68", "#c24d97", "#8368cf", "#b8941f", "#cf4b4b", "#2f9ba6")
"""The colours of objects, in turn; readable on light and dark."""

CHART_WIDTH, CHART_HEIGHT = 280, 96

STYLE = f"""
:root {{ color-scheme: light dark; --page: #ffffff; --ink: #1c2024; --soft: #667078; --line: #e2e6ea;
  --card: #f6f8fa; --j: {LINES[0]}; --f: {LINES[1]}; }}
@media (prefers-color-scheme: dark) {{ :root {{ --page: #14171a; --ink: #e8ebee; --soft: #98a2ab; --line: #2b3138;
  --card: #1c2126; }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 1180px; padding: 32px 24px 64px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 26px; margin: 0 0 2px; }} h2 {{ font-size: 18px; margin: 44px 0 4px; }}
p {{ margin: 4px 0; }} .soft {{ color: var(--soft); }} small, .small {{ font-size: 13px; }}
.tiles {{ display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0; }}
.tile {{ background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px;
  min-width: 108px; }}
.tile b {{ display: block; font-size: 24px; font-variant-numeric: tabular-nums; }}
.tile:first-child {{ border-color: var(--j); }} .tile:first-child b {{ color: var(--j); }}
.bars {{ display: grid; grid-template-columns: max-content 1fr max-content; gap: 7px 14px; align-items: center;
  margin-top: 14px; }}
.bars .name {{ overflow-wrap: anywhere; max-width: 220px; }}
.bars .value {{ font-variant-numeric: tabular-nums; color: var(--soft); font-size: 13px; }}
.bar {{ display: block; height: 7px; border-radius: 0 3px 3px 0; min-width: 1px; }} .bar + .bar {{ margin-top: 2px; }}
.track {{ background: var(--card); }}
.key {{ display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin: 0 5px 0 14px; }}
.key:first-child {{ margin-left: 0; }}
.grid {{ display: grid; gap: 18px; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); margin-top: 14px; }}
.pictures {{ grid-template-columns: repeat(auto-fill, minmax(330px, 1fr)); }}
figure {{ margin: 0; }} figcaption {{ font-size: 13px; color: var(--soft); }} figcaption b {{ color: var(--ink); }}
figure img, figure svg {{ display: block; width: 100%; height: auto; border-radius: 6px; }}
svg {{ background: var(--card); }}
polyline {{ fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }}
"""


def write_report(path: Path, evaluation: Evaluation, tasks: Sequence[VideoTask], predictions: Path, title: str) -> None:
    """Write the page; clips and predictions are those that were scored, for the pictures."""
    page = "\n".join(_page(evaluation, {task.name: task for task in tasks}, predictions, title))
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8")


def _page(evaluation: Evaluation, tasks: dict[str, VideoTask], predictions: Path, title: str) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}: {evaluation.protocol}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{escape(title)}</h1>"
    objects = sum(len(sequence.objects) for sequence in evaluation.sequences)
    frames = sum(len(sequence.frames) for sequence in evaluation.sequences)
    counts = f"{len(evaluation.sequences)} sequences, {objects} objects, {frames} scored frames"
    yield f'<p class="soft">{evaluation.protocol} · {counts}</p><div class="tiles">'
    for name, value in evaluation.figures.items():
        yield f'<div class="tile"><span class="small soft">{escape(name)}</span><b>{value:.3f}</b></div>'
    yield "</div>"
    if evaluation.speed:
        yield f'<p class="small soft">{escape(describe_speed(evaluation.speed))}</p>'
    for note in evaluation.notes:
        yield f'<p class="small">Note: {escape(note)}</p>'
    hardest_first = sorted(evaluation.sequences, key=lambda sequence: sequence.j_and_f)
    yield "<h2>By sequence</h2>" + _key(
        ("var(--j)", "J"), ("var(--f)", "F"), ending="means over objects, hardest first"
    )
    yield '<div class="bars">' + "".join(map(_bars, hardest_first)) + "</div>"
    yield "<h2>J over time</h2>"
    yield '<p class="small soft">From 0 to 1, the thin line at 0.5; from the first scored frame to the last.</p>'
    yield '<div class="grid">' + "".join(map(_chart, hardest_first)) + "</div>"
    yield "<h2>Worst frames</h2>" + _key(
        (_css(RIGHT), "found"), (_css(MISSED), "missed"), (_css(WRONG), "taken for the object")
    )
    yield '<div class="grid pictures">'
    for bad in worst_frames(evaluation.sequences):
        yield _figure(bad, tasks[bad.sequence], predictions)
    yield "</div></body></html>\n"


@dataclass(frozen=True)
class BadFrame:
    """An object in a frame where it is followed badly."""

    sequence: str
    object: int
    frame: str
    j: float
    f: float


def worst_frames(sequences: Sequence[SequenceScores], count: int = WORST_FRAMES) -> list[BadFrame]:
    """The frames of the lowest mean of J and F, worst first; of one sequence only some, and these apart."""
    share = max(3, -(-count // len(sequences)))
    candidates = [
        (sequence.j[row, column] + sequence.f[row, column], number, row, column)
        for number, sequence in enumerate(sequences)
        for row, column in np.argwhere(~np.isnan(sequence.j)).tolist()
    ]
    chosen: list[BadFrame] = []
    taken: list[tuple[int, int]] = []
    for _, number, row, column in sorted(candidates):
        if len(chosen) == count:
            break
        near = [abs(column - other) for same, other in taken if same == number]
        if len(near) == share or min(near, default=APART) < APART:
            continue
        sequence = sequences[number]
        taken.append((number, column))
        chosen.append(
            BadFrame(
                sequence.name,
                sequence.objects[row],
                sequence.frames[column],
                float(sequence.j[row, column]),
                float(sequence.f[row, column]),
            )
        )
    return chosen


def overlay(
    picture: npt.NDArray[np.uint8], pred: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """The picture (H, W, 3), paler, with what was found, missed and taken for the object (H, W) in colours."""
    gray = picture.mean(axis=2, keepdims=True)
    shown = 0.35 * picture + 0.65 * gray
    for colour, where in ((RIGHT, pred & truth), (MISSED, truth & ~pred), (WRONG, pred & ~truth)):
        shown[where] = 0.4 * shown[where] + 0.6 * np.array(colour)
    return shown.round().astype(np.uint8)


def _bars(sequence: SequenceScores) -> str:
    j, f = mean_statistics(sequence.j_statistics).mean, mean_statistics(sequence.f_statistics).mean
    bars = "".join(
        f'<span class="bar" style="width:{100 * value:.2f}%;background:var(--{name})"></span>'
        for name, value in (("j", j), ("f", f))
    )
    return (
        f'<span class="name">{escape(sequence.name)}</span><span class="track">{bars}</span>'
        f'<span class="value">J {j:.3f} · F {f:.3f}</span>'
    )


def _chart(sequence: SequenceScores) -> str:
    """J of each object over the scored frames, as lines; a gap where an object is not scored."""
    step = CHART_WIDTH / max(len(sequence.frames) - 1, 1)
    lines = []
    for row, index in enumerate(sequence.objects):
        for scored, run in groupby(enumerate(sequence.j[row]), key=lambda point: not np.isnan(point[1])):
            if not scored:
                continue
            points = [f"{column * step:.1f},{4 + (1 - value) * (CHART_HEIGHT - 8):.1f}" for column, value in run]
            points = points if len(points) > 1 else 2 * points  # a point alone has no length; so its round cap shows
            stroke = LINES[row % len(LINES)]
            title = f"<title>object {index}</title>"
            lines.append(f'<polyline points="{" ".join(points)}" stroke="{stroke}">{title}</polyline>')
    middle = CHART_HEIGHT / 2
    mean = mean_statistics(sequence.j_statistics)
    entries = [(LINES[row % len(LINES)], f"object {index}") for row, index in enumerate(sequence.objects)]
    key = _key(*entries) if len(entries) > 1 else ""
    return (
        f'<figure><svg viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" aria-label="J over time">'
        f'<line x1="0" x2="{CHART_WIDTH}" y1="{middle}" y2="{middle}" stroke="var(--line)"/>{"".join(lines)}</svg>'
        f"<figcaption><b>{escape(sequence.name)}</b> J {mean.mean:.3f}, decay {mean.decay:+.3f}{key}"
        "</figcaption></figure>"
    )


def _figure(bad: BadFrame, task: VideoTask, predictions: Path) -> str:
    pred, truth = (ids == bad.object for ids in (task.prediction(predictions, bad.frame), task.truth(bad.frame)))
    if bad.frame in task.pictures:
        picture = task.picture(bad.frame)
    else:
        picture = np.full((*truth.shape, 3), 128, np.uint8)
    image = Image.fromarray(overlay(picture, pred, truth))
    image.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=85)
    source = base64.b64encode(data.getvalue()).decode("ascii")
    name = f"{escape(bad.sequence)}, frame {escape(bad.frame)}, object {bad.object}"
    return (
        f'<figure><img src="data:image/jpeg;base64,{source}" alt="{name}">'
        f"<figcaption><b>{name}</b><br>J {bad.j:.3f} · F {bad.f:.3f}</figcaption></figure>"
    )


def _key(*entries: tuple[str, str], ending: str = "") -> str:
    marks = "".join(f'<span class="key" style="background:{colour}"></span>{name}' for colour, name in entries)
    return f'<p class="small soft">{marks}{f" · {ending}" if ending else ""}</p>'


def _css(colour: tuple[int, int, int]) -> str:
    return f"rgb{colour}"
