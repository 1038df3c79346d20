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
    masks = rng.random((3, 37, 53)).astype(np.float32)
    assert geometry.masks(masks).shape == (3, 48, 64)
    np.testing.assert_array_equal(geometry.restore(geometry.masks(masks)), masks)


def test_scaling_keeps_things_in_place() -> None:
    """A block of an enlarged picture comes back where it was, to within a pixel of the smaller one."""
    geometry = Geometry.fit(400, 600, 100)
    mask = np.zeros((1, 400, 600), np.float32)
    mask[0, 120:280, 200:440] = 1
    back = geometry.restore(geometry.masks(mask))[0] > 0.5
    inside = np.argwhere(back)
    np.testing.assert_allclose(inside.min(0), [120, 200], atol=2)
    np.testing.assert_allclose(inside.max(0), [279, 439], atol=2)
