"""A clip and its truth, small enough to be followed in a moment."""

from __future__ import annotations

import numpy as np
import pytest

from mobilevos.synthetic.clip import synthetic_clip


@pytest.fixture(scope="session")
def clip() -> tuple[np.ndarray, np.ndarray]:
    """Pictures (4, 96, 160, 3), ids (4, 96, 160) of two animals."""
    return synthetic_clip(frames=4, height=96, width=160, objects=2)
