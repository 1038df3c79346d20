"""How well marks are understood: clicks one after the other, and a box, on frames with known masks.

python -m tools.prompts mobilenetv2-lite DATA/clips-480p bmx-bumps dance-jump ...

Each click is where a person would put it: the first in the middle of the object, each further one in the middle of the
largest error so far. Masks are those that `mobilevos segment` begins with: the network's guess, every click obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import VOID, Bits, Image
from mobilevos.datasets.davis import davis_videos
from mobilevos.pipeline.marks import Prompt
from mobilevos.pipeline.refine import Refine
from mobilevos.tracking.constraints import obeyed

Point = tuple[int, int]

LEAST = 0.002
"""Of the frame that an object covers; smaller ones are left out."""
USABLE = 0.7


@dataclass(frozen=True)
class PromptScores:
    """IoU with the truth, one number an object and frame."""

    clicks: np.ndarray
    """(N, C), after each of C clicks"""
    box: np.ndarray
    """(N,)"""


def score(refine: Refine, objects: Iterator[tuple[Image, Bits]], clicks: int = 3) -> PromptScores:
    """Of objects (H, W) in their frames (H, W, 3)."""
    rows, boxes = [], []
    for frame, truth in objects:
        row: list[float] = []
        on: list[Point] = [middle(truth)]
        off: list[Point] = []
        for _ in range(clicks):
            mask = mask_of(refine, frame, Prompt(None, tuple(on), tuple(off)))
            row.append(_iou(mask, truth))
            missing, surplus = truth & ~mask, mask & ~truth
            if max(missing.sum(), surplus.sum()) > 0:
                wanted = _largest(missing) >= _largest(surplus)
                (on if wanted else off).append(middle(missing if wanted else surplus))
        rows.append(row)
        x, y, w, h = cv2.boundingRect(truth.view(np.uint8))
        boxes.append(_iou(mask_of(refine, frame, Prompt((x, y, w, h), (), ())), truth))
    return PromptScores(np.array(rows), np.array(boxes))


def mask_of(refine: Refine, frame: Image, prompt: Prompt) -> Bits:
    """What following begins with."""
    return obeyed(frame, refine(frame, prompt).mask, prompt.on, prompt.off)


def middle(region: Bits) -> Point:
    """x, y of the innermost pixel of the largest part."""
    _, parts, stats, _ = cv2.connectedComponentsWithStats(region.view(np.uint8), connectivity=4)
    part = np.pad(parts == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])), 1)
    y, x = np.unravel_index(cv2.distanceTransform(part.view(np.uint8), cv2.DIST_L2, 5).argmax(), part.shape)
    return int(x) - 1, int(y) - 1


def objects_of(root: Path, clips: Sequence[str], frames: int = 3, most: int = 2) -> Iterator[tuple[Image, Bits]]:
    """The largest objects of frames spread over each clip of a DAVIS folder."""
    for video in davis_videos(root, clips):
        names = list(video.pictures)
        for number in range(frames):
            name = names[round((number + 0.5) / frames * (len(names) - 1))]
            labels = video.labels(name)
            ids, areas = np.unique(labels[(labels > 0) & (labels != VOID)], return_counts=True)
            for identity in ids[np.argsort(-areas)][:most]:
                if (labels == identity).mean() >= LEAST:
                    yield video.picture(name), labels == identity


def _largest(region: Bits) -> int:
    _, _, stats, _ = cv2.connectedComponentsWithStats(region.view(np.uint8), connectivity=4)
    return int(stats[1:, cv2.CC_STAT_AREA].max(initial=0))


def _iou(mask: Bits, truth: Bits) -> float:
    return float((mask & truth).sum() / max(1, (mask | truth).sum()))


def report(scores: PromptScores) -> str:
    """One line a kind of prompt."""
    spread = np.sqrt(len(scores.box))
    rows = [
        (f"{number} click{'s' * (number > 1)}", scores.clicks[:, number - 1])
        for number in range(1, scores.clicks.shape[1] + 1)
    ]
    return "\n".join(
        f"{name}: IoU {values.mean():.3f} +- {values.std() / spread:.3f}, "
        f"{(values >= USABLE).mean():.0%} have {USABLE} or more ({len(values)} objects)"
        for name, values in [*rows, ("box", scores.box)]
    )


if __name__ == "__main__":
    from typing import Annotated

    import typer

    from mobilevos.pipeline.refine import by_network
    from mobilevos.tracking import Tracker

    def main(
        model: str,
        root: Path,
        clips: list[str],
        frames: Annotated[int, typer.Option(help="Of each clip.")] = 3,
        runtime: str = "auto",
    ) -> None:
        with Tracker.load(model, runtime=runtime) as tracker:
            print(report(score(by_network(tracker), objects_of(root, clips, frames))))

    typer.run(main)
