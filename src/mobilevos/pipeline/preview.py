"""What the marks mean, on one picture, before anything is followed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import cv2

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.overlay import DOUBTFUL, draw_overlay
from mobilevos.media.video import open_source
from mobilevos.pipeline.follow import MarkFollower
from mobilevos.pipeline.marks import Marks, check_marks
from mobilevos.pipeline.output import check_apart
from mobilevos.pipeline.refine import Refine, by_network
from mobilevos.pipeline.run import is_rough
from mobilevos.tracking import Tracker

NAME = "preview.png"


@dataclass(frozen=True)
class Preview:
    """Which picture was made."""

    path: Path
    frame: int
    """Its number: the first that is marked."""
    objects: tuple[int, ...]


def write_preview(
    tracker: Tracker,
    source: str | os.PathLike[str],
    marks: Marks,
    folder: str | os.PathLike[str],
    refine: Refine | None = None,
) -> Preview:
    """Draw the masks of the first marked frame, as `segment` would start with them, into `folder`/preview.png.

    Nothing else is written, and of what is there only an earlier preview is replaced.
    """
    path = Path(folder) / NAME
    check_apart(source, [path])
    with open_source(source) as opened:
        marks = check_marks(marks, opened.info, is_rough(source), tracker.size)
        first = min(frame for frame, at in marks.items() if at.shown)
        frame = next((frame for frame in opened if frame.index == first), None)
    if frame is None:
        raise InputError(f"frame {first} is marked, but {source} has fewer frames")
    drawn = MarkFollower(tracker, marks, refine or by_network(tracker)).draw(first, marks[first], frame.rgb)
    objects = tuple(sorted(marks[first].shown))
    sure = {i: f"{i}" if drawn.confidence[i] >= DOUBTFUL else f"{i} ?" for i in objects}
    picture = draw_overlay(frame.rgb, drawn.ids, names=sure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(cv2.imencode(".png", picture[..., ::-1])[1].tobytes())
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return Preview(path, first, objects)
