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
