"""Meshes for tests: a square card, whose upper half is red and whose lower half is blue."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

CARD = """v -1 -1 0
v 1 -1 0
v 1 1 0
v -1 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
f 1/1 2/2 3/3
f 1/1 3/3 4/4
"""


def write_card(folder: Path, upper: tuple[int, int, int] = (220, 30, 30)) -> Path:
    """A card of two triangles as `model.obj`, with its picture beside it as `texture.png`, unnamed in the mesh."""
    folder.mkdir(parents=True, exist_ok=True)
    picture = np.zeros((8, 8, 3), np.uint8)
    picture[:4], picture[4:] = upper, (30, 30, 220)
    Image.fromarray(picture).save(folder / "texture.png")
    (folder / "model.obj").write_text(CARD)
    return folder / "model.obj"
