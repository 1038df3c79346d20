"""Fixtures of the evaluation tests."""

from pathlib import Path

import pytest

from tests.builders.youtube import write_youtube
from tests.evaluation.youtube_case import VIDEOS, plain, truths_of


@pytest.fixture
def youtube(tmp_path: Path) -> Path:
    """Clips with a picture every 5 frames, 5 frames beyond the listed ones on either side."""
    frames = {number: plain(number) for number in range(0, 30, 5)}
    return write_youtube(tmp_path / "valid", {clip: (frames, truths_of(clip)) for clip in VIDEOS}, VIDEOS)
