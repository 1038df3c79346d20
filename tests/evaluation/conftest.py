"""Fixtures of the evaluation tests."""

import json
from pathlib import Path

import pytest

from tests.evaluation.youtube_case import META, TRUTHS, write, write_picture


@pytest.fixture
def youtube(tmp_path: Path) -> Path:
    """Clips with a picture every 5 frames, 5 frames beyond the listed ones on either side."""
    root = tmp_path / "valid"
    write(root / "Annotations", TRUTHS)
    (root / "meta.json").write_text(json.dumps(META))
    for clip in ("late", "plain"):
        for number in range(0, 30, 5):
            write_picture(root / "JPEGImages" / clip / f"{number:05d}.png", number)
    return root
