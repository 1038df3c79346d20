"""A short clip of plain squares; files that need another one make their own."""

from pathlib import Path

import numpy as np
import pytest

from tests.pipeline.colours import squares, write_clip

COUNT = 12


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", COUNT)


@pytest.fixture(scope="module")
def truth() -> list[np.ndarray]:
    return [ids for _, ids in squares(COUNT)]
