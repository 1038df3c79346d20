"""The pictures of the first screen, drawn by the package itself: before and after, and one of each clip to try.

python web/scripts/demo.py web/public/demo
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps
from sample import CLIPS

from mobilevos.media.overlay import matte
from mobilevos.synthetic.clip import synthetic_frames

WIDTH, HEIGHT, CROP = 1280, 720, 540
SMALL = 640, 270
SQUARE = 24
CARD = 264, 148
SHOWN = {"sample": 30, "sample-meet": 27, "sample-small": 14}
"""The frame of each clip that is shown."""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    picture, ids = next(iter(synthetic_frames(frames=1, height=HEIGHT, width=WIDTH, objects=3)))
    y, x = np.mgrid[:HEIGHT, :WIDTH] // SQUARE
    squares = np.where((y + x) % 2, 244, 201).astype(np.float32)[..., None] * np.array([1.0, 1.01, 1.03])
    alpha = matte(ids, 1.5)[..., None]
    after = np.clip(alpha * picture + (1 - alpha) * squares, 0, 255).astype(np.uint8)
    top = (HEIGHT - CROP) // 2
    for name, whole in (("before", picture), ("after", after)):
        part = Image.fromarray(whole[top : top + CROP]).resize(SMALL, Image.Resampling.LANCZOS)
        part.save(folder / f"{name}.webp", quality=76, method=6)
    for name, index in SHOWN.items():
        whole, _ = next(itertools.islice(CLIPS[name].drawn(), index, None))
        card = ImageOps.fit(Image.fromarray(whole), CARD, Image.Resampling.LANCZOS)
        card.save(folder / f"{name}.webp", quality=76, method=6)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
