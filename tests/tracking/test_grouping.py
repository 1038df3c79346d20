"""Which objects share a window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilevos.tracking import grouping
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.grouping import LIMIT, closest_pair, cost, guests, partition
from mobilevos.tracking.window import Extent, LookAhead, closest_zoom, first_look, joined

PAYS = 2.0
"""From which gain on objects get windows of their own here; by default they never do."""


@pytest.fixture(autouse=True)
def _windows_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "PAYS", PAYS)


WHOLE = Geometry.fit(480, 960, 320)


def square(x: float, y: float, side: float = 40) -> Extent:
    """Around a place."""
    return Extent(x - side / 2, y - side / 2, x + side / 2, y + side / 2, side * side)


CORNERS = {1: square(60, 60), 2: square(900, 60), 3: square(60, 420), 4: square(900, 420)}

places = st.builds(square, st.floats(100, 860), st.floats(100, 380), st.floats(4, 200))


def test_cost_by_hand() -> None:
    """0.62 for a window and 0.38 for each object in it."""
    assert cost([1]) == pytest.approx(1)
    assert cost([3, 1]) == pytest.approx(2 * 0.62 + 4 * 0.38)


def test_near_objects_share_a_window() -> None:
    assert partition(WHOLE, {3: square(400, 200), 7: square(500, 240)}) == [(3, 7)]


def test_small_objects_far_apart_get_their_own() -> None:
    """Each is shown 2.2 times as large alone, and not at all enlarged together."""
    assert partition(WHOLE, {3: square(60, 60), 7: square(900, 420)}) == [(3,), (7,)]


def test_large_objects_far_apart_share() -> None:
    """They would be shown hardly larger alone, which does not pay."""
    assert partition(WHOLE, {1: square(150, 240, 160), 2: square(800, 240, 160)}) == [(1, 2)]


def test_four_windows_are_what_may_be_paid() -> None:
    """A fifth object makes four windows cost 4 x 0.62 + 5 x 0.38 = 4.38.

    The window of 1 and 2 shows the whole frame and has all others as guests, so three windows cost 2.52 + 1 + 1.38.
    With 3 in it as well it is 2.52 + 1.38 = 3.9, which may be paid.
    """
    assert partition(WHOLE, CORNERS) == [(1,), (2,), (3,), (4,)]
    assert partition(WHOLE, CORNERS | {5: square(820, 380)}) == [(1, 2, 3), (4, 5)]


def test_objects_that_are_nowhere_share_the_first_window() -> None:
    extents = {1: None, 2: square(60, 60), 3: None, 4: square(900, 420)}
    assert partition(WHOLE, extents) == [(1, 2, 3), (4,)]
    assert partition(WHOLE, {5: None, 2: None}) == [(5, 2)]
    assert partition(WHOLE, {9: None}) == [(9,)]


@given(st.lists(st.none() | places, min_size=1, max_size=12))
def test_every_object_is_in_one_window_and_the_cost_is_bounded(extents: list[Extent | None]) -> None:
    numbered = dict(enumerate(extents, start=1))
    groups = partition(WHOLE, numbered)
    assert sorted(i for group in groups for i in group) == list(numbered)
    assert all(list(group) == sorted(group) for group in groups)
    seen = [[e for i in group if (e := numbered[i]) is not None] for group in groups]
    if len(groups) > 1:
        looks = [first_look(WHOLE, joined(group)) for group in seen]
        counts = []
        for group, look in zip(seen, looks, strict=True):
            others = [extent for other in seen if other is not group for extent in other]
            counts.append(len(group) + len(guests(look, WHOLE, dict(enumerate(others)))))
        assert cost(counts) <= LIMIT
        for a in range(len(seen)):
            for b in range(a):
                together = closest_zoom(WHOLE, joined(seen[a] + seen[b]))
                assert max(looks[a].zoom, looks[b].zoom) > PAYS * together  # each window pays


@given(st.lists(places, min_size=8, max_size=14))
def test_eight_and_more_objects_always_share(extents: list[Extent]) -> None:
    """Two windows with eight objects cost 2 x 0.62 + 8 x 0.38 = 4.28."""
    assert len(partition(WHOLE, dict(enumerate(extents)))) == 1


def test_who_is_a_guest_by_hand() -> None:
    """The window is 240 .. 720 across, 120 .. 360 down; a tenth of a guest's box is inside at least."""
    look = LookAhead(480, 240, 2.0)
    others = {
        1: square(480, 240, 100),
        2: square(200, 240, 100),  # 150 .. 250: a tenth
        3: square(199, 240, 100),
        4: square(200, 110, 100),  # a tenth across, 40 hundredths down
        5: None,
        6: square(760, 240, 90),  # 715 .. 805: 5 of 90
    }
    assert guests(look, WHOLE, others) == {1, 2}
    # 1.3 times as wide and high it is 168 .. 792 across, 84 .. 396 down
    assert guests(look, WHOLE, others, margin=1.3) == {1, 2, 3, 4, 6}


def test_the_closest_pair_loses_least() -> None:
    corners = [[extent] for extent in CORNERS.values()]
    assert closest_pair(WHOLE, [*corners, [square(820, 380)]]) == (3, 4)
    assert closest_pair(WHOLE, [*corners, [None]])[1] == 4  # who is lost loses nothing


def test_by_default_all_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    whole = Geometry.fit(480, 854, 320)
    corners = {1: Extent(0, 0, 20, 20, 400), 2: Extent(830, 460, 850, 480, 400)}
    assert partition(whole, corners) == [(1, 2)]
    monkeypatch.setattr(grouping, "PAYS", PAYS)
    assert partition(whole, corners) == [(1,), (2,)]
