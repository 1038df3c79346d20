"""A tiny set of photos and clips, and a recipe that trains on them in a second."""

from pathlib import Path

import numpy as np
import pytest

from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.training.recipe import Recipe, parse
from tests.builders.davis import write_davis
from tests.builders.photos import write_photos


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    frames, masks = synthetic_clip(frames=8, height=120, width=160, objects=2, seed=3)
    single = (masks == 1).astype(np.uint8)
    write_photos(root / "photos", {str(i): pair for i, pair in enumerate(zip(frames, single, strict=True))})
    write_davis(root / "davis", {"swim": (frames, single)})
    return root


@pytest.fixture
def tiny_recipe(tiny_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recipe:
    monkeypatch.chdir(tmp_path)  # the cache of decoded pictures goes below runs/
    return parse(
        Recipe,
        {
            "name": "tiny",
            "model": "mobilenetv2-lite",
            "data_root": str(tiny_data),
            "sources": [
                {"kind": "photos", "root": "photos"},
                {"kind": "davis", "root": "davis"},
            ],
            "phases": [
                {"until": 0.5, "batch_size": 2, "clip": {"size": 64, "frames": 3}},
                {"until": 1.0, "batch_size": 2, "clip": {"size": 64, "frames": 4}},
            ],
            "optimizer": {"warmup": 2},
            "spoil": 0.3,
            "loss": {"dice": 1.0, "prompt": 1.0},
            "iterations": 6,
            "workers": 0,
        },
        "",
    )
