"""What annotated frames say of another one by their keys alone."""

from __future__ import annotations

import numpy as np
import pytest

from mobilevos.tracking.recall import alike, cells, recalled


def test_cells_are_means() -> None:
    masks = np.zeros((2, 32, 48), np.float32)
    masks[1, :16, 16:24] = 1
    assert cells(masks).tolist() == [[[0, 0, 0], [0, 0, 0]], [[0, 0.5, 0], [0, 0, 0]]]


def test_what_has_the_same_key_is_read() -> None:
    keys = 10 * np.eye(6, dtype=np.float32).reshape(6, 1, 2, 3)  # all cells differ
    values = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
    key = keys[:, 0, ::-1].copy()
    np.testing.assert_allclose(recalled(key, keys, values)[0], values[0, 0, ::-1], atol=1e-4)


def test_weights_by_hand() -> None:
    """Two remembered cells at distances 1 and 3 from the key, in one channel: weights e^-1 and e^-9."""
    keys = np.array([1.0, -3.0], np.float32).reshape(1, 1, 1, 2)
    read = recalled(np.zeros((1, 1, 1), np.float32), keys, np.array([1.0, 0.0], np.float32).reshape(1, 1, 1, 2))
    assert read.item() == pytest.approx(np.exp(-1) / (np.exp(-1) + np.exp(-9)))


def test_some_cells_look_like_the_object() -> None:
    """Where the object was before, the ground is now; only one cell in two is compared, each way."""
    rng = np.random.default_rng(0)
    thing, ground = rng.normal(0, 4, (2, 8)).astype(np.float32)
    covered = np.zeros((1, 4, 6), np.float32)
    covered[0, :2, :2] = 1
    before = np.where(covered, thing[:, None, None], ground[:, None, None])
    now = before[:, ::-1, ::-1]
    found = alike(now, before, covered)
    assert found.shape == (1, 2, 3)
    np.testing.assert_allclose(found[0], [[0, 0, 0], [0, 0, 1]], atol=1e-3)
