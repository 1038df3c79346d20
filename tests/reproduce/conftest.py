"""A tiny DAVIS to train on and to score on, and a place for what is made of it."""

from pathlib import Path

import numpy as np
import pytest

from mobilevos.reproduce.plan import Place
from mobilevos.synthetic.clip import synthetic_clip
from tests.builders.davis import write_davis

RECIPES = Path(__file__).parents[2] / "recipes" / "paper"

TINY = (
    "sources=[{kind: davis, root: davis}]",
    "phases=[{batch_size: 2, multi_object: 0.0, clip: {size: 64, frames: 3, min_pixels: 20}}]",
    "backbone=''",
    "value_backbone=''",
    "iterations=2",
    "workers=0",
    "precision=float32",
    "validation.size=64",
    "validation.minutes=0",
)


@pytest.fixture(scope="session")
def davis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data") / "davis"
    frames, masks = synthetic_clip(frames=5, height=64, width=96, objects=2, seed=3)
    clips = {"swim": (frames, masks), "dive": (frames[::-1], masks[::-1].astype(np.uint8))}
    return write_davis(root, clips, {"2016/val": ["swim", "dive"], "2017/val": ["swim", "dive"]})


@pytest.fixture
def place(davis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.chdir(tmp_path)  # the cache of decoded pictures goes below runs/
    monkeypatch.setattr("mobilevos.reproduce.score.SIZE", 64)
    return Place(
        folder=tmp_path / "reproduced",
        recipes=RECIPES,
        data=davis.parent,
        weights=tmp_path,
        davis=davis,
        teacher="mobilenetv2-lite",
        overrides=TINY,
    )
