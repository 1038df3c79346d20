"""A short clip of plain squares, of COUNT frames in files that say so."""

from pathlib import Path

import numpy as np
import pytest

from tests.pipeline.colours import squares, write_clip


@pytest.fixture(scope="module")
def frames_of_the_clip(request: pytest.FixtureRequest) -> int:
    return int(getattr(request.module, "COUNT", 12))


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, frames_of_the_clip: int) -> Path:
    return write_clip(tmp_path_factory.mktemp("clip") / "zwei Quadrate.mp4", frames_of_the_clip)


@pytest.fixture(scope="module")
def truth(frames_of_the_clip: int) -> list[np.ndarray]:
    return [ids for _, ids in squares(frames_of_the_clip)]
