import numpy as np
import pytest

from mobilevos.tracking.geometry import Geometry


@pytest.mark.parametrize(
    ("height", "width", "size", "scaled", "padding"),
    [
        (480, 854, 480, (480, 854), (0, 0, 5, 5)),
        (480, 910, 480, (480, 910), (0, 0, 1, 1)),
        (1080, 1920, 480, (480, 853), (0, 0, 5, 6)),
        (1920, 1080, 480, (853, 480), (5, 6, 0, 0)),
        (320, 480, 480, (320, 480), (0, 0, 0, 0)),
        (160, 200, 480, (320, 400), (0, 0, 0, 0)),
        (160, 200, 240, (240, 300), (0, 0, 2, 2)),
        (60, 100, 480, (240, 400), (0, 0, 0, 0)),
        (1, 3000, 480, (4, 12000), (6, 6, 0, 0)),
        (100, 60, None, (100, 60), (6, 6, 2, 2)),
        (1, 1, None, (1, 1), (7, 8, 7, 8)),
        (4320, 7680, None, (4320, 7680), (0, 0, 0, 0)),
    ],
)
def test_fit(height: int, width: int, size: int | None, scaled: tuple[int, int], padding: tuple[int, ...]) -> None:
    geometry = Geometry.fit(height, width, size)
    assert geometry.scaled == scaled
    assert geometry.padding == padding
    assert (scaled[0] + padding[0] + padding[1]) % 16 == 0
    assert (scaled[1] + padding[2] + padding[3]) % 16 == 0


def test_there_and_back_without_scaling_is_exact() -> None:
    rng = np.random.default_rng(0)
    geometry = Geometry.fit(37, 53, None)
    planes = rng.random((3, 37, 53)).astype(np.float32)
    assert geometry.planes(planes).shape == (3, 48, 64)
    np.testing.assert_array_equal(geometry.restore(geometry.planes(planes)), planes)


def test_scaling_keeps_things_in_place() -> None:
    """A block of an enlarged picture comes back where it was, to within a pixel of the smaller one."""
    geometry = Geometry.fit(400, 600, 100)
    mask = np.zeros((400, 600), np.uint8)
    mask[120:280, 200:440] = 7
    back = geometry.restore(geometry.masks(mask, [7]))[0] > 0.5
    inside = np.argwhere(back)
    np.testing.assert_allclose(inside.min(0), [120, 200], atol=2)
    np.testing.assert_allclose(inside.max(0), [279, 439], atol=2)


def test_a_window_is_inside_of_the_frame_and_as_costly_as_all_of_it() -> None:
    whole = Geometry.fit(480, 854, 320)
    assert whole.is_whole
    for x, y in ((0, 0), (427, 240), (853, 479), (-50, 900)):
        window = whole.window(x, y, 2.0)
        top, left, height, width = window.box
        assert (height, width) == (240, 427)
        assert 0 <= top <= 480 - height
        assert 0 <= left <= 854 - width
        assert window.scaled == whole.scaled
        assert window.scale == pytest.approx(2 * whole.scale, rel=1e-3)
    assert whole.window(400, 100, 1.0) == whole
    assert whole.window(400, 100, 2.0).whole == whole


def test_what_a_window_shows_comes_back_to_its_place() -> None:
    whole = Geometry.fit(400, 600, 200)
    window = whole.window(450, 100, 2.5)
    mask = np.zeros((400, 600), np.uint8)
    mask[60:140, 400:500] = 3
    mask[300:350, 20:60] = 3  # outside of the window
    back = window.restore(window.masks(mask, [3]))[0] > 0.5
    assert back.shape == (400, 600)
    inside = np.argwhere(back)
    np.testing.assert_allclose(inside.min(0), [60, 400], atol=1)
    np.testing.assert_allclose(inside.max(0), [139, 499], atol=1)


@pytest.mark.parametrize(
    ("height", "width", "view", "widest"),
    [
        (480, 854, (320, 432), 648 / 854),
        (1080, 1920, (320, 432), 1458 / 1920),
        (1920, 1080, (432, 320), 1458 / 1920),
        (480, 640, (320, 427), 1.0),  # no wider than the widest window
        (480, 480, (320, 320), 1.0),
        (480, 1920, (320, 640), 0.5),  # half of it
    ],
)
def test_windows_are_not_as_wide_as_wide_frames(height: int, width: int, view: tuple[int, int], widest: float) -> None:
    """All of a wide frame is seen smaller, with padding above and below; every window has one size with its padding."""
    whole = Geometry.fit(height, width, 320, windowed=True)
    assert whole.view == view
    assert whole.widest == pytest.approx(widest)
    assert whole.is_whole
    padded = tuple(side + -side % 16 for side in view)
    for zoom in (widest, (1 + widest) / 2, 1.0, 1.3, 2.2):
        window = whole.window(width / 3, height / 2, zoom)
        top, bottom, left, right = window.padding
        assert (window.scaled[0] + top + bottom, window.scaled[1] + left + right) == padded
        assert window.scale == pytest.approx(zoom * 320 / min(height, width), rel=0.01)
        assert window.scaled[0] / window.box[2] == pytest.approx(window.scaled[1] / window.box[3], rel=0.01)
        assert window.whole == whole


def test_a_wide_part_comes_back_to_its_place() -> None:
    """Where a window is wider than its view, the padding above and below is left out again."""
    whole = Geometry.fit(480, 960, 320, windowed=True)
    mask = np.zeros((480, 960), np.uint8)
    mask[100:300, 200:700] = 3
    for window in (whole, whole.window(480, 240, 0.8)):
        assert window.padding[0] > 16
        back = np.argwhere(window.restore(window.masks(mask, [3]))[0] > 0.5)
        np.testing.assert_allclose(back.min(0), [100, 200], atol=2)
        np.testing.assert_allclose(back.max(0), [299, 699], atol=2)
