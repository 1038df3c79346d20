"""Two models beside each other, as pictures: what they make of a click and of a box, and what they say of their masks.

python -m tools.before_after BEFORE AFTER DATA/clips-480p pictures bmx-bumps dance-jump ...

pictures/marks.png has a row for each object: the truth with the click, then both models' masks from the click and from
a box. pictures/alarms.png has a row for each clip: the true overlap of a mask in each frame, and the confidence in it.
The frames are those of the data, whose terms hold for the pictures too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import VOID, Bits, Image
from mobilevos.datasets.davis import davis_videos
from mobilevos.datasets.video import Video
from mobilevos.files import replacing
from mobilevos.media.overlay import draw_overlay
from mobilevos.pipeline.marks import Prompt
from mobilevos.pipeline.refine import Refine, by_network
from mobilevos.tracking import Tracker
from tools.calibrate import BAD
from tools.prompts import mask_of, middle, objects_of

COLUMN, ROW = 320, 180
WHITE, ORANGE = (255, 255, 255), (255, 140, 0)

Course = list[tuple[float, float]]
"""Of each frame the overlap with the truth and the confidence; the mean over objects."""


def marks_sheet(readers: Sequence[Refine], objects: Iterable[tuple[Image, Bits]]) -> Image:
    """A row for each object (H, W) in its frame (H, W, 3)."""
    rows = []
    for frame, truth in objects:
        point = middle(truth)
        x, y, w, h = cv2.boundingRect(truth.view(np.uint8))
        shown = draw_overlay(frame, truth.view(np.uint8))
        cv2.circle(shown, point, max(4, frame.shape[0] // 60), ORANGE, -1)
        cells = [_cell(shown, "truth and click")]
        for word, prompt in (("click", Prompt(None, (point,), ())), ("box", Prompt((x, y, w, h), (), ()))):
            for time, reader in zip(("before", "after"), readers, strict=True):
                mask = mask_of(reader, frame, prompt)
                overlap = (mask & truth).sum() / max(1, (mask | truth).sum())
                cells.append(_cell(draw_overlay(frame, mask.view(np.uint8)), f"{word}, {time}: {overlap:.2f}"))
        rows.append(np.concatenate(cells, 1))
    return np.concatenate(rows)


def course(tracker: Tracker, video: Video) -> Course:
    """How a clip is followed from its first frame."""
    found: Course = []
    for name in video.truths:
        frame, labels = video.picture(name), video.labels(name)
        known = labels != VOID
        if not found:
            tracker.start(frame, np.where(known, labels, 0))
            found.append((1.0, 1.0))
            continue
        result = tracker.step(frame)
        overlaps = []
        for identity in result.ids:
            mask, truth = (result.mask == identity) & known, labels == identity
            overlaps.append((mask & truth).sum() / union if (union := (mask | truth).sum()) else 1.0)
        found.append((float(np.mean(overlaps)), float(np.mean([result.confidence[i] for i in result.ids]))))
    return found


def alarm_sheet(courses: dict[str, Sequence[Course]], output: Path) -> None:
    """A row for each clip, a column for each model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(courses), 2, figsize=(10, 1.6 * len(courses)), squeeze=False, sharey=True)
    for row, (name, pair) in zip(axes, courses.items(), strict=True):
        for axis, word, values in zip(row, ("before", "after"), pair, strict=True):
            overlap, told = np.array(values).T
            axis.plot(overlap, label="overlap with the truth")
            axis.plot(told, label="confidence")
            axis.axhline(BAD, color="gray", linewidth=0.5)
            axis.set(title=f"{name}, {word}", ylim=(0, 1.05))
    axes[0, 0].legend(loc="lower left", fontsize="small")
    figure.tight_layout()
    with replacing(output) as part:
        figure.savefig(part, format="png", dpi=80)
    pyplot.close(figure)


def _cell(picture: Image, text: str) -> Image:
    cell = cv2.resize(picture, (COLUMN, ROW), interpolation=cv2.INTER_AREA)
    cv2.putText(cell, text, (6, ROW - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(cell, text, (6, ROW - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.5, WHITE, 1, cv2.LINE_AA)
    return np.asarray(cell)


def _clips(trackers: Sequence[Tracker], root: Path, clips: Sequence[str]) -> Iterator[tuple[str, list[Course]]]:
    for video in davis_videos(root, clips):
        yield video.name, [course(tracker, video) for tracker in trackers]


if __name__ == "__main__":
    import typer

    def main(
        before: str, after: str, root: Path, output: Path, clips: list[str], frames: int = 2, runtime: str = "auto"
    ) -> None:
        trackers = [Tracker.load(model, runtime) for model in (before, after)]
        output.mkdir(parents=True, exist_ok=True)
        sheet = marks_sheet([by_network(tracker) for tracker in trackers], objects_of(root, clips, frames, most=1))
        with replacing(output / "marks.png") as part:
            part.write_bytes(cv2.imencode(".png", sheet[..., ::-1])[1].tobytes())
        alarm_sheet(dict(_clips(trackers, root, clips)), output / "alarms.png")

    typer.run(main)
