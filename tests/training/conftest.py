"""A tiny set of photos and clips, and a recipe that trains on them in a second."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from mobilevos.media.masks import write_mask
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.training.recipe import Recipe, parse


@pytest.fixture(scope="session")
def tiny_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    frames, masks = synthetic_clip(frames=8, height=120, width=160, objects=2, seed=3)
    for folder in ("photos/images", "photos/masks", "davis/JPEGImages/480p/swim", "davis/Annotations/480p/swim"):
        (root / folder).mkdir(parents=True)
    for i, (frame, mask) in enumerate(zip(frames, masks, strict=True)):
        single = (mask == 1).astype(np.uint8)
        cv2.imwrite(str(root / f"photos/images/{i}.png"), frame[..., ::-1])
        write_mask(root / f"photos/masks/{i}.png", single)
        cv2.imwrite(str(root / f"davis/JPEGImages/480p/swim/{i:05d}.jpg"), frame[..., ::-1])
        write_mask(root / f"davis/Annotations/480p/swim/{i:05d}.png", single)
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
