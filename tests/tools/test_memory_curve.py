"""The benchmark of memory, on a short video."""

import sys
from pathlib import Path

import pytest

from tests.pipeline.colours import tracker
from tools.memory_curve import MemoryCurve, measure_memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
def test_a_short_video(tmp_path: Path) -> None:
    curve = measure_memory(tracker(), tmp_path, frames=30, height=64, width=96, points=10)
    assert curve.frames == tuple(range(3, 31, 3))
    assert min(curve.bytes) > 1 << 20
    assert curve.rate > 0


def test_growth_is_that_of_the_second_half() -> None:
    assert MemoryCurve((1, 2, 3, 4), (0, 900, 1000, 1010), 1.0).growth == 10
