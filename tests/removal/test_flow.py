"""The motion of the background, with an object in front that moves otherwise."""

import cv2
import numpy as np
import pytest

from mobilevos.removal.flow import background_flow, complete
from mobilevos.synthetic.creatures import smooth_noise


@pytest.fixture(scope="module")
def wall() -> np.ndarray:
    noise = smooth_noise(np.random.default_rng(0), 200, 260, 12, octaves=4)
    return np.clip(128 + 50 * noise[..., None] + np.zeros(3), 0, 255).astype(np.uint8)


def view(wall: np.ndarray, angle: float, x: float, y: float) -> np.ndarray:
    turn = cv2.getRotationMatrix2D((130, 100), angle, 1.0)
    turn[:, 2] += (x, y)
    return cv2.warpAffine(wall, turn, (260, 200), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)[20:180, 30:230]


def test_behind_an_object_it_is_the_motion_of_the_camera(wall: np.ndarray) -> None:
    """The camera turns by one degree and shifts; a square in front goes the other way."""
    frames = [view(wall, 0, 0, 0), view(wall, 1.0, 3, -2)]
    holes = []
    for frame, left in zip(frames, (80, 72), strict=True):
        hole = np.zeros(frame.shape[:2], bool)
        hole[50:110, left : left + 60] = True
        frame[hole] = (30, 200, 90)
        holes.append(hole)
    flow = background_flow(frames[0], frames[1], *holes)
    turn = cv2.getRotationMatrix2D((100, 80), 1.0, 1.0)
    y, x = np.mgrid[:160, :200].astype(np.float32)
    expected = np.stack([turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] + 3 - x,
                         turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] - 2 - y], -1)  # fmt: skip
    error = np.hypot(*np.moveaxis(flow - expected, -1, 0))
    assert error[holes[0]].mean() < 0.5
    assert error[20:-20, 20:-20].mean() < 0.5


def test_filling_in_keeps_what_is_known_and_is_smooth() -> None:
    y, x = np.mgrid[:40, :50].astype(np.float32)
    plane = np.stack([0.5 * x - 3, 0.2 * y + x], -1)
    known = np.ones((40, 50), bool)
    known[12:28, 15:35] = False
    filled = complete(np.where(known[..., None], plane, 1000.0).astype(np.float32), known)
    np.testing.assert_allclose(filled[known], plane[known], atol=1e-4)
    assert np.abs(filled - plane)[~known].mean() < 1.5
    assert filled[~known].min() >= plane.min()
    assert filled[~known].max() <= plane.max()


def test_nothing_is_known() -> None:
    assert not complete(np.ones((8, 8, 2), np.float32), np.zeros((8, 8), bool)).any()
    black = np.zeros((32, 32, 3), np.uint8)
    everywhere = np.ones((32, 32), bool)
    assert not background_flow(black, black, everywhere, everywhere).any()
