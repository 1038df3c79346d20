"""The tracker with windows, over a stand-in for the network that follows plain colours."""

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from mobilevos.tracking.result import TrackResult
from mobilevos.tracking.snapshot import load_state, save_state
from mobilevos.tracking.window import MOST_ZOOM
from tests.pipeline.colours import ColourRuntime
from tests.tracking.scenes import HEIGHT, WIDTH, Places, ground, ids_of, overlap, picture


def begin(places: Places, **options: object) -> Tracker:
    """A tracker that has been shown where the squares are; 2 of the network's pixels for 3 of the frame's."""
    tracker = Tracker(ColourRuntime(), size=160, **options)  # type: ignore[arg-type]
    tracker.start(picture(places), ids_of(places))
    return tracker


def follow(tracker: Tracker, path: Sequence[Places]) -> list[TrackResult]:
    return [tracker.step(picture(places)) for places in path]


def zoom(tracker: Tracker) -> float:
    return tracker.state().group.look.zoom


def box(result: TrackResult) -> tuple[int, int, int, int]:
    """top, left, height, width of the window."""
    return result.sight.geometry.box


ACROSS = [{1: (10 + 9 * time, 40 + 3 * time)} for time in range(45)]
"""24 x 24 pixels of 480 x 240, from one corner to the other."""
WHOLE = 312 / WIDTH
"""Zoom: a view is 208 of the network's pixels wide, that is 312 of the frame's; at less than 1 it shows all of it."""
CLOSEST = (round(HEIGHT / MOST_ZOOM), round(312 / MOST_ZOOM))
"""height, width of the smallest window"""
FAR = [{1: (20, 30 + time), 2: (430, 190 - time)} for time in range(8)]
"""Two in opposite corners."""


def test_the_window_stays_around_a_small_object() -> None:
    tracker = begin(ACROSS[0])
    for places, result in zip(ACROSS[1:], follow(tracker, ACROSS[1:]), strict=True):
        assert overlap(result.mask, places, 1) > 0.95
        top, left, height, width = box(result)
        assert (height, width) == CLOSEST
        x, y = places[1]
        assert left + 20 <= x or left == 0
        assert x + 24 <= left + width - 20 or left + width == WIDTH
        assert top + 10 <= y or top == 0
        assert y + 24 <= top + height - 10 or top + height == HEIGHT


def test_outside_of_the_window_there_is_nothing() -> None:
    """A square of the same colour in the other corner is not looked at; with all of the frame in sight it is taken."""
    twin = picture({1: (20, 30)})
    twin[200:224, 440:464] = twin[40, 30]
    for window, found in (("auto", False), ("off", True)):
        tracker = begin({1: (20, 30)}, window=window)
        result = tracker.step(twin)
        assert (result.mask[:120, :240] == ids_of({1: (20, 30)})[:120, :240]).mean() > 0.999
        assert (result.mask[200:224, 440:464] == 1).all() == found
        top, left, height, width = box(result)
        outside = np.ones((HEIGHT, WIDTH), bool)
        outside[top : top + height, left : left + width] = False
        assert outside.any() == (window == "auto")
        assert not result.mask[outside].any()
        assert not result.probabilities[1:, outside].any()
        np.testing.assert_allclose(result.probabilities.sum(0), 1, atol=1e-5)


def test_what_leaves_is_looked_for_everywhere_and_found_when_it_comes_back() -> None:
    leaving = [{1: (400 + 10 * time, 100)} for time in range(8)]
    gone: list[Places] = [{1: (WIDTH, 100)}] * 20
    back = [{1: (20 + 4 * time, 20)} for time in range(15)]
    tracker = begin(leaving[0])
    follow(tracker, leaving[1:])
    away = follow(tracker, gone)
    assert not any(result.mask.any() for result in away)
    assert [result.confidence for result in away] == [{1: 0.0}] * 20
    lefts = [box(result)[1] for result in away[-4:]]  # all of the height, from side to side
    assert [box(result)[2:] for result in away[-4:]] == [(HEIGHT, 312)] * 4
    assert lefts in ([0, WIDTH - 312] * 2, [WIDTH - 312, 0] * 2)
    for places, result in zip(back, follow(tracker, back), strict=True):
        assert overlap(result.mask, places, 1) > 0.9
    assert zoom(tracker) == pytest.approx(MOST_ZOOM)


def test_one_of_several_that_is_lost_is_looked_for() -> None:
    """Both are in one window; 2 leaves it by a jump, faster than a window can be expected to follow."""
    near, apart = {1: (60, 60), 2: (100, 80)}, {1: (60, 60), 2: (440, 200)}
    tracker = begin(near)
    follow(tracker, [near] * 2)
    results = follow(tracker, [apart] * 7)
    assert results[0].confidence[2] == 0
    assert all(overlap(result.mask, apart, 1) > 0.9 for result in results)
    assert overlap(results[-1].mask, apart, 2) > 0.9


@pytest.mark.parametrize("length", [1, 5])
def test_a_cut_to_another_scene_and_back(length: int) -> None:
    """Meanwhile the object has gone to the other corner. All of the height is looked at then, from side to side."""
    other = ground(seed=1, low=200, high=250)
    tracker = begin({1: (20, 30)})
    follow(tracker, [{1: (20, 30)}] * 2)
    for _ in range(length):
        result = tracker.step(other)
        assert box(result)[2:] == (HEIGHT, 312)
        assert not result.mask.any()
    path: list[Places] = [{1: (430 - 2 * time, 190)} for time in range(15)]
    results = follow(tracker, path)
    assert box(results[0]) == (0, 84, HEIGHT, 312)
    for places, result in list(zip(path, results, strict=True))[2:]:
        assert overlap(result.mask, places, 1) > 0.9
    assert zoom(tracker) == pytest.approx(MOST_ZOOM)


@pytest.mark.parametrize("path", [ACROSS[:12], FAR], ids=["one object", "two"])
@pytest.mark.parametrize("queue", [2, 4, None])
def test_it_goes_on_from_a_state_to_the_same_bits(path: list[Places], queue: int | None, tmp_path: Path) -> None:
    tracker = begin(path[0], queue=queue)
    half = len(path) * 2 // 3
    follow(tracker, path[1:half])
    copy = pickle.loads(pickle.dumps(tracker.state()))
    save_state(tmp_path / "state.npz", tracker.state(), half - 1)
    expected = follow(tracker, path[half:])
    for state in (copy, load_state(tmp_path / "state.npz")[0]):
        other = Tracker(ColourRuntime(), size=160, queue=queue)
        other.restore(state)
        for ours, theirs in zip(follow(other, path[half:]), expected, strict=True):
            np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)
            np.testing.assert_array_equal(ours.mask, theirs.mask)
            assert ours.confidence == theirs.confidence
        assert other.state().group.look == tracker.state().group.look


@pytest.mark.parametrize("options", [{"window": "off"}, {"size": None}])
def test_without_windows_all_of_the_frame_is_looked_at(options: dict[str, object]) -> None:
    tracker = Tracker(ColourRuntime(), **{"size": 160, **options})  # type: ignore[arg-type]
    tracker.start(picture(FAR[0]), ids_of(FAR[0]))
    for places, result in zip(FAR[1:], follow(tracker, FAR[1:]), strict=True):
        assert result.sight.geometry.is_whole
        assert min(overlap(result.mask, places, i) for i in (1, 2)) > 0.85
    tracker.step(ground(seed=1, low=200, high=250))  # no cut is told
    assert tracker.state().palette is None


@pytest.mark.parametrize("bad", ["on", "", None])
def test_a_window_is_auto_or_off(bad: str) -> None:
    with pytest.raises(InputError, match="expected auto or off for the window, got"):
        Tracker(ColourRuntime(), window=bad)


def test_a_mark_of_a_small_object_is_looked_at_closely() -> None:
    tracker = Tracker(ColourRuntime(), size=160)
    frame, mark = picture({1: (300, 100)}), np.zeros((HEIGHT, WIDTH), np.uint8)
    mark[102:122, 302:322] = 1
    result = tracker.propose(frame, {1: mark})
    assert box(result)[2:] == CLOSEST
    assert overlap(result.mask, {1: (300, 100)}, 1) > 0.95
    assert Tracker(ColourRuntime(), size=160, window="off").propose(frame, {1: mark}).sight.geometry.is_whole


def test_the_window_opens_for_an_object_that_is_added() -> None:
    both = {1: (20, 30), 2: (430, 190)}
    tracker = begin({1: (20, 30)})
    tracker.step(picture(both))
    added = tracker.add(ids_of({2: both[2]}))
    np.testing.assert_array_equal(added.mask, ids_of(both))
    assert zoom(tracker) == WHOLE
    for result in follow(tracker, [both] * 3):
        assert min(overlap(result.mask, both, i) for i in (1, 2)) > 0.9


def test_the_window_closes_after_an_object_was_removed() -> None:
    both = {1: (20, 30), 2: (250, 190)}
    tracker = begin({1: (20, 30)})
    tracker.step(picture(both))
    tracker.add(ids_of({2: both[2]}))
    follow(tracker, [both] * 2)
    tracker.remove(2)
    for result in follow(tracker, [both] * 12):
        assert result.ids == (1,)
        assert overlap(result.mask, both, 1) > 0.85
    assert zoom(tracker) == pytest.approx(MOST_ZOOM)


def test_the_window_goes_where_a_correction_is() -> None:
    there = {1: (430, 190)}
    tracker = begin({1: (20, 30)})
    tracker.step(picture(there))
    np.testing.assert_array_equal(tracker.correct(ids_of(there)).mask, ids_of(there))
    result = tracker.step(picture(there))
    assert box(result) == (HEIGHT - CLOSEST[0], WIDTH - CLOSEST[1], *CLOSEST)
    assert overlap(result.mask, there, 1) > 0.95
    tracker.correct(np.zeros((HEIGHT, WIDTH), np.uint8))  # said to be nowhere: it may come from anywhere
    assert zoom(tracker) == 1.0


def test_one_object_is_followed_through_a_narrower_window_than_several() -> None:
    """Several may move apart; what covers most of the frame needs all of it."""
    large = np.zeros((HEIGHT, WIDTH), np.uint8)
    large[20:220, 20:460] = 1
    for mask, width in ((ids_of({1: (20, 30)}), 208), (ids_of({1: (20, 30), 2: (60, 60)}), 320), (large, 320)):
        tracker = Tracker(ColourRuntime(), size=160)
        tracker.start(picture({1: (20, 30)}), mask)
        assert tracker.state().geometry.view == (160, width)


def test_far_objects_share_a_window_and_keep_their_pixels() -> None:
    tracker = begin(FAR[0])
    for places, result in zip(FAR[1:], follow(tracker, FAR[1:]), strict=True):
        assert box(result) == (0, 0, HEIGHT, WIDTH)
        assert list(result.confidence) == [1, 2]
        assert min(overlap(result.mask, places, i) for i in (1, 2)) > 0.9
        np.testing.assert_allclose(result.probabilities.sum(0), 1, atol=1e-5)


def test_a_look_alike_that_is_followed_too_keeps_its_pixels() -> None:
    path = [{1: (100 + 2 * time, 60), 5: (300 - 2 * time, 100)} for time in range(40)]
    tracker = begin(path[0])
    for places, result in zip(path[1:], follow(tracker, path[1:]), strict=True):
        assert min(overlap(result.mask, places, i) for i in (1, 5)) > 0.7


def test_an_object_that_is_added_outside_of_the_window_after_restore() -> None:
    both = {1: (20, 30), 2: (430, 190)}
    tracker = begin({1: (20, 30)})
    tracker.step(picture(both))
    tracker.restore(tracker.state())
    with pytest.raises(InputError, match="outside of the window that was kept; hand the frame to restore"):
        tracker.add(ids_of({2: both[2]}))
    tracker.restore(tracker.state(), picture(both))
    tracker.add(ids_of({2: both[2]}))
    result = follow(tracker, [both] * 8)[-1]
    assert overlap(result.mask, both, 2) > 0.9
