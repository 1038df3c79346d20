"""Where the window is and how close it looks: numbers by hand, and what holds for all objects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.window import (
    CLOSER,
    FARTHER,
    GIVE_ROOM,
    LARGEST_SHARE,
    MOST_ZOOM,
    SEARCH,
    SMOOTH,
    TARGET,
    Extent,
    LookAhead,
    closest_zoom,
    extent_of,
    extent_of_mask,
    first_look,
    is_cut,
    is_roomy,
    joined,
    look_around,
    next_look,
    palette_of,
    whole_frame,
    winners,
)

WHOLE = Geometry.fit(480, 960, 320)
"""Two of the network's pixels for three of the frame's; no padding."""
WIDE = Geometry.fit(480, 960, 320, windowed=True)
"""The same seen through windows, which are 432 of the network's pixels wide at most, that is 648 of the frame's."""


def block(left: float, top: float, width: float, height: float) -> Extent:
    """A full rectangle."""
    return Extent(left, top, left + width, top + height, width * height)


blocks = st.builds(
    block,
    st.floats(0, 900),
    st.floats(0, 440),
    st.floats(1, 960),
    st.floats(1, 480),
).map(lambda e: Extent(e.left, e.top, min(e.right, 960), min(e.bottom, 480), e.area))
looks = st.builds(
    LookAhead,
    st.floats(0, 960),
    st.floats(0, 480),
    st.floats(1, MOST_ZOOM),
    st.tuples(st.floats(-40, 40), st.floats(-40, 40)),
    st.tuples(st.floats(-20, 20), st.floats(-20, 20)),
    st.none() | blocks,
)


@pytest.mark.parametrize(
    ("extent", "room", "zoom"),
    [
        (block(300, 100, 195, 195), (0, 0), 1.0),  # 130 pixels of the network already
        (block(300, 100, 400, 300), (0, 0), 1.0),  # larger than that
        (block(300, 100, 130, 130), (0, 0), 1.5),  # 195 / 130
        (block(300, 100, 60, 60), (0, 0), MOST_ZOOM),  # 195 / 60 = 3.25 is too much
        (block(300, 100, 400, 20), (0, 0), 1.2),  # half of the window's width: 480 / 400
        (block(300, 100, 20, 200), (0, 0), 1.2),  # of its height: 240 / 200
        (block(300, 100, 130, 130), (60, 0), 1.5),  # 480 / 250 is room enough
        (block(300, 100, 130, 130), (115, 0), 480 / 360),
        (block(300, 100, 130, 130), (0, 35), 1.2),  # 240 / 200
        (block(300, 100, 130, 130), (0, 500), 1.0),
    ],
)
def test_how_close_by_hand(extent: Extent, room: tuple[float, float], zoom: float) -> None:
    assert TARGET / WHOLE.scale == pytest.approx(195)
    assert closest_zoom(WHOLE, extent, room) == pytest.approx(zoom)


@given(blocks, st.tuples(st.floats(0, 300), st.floats(0, 300)))
def test_objects_have_room_in_every_window(extent: Extent, room: tuple[float, float]) -> None:
    zoom = closest_zoom(WHOLE, extent, room)
    assert 1 <= zoom <= MOST_ZOOM
    if zoom > 1:
        assert extent.right - extent.left + 2 * room[0] <= LARGEST_SHARE * WHOLE.width / zoom * (1 + 1e-9)
        assert extent.bottom - extent.top + 2 * room[1] <= LARGEST_SHARE * WHOLE.height / zoom * (1 + 1e-9)


@pytest.mark.parametrize(
    ("extent", "zoom"),
    [
        (block(300, 100, 130, 130), 1.5),  # as in a window that is as wide as the frame
        (block(300, 100, 480, 20), 1.0),  # half of the frame
        (block(300, 100, 583, 20), 1.0),  # 0.9 of the window's own width
        (block(300, 100, 600, 20), 0.9 * 648 / 600),  # no longer: from farther away
        (block(0, 100, 960, 20), 648 / 960),  # all of the frame
    ],
)
def test_how_close_in_a_wide_frame(extent: Extent, zoom: float) -> None:
    assert closest_zoom(WIDE, extent) == pytest.approx(zoom)


@pytest.mark.parametrize(
    ("extents", "roomy"),
    [
        ([block(300, 100, 450, 330)], True),  # 0.7 of 648, of 480
        ([block(300, 100, 460, 100)], False),
        ([block(300, 100, 100, 340)], False),
        ([block(300, 100, 50, 50), block(360, 100, 50, 50)], False),  # they may move apart
        ([None], False),
        ([], False),
    ],
)
def test_one_object_that_is_not_too_large_is_followed_through_narrow_windows(
    extents: list[Extent | None], roomy: bool
) -> None:
    assert is_roomy(WIDE, extents) == roomy


def test_a_mark_is_looked_at_with_what_is_around_it() -> None:
    """Small as it is: what it is a mark of may be large."""
    look = look_around(WIDE, block(700, 100, 8, 8))
    assert look.zoom == 1.0
    assert look.geometry(WIDE).box == (0, 960 - 648, 480, 648)
    assert look_around(WIDE, block(20, 100, 900, 8)).geometry(WIDE).is_whole
    assert look_around(WIDE, None) == whole_frame(WIDE)


@pytest.mark.parametrize("whole", [WHOLE, WIDE], ids=["plain", "wide"])
@given(extent=blocks)
def test_the_first_window_shows_all_of_the_objects(whole: Geometry, extent: Extent) -> None:
    top, left, height, width = first_look(whole, extent).geometry(whole).box
    assert left <= extent.left
    assert extent.right <= left + width
    assert top <= extent.top
    assert extent.bottom <= top + height


def test_nothing_to_look_at_is_the_whole_frame() -> None:
    assert first_look(WHOLE, None) == whole_frame(WHOLE) == LookAhead(480, 240, 1.0)
    assert whole_frame(WHOLE).geometry(WHOLE) == WHOLE


@given(looks, blocks)
def test_the_zoom_changes_gently(last: LookAhead, found: Extent) -> None:
    zoom = next_look(WHOLE, last, found).zoom
    assert max(1.0, last.zoom / GIVE_ROOM) - 1e-9 <= zoom <= last.zoom * CLOSER + 1e-9
    assert zoom <= MOST_ZOOM + 1e-9


@given(blocks, st.floats(1, MOST_ZOOM))
def test_an_object_that_stays_is_shown_at_its_size_in_the_end(found: Extent, zoom: float) -> None:
    look = LookAhead(*found.center, zoom, extent=found)
    for _ in range(12):
        look = next_look(WHOLE, look, found)
    assert look.zoom == pytest.approx(closest_zoom(WHOLE, found))
    assert (look.x, look.y) == pytest.approx(found.center)


def test_lost_objects_are_looked_for_in_all_of_the_frame() -> None:
    look = LookAhead(300, 200, MOST_ZOOM, (20.0, -8.0), (3.0, 3.0), block(280, 180, 40, 40))
    look = next_look(WHOLE, look, None)
    assert (look.x, look.y, look.zoom, look.speed, look.growth) == (300, 200, MOST_ZOOM / SEARCH, (0, 0), (0, 0))
    for _ in range(3):
        look = next_look(WHOLE, look, None)
        assert look.geometry(WHOLE) == WHOLE


def test_lost_objects_are_looked_for_on_either_side_of_a_wide_frame() -> None:
    look, lefts = LookAhead(300, 200, MOST_ZOOM, extent=block(280, 180, 40, 40)), []
    for _ in range(4):
        look = next_look(WIDE, look, None)
        top, left, height, width = look.geometry(WIDE).box
        assert (top, height, width) == (0, 480, 648)
        lefts.append(left)
    assert lefts == [0, 960 - 648, 0, 960 - 648]  # where it was, which is at the left, then in turns


@given(looks)
def test_every_search_ends_at_the_whole_frame(look: LookAhead) -> None:
    for _ in range(2):
        look = next_look(WHOLE, look, None)
    assert look.geometry(WHOLE) == WHOLE


@pytest.mark.parametrize(
    ("found", "factor"),
    [
        (block(380, 140, 200, 200), FARTHER),  # 20 pixels of 240 above and below
        (block(380, 130, 200, 200), GIVE_ROOM),  # 10 above: less than 0.06 x 240
        (block(380, 150, 200, 200), GIVE_ROOM),  # 10 below
        (block(250, 140, 200, 200), GIVE_ROOM),  # 10 on the left: less than 0.06 x 480
        (block(500, 140, 200, 200), GIVE_ROOM),  # 20 on the right
        (block(300, 100, 200, 100), GIVE_ROOM),  # beyond the window
    ],
)
def test_objects_near_the_windows_border_get_room(found: Extent, factor: float) -> None:
    last = LookAhead(480, 240, 2.0, extent=found)
    assert last.geometry(WHOLE).box == (120, 240, 240, 480)
    assert next_look(WHOLE, last, found).zoom == pytest.approx(2.0 / factor)


def test_the_frames_own_border_is_not_tight() -> None:
    found = block(0, 0, 200, 200)
    last = LookAhead(100, 100, 2.0, extent=found)
    assert last.geometry(WHOLE).box[:2] == (0, 0)
    assert next_look(WHOLE, last, found).zoom == pytest.approx(2.0 / FARTHER)


def test_the_window_is_ahead_of_what_moves() -> None:
    """By the speed that is expected: a quarter of the newest motion, three quarters of what was expected before."""
    assert SMOOTH == 0.25
    first = LookAhead(100, 100, 1.0, extent=block(80, 80, 40, 40))
    second = next_look(WHOLE, first, block(100, 90, 40, 48))
    assert second.speed == (0.25 * 20, 0.25 * 14)
    assert second.growth == (0, 0.25 * 8)
    assert (second.x, second.y) == (120 + 5, 114 + 3.5)
    assert second.extent == block(100, 90, 40, 48)
    third = next_look(WHOLE, second, block(120, 100, 40, 48))
    assert third.speed == (0.75 * 5 + 0.25 * 20, 0.75 * 3.5 + 0.25 * 10)
    assert (third.x, third.y) == (140 + 8.75, 124 + 5.125)


def test_fast_and_growing_objects_are_shown_with_more_around_them() -> None:
    """130 x 130 pixels: 1.5 times as large at rest; at 60 pixels a frame downwards 240 / (130 + 2 x 60) < 1."""
    found = block(300, 100, 130, 130)
    at_rest = LookAhead(365, 165, 1.5, extent=found)
    assert next_look(WHOLE, at_rest, found).zoom == pytest.approx(1.5)
    fast = LookAhead(365, 165, 1.5, (0.0, 80.0), extent=found)
    assert next_look(WHOLE, fast, found).zoom == pytest.approx(1.5 / FARTHER)
    growing = LookAhead(365, 165, 1.5, (0.0, 0.0), (0.0, 80.0), extent=found)
    assert next_look(WHOLE, growing, found).zoom == pytest.approx(1.5 / FARTHER)
    shrinking = LookAhead(365, 165, 1.5, (0.0, 0.0), (0.0, -80.0), extent=found)
    assert next_look(WHOLE, shrinking, found).zoom == pytest.approx(1.5)


def test_what_is_found_after_nothing_was_known_has_no_speed() -> None:
    assert next_look(WHOLE, whole_frame(WHOLE), block(100, 100, 40, 40)).speed == (0, 0)


def test_cells_without_their_padding_are_places_of_the_frame() -> None:
    padded = Geometry.fit(480, 854, 480)  # as large as the frame, with 5 pixels on the left and on the right
    assert padded.padding == (0, 0, 5, 5)
    inside = np.zeros((120, 216), bool)
    inside[10:20, 20:30] = True
    assert extent_of(inside, padded) == Extent(75, 40, 115, 80, 1600)
    inside[:] = True
    assert extent_of(inside, padded) == Extent(0, 0, 854, 480, 120 * 216 * 16)
    assert extent_of(np.zeros((120, 216), bool), padded) is None


def test_cells_of_a_window_are_places_of_the_frame() -> None:
    window = WHOLE.window(480, 240, 2.0)  # 240 .. 720, 120 .. 360; a cell is 3 x 3 of the frame's pixels
    inside = np.zeros((80, 160), bool)
    inside[10:20, 20:40] = True
    found = extent_of(inside, window)
    assert found is not None
    assert (found.left, found.top, found.right, found.bottom) == (300, 150, 360, 180)
    assert found.area == pytest.approx(60 * 30)


@given(st.integers(0, 70), st.integers(0, 150), st.integers(1, 10), st.integers(1, 10), looks)
def test_what_a_window_shows_lies_in_it(top: int, left: int, height: int, width: int, look: LookAhead) -> None:
    inside = np.zeros((80, 160), bool)
    inside[top : top + height, left : left + width] = True
    geometry = look.geometry(WHOLE)
    found = extent_of(inside, geometry)
    assert found is not None
    y, x, rows, columns = geometry.box
    assert x <= found.left < found.right <= x + columns
    assert y <= found.top < found.bottom <= y + rows
    assert found.area == pytest.approx((found.right - found.left) * (found.bottom - found.top), rel=0.02)


def test_extent_of_a_mask() -> None:
    mask = np.zeros((50, 60), bool)
    mask[10:20, 30:45] = True
    mask[12, 50] = True
    assert extent_of_mask(mask) == Extent(30, 10, 51, 20, 151)
    assert extent_of_mask(np.zeros((50, 60), bool)) is None


def test_several_objects_have_one_box_and_their_mean_size() -> None:
    assert joined([block(10, 50, 10, 10), block(40, 20, 30, 10)]) == Extent(10, 20, 70, 60, 200)


def test_winners_are_looked_at_coarsely() -> None:
    probabilities = np.zeros((3, 16, 16), np.float32)
    probabilities[0] = 0.5
    probabilities[2, 4:8] = 0.6
    assert winners(probabilities).tolist() == [[0] * 4, [2] * 4, [0] * 4, [0] * 4]


def test_a_palette_by_hand() -> None:
    """Colours are told apart by the three highest bits of each channel: red 7, green 0, blue 1 is 7 x 64 + 1."""
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[0] = (255, 31, 32)
    palette = palette_of(frame)
    assert palette.shape == (512,)
    assert {i: palette[i] for i in np.flatnonzero(palette).tolist()} == {0: 0.75, 7 * 64 + 1: 0.25}


@pytest.mark.parametrize("seed", range(4))
def test_noise_and_motion_are_no_cut_and_another_scene_is(seed: int) -> None:
    frames = synthetic_clip(frames=3, height=270, width=480, objects=2, seed=seed)[0]
    palettes = [palette_of(frame) for frame in frames]
    assert palettes[0].sum() == pytest.approx(1)
    rng = np.random.default_rng(seed)
    noisy = np.clip(frames[0] + rng.normal(0, 6, frames[0].shape), 0, 255).astype(np.uint8)
    assert not is_cut(palettes[0], palette_of(noisy))
    assert not is_cut(palettes[0], palettes[2])
    assert is_cut(palettes[0], palette_of(255 - frames[0]))
    plain = np.full_like(frames[0], (210, 60, 200))
    assert is_cut(palettes[0], palette_of(plain))
    assert is_cut(palette_of(plain), palettes[0])


@pytest.mark.xfail(strict=True, reason="colours on either side of a multiple of 32 have nothing in common")
def test_a_flicker_of_a_plain_scene_is_no_cut() -> None:
    plain = np.full((90, 160, 3), 126, np.uint8)
    assert not is_cut(palette_of(plain), palette_of(plain + 4))
