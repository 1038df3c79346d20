"""Pictures of what a model gets wrong, on clips that are made up: docs/pictures/failures-MODEL.png.

python tools/failures.py mobilenetv2-lite docs/pictures

Hard clips are followed from their first mask: many look-alikes, every fifth frame only, very small pictures. The worst
frame of each is drawn twice, with the outline of the truth and that of the model's mask.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from mobilevos.runtime import load_runtime
from mobilevos.synthetic.clip import synthetic_frames
from mobilevos.tracking import Tracker

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Hard:
    """A clip that is hard for one reason."""

    why: str
    objects: int
    skip: int = 1
    scale: float = 1.0
    frames: int = 45

    def clip(self, seed: int) -> Iterator[Pair]:
        shown = synthetic_frames(frames=self.frames * self.skip, height=360, width=640, objects=self.objects, seed=seed)
        for index, (frame, ids) in enumerate(shown):
            if index % self.skip == 0:
                size = (round(640 * self.scale), round(360 * self.scale))
                yield (
                    cv2.resize(frame, size, interpolation=cv2.INTER_AREA),
                    cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST),
                )


CLIPS = (
    Hard("a crowd of look-alikes", 14),
    Hard("fast: every 5th frame", 5, skip=5, frames=20),
    Hard("small: 160 x 90 pixels", 8, scale=0.25),
)


def overlap(mask: np.ndarray, truth: np.ndarray) -> float:
    union = (mask | truth).sum()
    return float((mask & truth).sum() / union) if union else 1.0


def worst(tracker: Tracker, hard: Hard, seeds: range) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray]:
    """Mean overlap of all objects and frames, and the worst object's overlap, frame, truth and mask."""
    found: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
    for seed in seeds:
        for index, (frame, ids) in enumerate(hard.clip(seed)):
            if index == 0:
                tracker.start(frame, ids)
                continue
            result = tracker.step(frame)
            for identity in result.ids:
                truth = ids == identity
                if truth.sum() >= 0.002 * truth.size:
                    mask = result.mask == identity
                    found.append((overlap(mask, truth), frame, truth, mask))
    least = min(found, key=lambda entry: entry[0])
    return float(np.mean([entry[0] for entry in found])), *least


def drawn(frame: np.ndarray, mask: np.ndarray, text: str) -> np.ndarray:
    """A frame with an outline and a line of text."""
    picture = cv2.resize(frame, (480, 270), interpolation=cv2.INTER_CUBIC)
    outline, _ = cv2.findContours(
        cv2.resize(mask.astype(np.uint8), (480, 270), interpolation=cv2.INTER_NEAREST),
        cv2.RETR_EXTERNAL,
        cv2.CHAIN_APPROX_NONE,
    )
    cv2.drawContours(picture, outline, -1, (0, 0, 0), 4)
    cv2.drawContours(picture, outline, -1, (255, 255, 255), 2)
    cv2.rectangle(picture, (0, 0), (480, 24), (20, 20, 20), -1)
    cv2.putText(picture, text, (8, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (255, 255, 255), 1, cv2.LINE_AA)
    return picture


def main(model: str, folder: Path) -> None:
    tracker = Tracker(load_runtime(model))
    rows = []
    for hard in CLIPS:
        mean, least, frame, truth, mask = worst(tracker, hard, range(2))
        print(f"{hard.why}: mean J {mean:.3f}, worst {least:.3f}")
        rows.append(
            np.hstack(
                [
                    drawn(frame, truth, f"{hard.why}: truth"),
                    drawn(frame, mask, f"model, J {least:.2f} here, mean {mean:.2f}"),
                ]
            )
        )
    folder.mkdir(parents=True, exist_ok=True)
    sheet = cv2.cvtColor(np.vstack(rows), cv2.COLOR_RGB2BGR)
    cv2.imwrite(str(folder / f"failures-{model}.png"), sheet, [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
