"""How near removal comes to the truth: clips whose background is known, and what others would do there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mobilevos.arrays import VOID, Bits, Image
from mobilevos.benchmark.tables import Report, Say
from mobilevos.datasets.davis import davis_videos
from mobilevos.errors import InputError
from mobilevos.media.masks import write_mask
from mobilevos.media.video import read_frames
from mobilevos.removal import remove
from mobilevos.synthetic.clip import synthetic_frames

SEEDS = (1, 2, 3)
FRAMES = 40
INCLUDES = (
    "psnr_db: inside of what is taken out, over all frames; flicker: by how much the error changes there from frame to "
    "frame, in levels of 255; painted: share of what is hidden that no frame shows"
)


@dataclass(frozen=True)
class Case:
    """A clip with an object in it, and the same clip without it."""

    name: str
    frames: list[Image]
    truth: list[Image]
    hidden: list[Bits]


def benchmark_removal(cases: Sequence[Case] | Iterator[Case], *, progress: Say = lambda line: None) -> Report:
    """Take the objects out with their true masks, and compare with what is behind them."""
    rows: list[dict[str, Any]] = []
    for case in cases:
        pictures, painted = _removed(case)
        ways = {"removed": pictures, "inpainted": [_inpainted(*pair) for pair in _pairs(case)], "left in": case.frames}
        for way, result in ways.items():
            psnr, flicker = _quality(result, case)
            share = {"removed": round(painted, 3), "inpainted": 1.0, "left in": 0.0}[way]
            rows.append({"clip": case.name, "way": way, "psnr_db": psnr, "flicker": flicker, "painted": share})
            progress(f"{case.name}, {way}: {psnr:.1f} dB, flicker {flicker:.1f}")
    return Report("removal", rows, includes=INCLUDES)


def painted_cases(seeds: Sequence[int] = SEEDS, *, frames: int = FRAMES, height: int = 240) -> Iterator[Case]:
    """Our own painted clips: an animal goes, with its shadow."""
    for seed in seeds:
        clip = partial(synthetic_frames, frames=frames, height=height, width=height * 16 // 9, objects=2, seed=seed)
        shots = list(clip())
        truth = [frame for frame, _ in clip(without=[2])]
        hidden = [
            (ids == 2) | (np.abs(frame.astype(int) - bare).max(2) > 3)
            for (frame, ids), bare in zip(shots, truth, strict=True)
        ]
        yield Case(f"painted {seed}", [frame for frame, _ in shots], truth, hidden)


def pasted_cases(root: Path, pairs: Sequence[str], *, frames: int = FRAMES) -> Iterator[Case]:
    """Real clips of a DAVIS folder: what moves in one is put before another, as and where it was filmed.

    pairs: "background:object", the names of two clips.
    """
    for pair in pairs:
        names = pair.split(":")
        if len(names) != 2:
            raise InputError(f"expected the names of two clips as background:object, got {pair!r}")
        behind, moving = davis_videos(root, names)
        truth = [behind.picture(frame) for frame in list(behind.pictures)[:frames]]
        shots, hidden = [], []
        for ground, frame in zip(truth, moving.truths, strict=False):
            size = ground.shape[1], ground.shape[0]
            ids = moving.labels(frame)
            inside = cv2.resize(((ids > 0) & (ids < VOID)).astype(np.float32), size)
            other = cv2.resize(moving.picture(frame), size)
            mixed = ground + cv2.GaussianBlur(inside, (0, 0), 0.8)[..., None] * (other.astype(np.float32) - ground)
            shots.append(np.rint(mixed).astype(np.uint8))
            hidden.append(np.abs(shots[-1].astype(int) - ground).max(2) > 0)
        yield Case(f"{names[1]} before {names[0]}", shots, truth[: len(shots)], hidden)


def _pairs(case: Case) -> Iterator[tuple[Image, Bits]]:
    return zip(case.frames, case.hidden, strict=True)


def _removed(case: Case) -> tuple[list[Image], float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "frames").mkdir()
        (folder / "masks").mkdir()
        for index, (frame, hidden) in enumerate(_pairs(case)):
            cv2.imwrite(str(folder / "frames" / f"{index:05d}.png"), frame[..., ::-1])
            write_mask(folder / "masks" / f"{index:05d}.png", hidden.astype(np.uint8))
        done = remove(folder / "frames", folder / "masks", folder / "out")
        return [frame.rgb for frame in read_frames(done.video)], done.invented


def _inpainted(frame: Image, hidden: Bits) -> Image:
    """Frame by frame, by what OpenCV has."""
    gaps = cv2.dilate(hidden.astype(np.uint8), np.ones((5, 5)))
    return cv2.inpaint(frame, gaps, 5, cv2.INPAINT_TELEA).astype(np.uint8, copy=False)


def _quality(pictures: Sequence[Image], case: Case) -> tuple[float, float]:
    squares, changes, count = 0.0, [], 0
    before: tuple[np.ndarray, Bits] | None = None
    for picture, truth, hidden in zip(pictures, case.truth, case.hidden, strict=True):
        error = picture.astype(np.float32) - truth
        squares += float((error[hidden] ** 2).sum())
        count += 3 * int(hidden.sum())
        if before is not None:
            both = hidden & before[1]
            if both.any():
                changes.append(float(np.abs(error - before[0])[both].mean()))
        before = error, hidden
    psnr = 10 * np.log10(255**2 / max(squares / max(count, 1), 1e-6))
    return round(float(psnr), 2), round(float(np.mean(changes)) if changes else 0.0, 2)
