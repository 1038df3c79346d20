"""Edge controls, with numbers by hand."""

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.edges import Edges, check_grow, grown, regrown, smoothed, without_holes, without_specks


def disk(radius: float, x: float = 32, y: float = 32, size: int = 64) -> np.ndarray:
    rows, columns = np.mgrid[:size, :size]
    return (rows - y) ** 2 + (columns - x) ** 2 <= radius**2


def test_specks_go_and_the_largest_part_stays() -> None:
    ids = np.zeros((40, 60), np.uint8)
    ids[5:25, 5:25] = 1  # 400 pixels
    ids[30:32, 30:31] = 1  # 2
    ids[30:33, 40:44] = 1  # 12
    ids[0:1, 59:60] = 2  # all there is of it
    assert (without_specks(ids, None) != ids).sum() == 0  # half a per cent of 400 is 2: not fewer
    found = without_specks(ids, 3)
    assert found[30:32, 30].tolist() == [0, 0]
    assert (found != ids).sum() == 2
    assert (without_specks(ids, 1000) > 0).sum() == 400 + 1
    np.testing.assert_array_equal(without_specks(ids, 0), ids)
    ids[5:25, 5:25] = 0
    ids[5:25, 5:27] = 1  # 440 pixels
    assert without_specks(ids, None)[30, 30] == 0


def test_a_part_that_touches_at_a_corner_is_no_speck() -> None:
    ids = np.zeros((10, 10), np.uint8)
    ids[2:6, 2:6] = 1
    ids[6, 6] = 1
    np.testing.assert_array_equal(without_specks(ids, 9), ids)


def test_holes_are_background_that_one_object_surrounds() -> None:
    ids = np.zeros((30, 40), np.uint8)
    ids[5:20, 5:25] = 1
    ids[8:10, 8:10] = 0  # 4 pixels
    ids[8:12, 14:18] = 0  # 16
    ids[15:17, 8:10] = 2  # another object is no hole
    ids[5:7, 20] = 0  # a bay
    ids[20:30, 30:40] = 3
    ids[29, 35] = 0  # at the border of the picture: who knows
    found = without_holes(ids, 5)
    assert (found[8:10, 8:10] == 1).all()
    assert (found != ids).sum() == 4
    assert (without_holes(ids, 17) != ids).sum() == 20
    np.testing.assert_array_equal(without_holes(ids, 0), ids)


def test_growing_is_by_distance() -> None:
    mask = np.zeros((21, 21), bool)
    mask[10, 10] = True
    assert np.array_equal(grown(mask, 5), disk(5, 10, 10, 21))
    assert np.array_equal(grown(disk(9, 10, 10, 21), -4), disk(5, 10, 10, 21))
    assert grown(mask, 100_000).all()
    assert not grown(mask, -1).any()
    full = np.ones((4, 4), bool)
    assert grown(full, -2).all()  # the border of the picture is no edge


def test_objects_that_grow_take_nothing_from_one_another() -> None:
    ids = np.zeros((9, 20), np.uint8)
    ids[:, 2:4] = 1
    ids[:, 8:10] = 2
    ids[:, 10:12] = 3
    row = regrown(ids, 3)[4].tolist()
    assert row == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0]
    assert regrown(ids, -1)[4].tolist() == [0] * 20
    assert regrown(np.repeat(ids, 3, axis=1), -1)[4].tolist()[6:12] == [0, 1, 1, 1, 1, 0]


def test_an_outline_that_trembles_comes_to_rest() -> None:
    """A disk that is a pixel larger, or smaller, in one frame only."""
    still = disk(15).astype(np.uint8)
    for radius in (14, 16):
        jump = disk(radius).astype(np.uint8)
        assert (smoothed([still, jump, still], 1) != still).sum() < 0.25 * (jump != still).sum()


@pytest.mark.parametrize("speed", [2, 6, 20])
def test_motion_is_no_trembling(speed: int) -> None:
    frames = [disk(8, 12 + speed * t).astype(np.uint8) for t in range(3)]
    changed = (smoothed(frames, 1) != frames[1]).sum()
    assert changed <= (8 if speed < 20 else 0)  # of 197 pixels


def test_other_objects_and_other_shots_are_left_alone() -> None:
    here = np.where(disk(8, 20), np.uint8(1), np.where(disk(8, 44), np.uint8(2), np.uint8(0)))
    other = np.where(disk(8, 44), np.uint8(1), np.uint8(0))
    np.testing.assert_array_equal(smoothed([other, here, other], 1), here)
    np.testing.assert_array_equal(smoothed([np.zeros_like(here), here, other], 1), here)
    np.testing.assert_array_equal(smoothed([here, here, here], 1), here)


def test_what_a_person_marked_is_only_grown() -> None:
    ids = disk(9).astype(np.uint8)
    ids[0, 0] = 1
    edges = Edges(despeckle=5, fill_holes=5, grow=-1)
    assert edges.cleaned(ids)[0, 0] == 0
    assert Edges(despeckle=5).cleaned(ids, marked=True)[0, 0] == 1
    assert (edges.cleaned(ids, marked=True) > 0).sum() < (ids > 0).sum()
    assert edges.settings() == {"despeckle": "5", "fill-holes": "5", "grow": "-1", "smooth": "0"}


def test_bad_controls() -> None:
    with pytest.raises(InputError, match="expected despeckle of 0 or more pixels, got -1"):
        Edges(despeckle=-1)
    with pytest.raises(InputError, match="expected to smooth over 0 to 8 frames to either side, got 9"):
        Edges(smooth=9)
    with pytest.raises(InputError, match="cannot grow masks by 100000 pixels: the frame has 96 x 64"):
        check_grow(100_000, 96, 64)
