"""Objects that share a window: what a group remembers, and of whom."""

from dataclasses import replace

import numpy as np

from mobilevos.tracking.confidence import confidence
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.group import Group
from mobilevos.tracking.recall import cells
from mobilevos.tracking.window import TRUSTED, LookAhead
from tests.pipeline.colours import ColourRuntime
from tests.tracking.scenes import HEIGHT, WIDTH, Places, ids_of, picture

RUNTIME = ColourRuntime()
WHOLE = Geometry.fit(HEIGHT, WIDTH, 160)
PLACES = {1: (30, 30), 2: (100, 60), 3: (150, 20)}
LOOK = LookAhead(109, 54.5, 2.2)
"""The upper left corner: 218 x 109 pixels."""


def begin(ids: tuple[int, ...] = (1, 2, 3)) -> Group:
    return Group.begin(RUNTIME, picture(PLACES), ids_of(PLACES), ids, WHOLE, LOOK, length=2, every=5)


def step(group: Group, time: int, places: Places = PLACES) -> Group:
    return group.step(RUNTIME, picture(places), LOOK.geometry(WHOLE), time)[0]


def test_objects_keep_their_order() -> None:
    group = begin((3, 1, 2))
    assert group.ids == (3, 1, 2)
    geometry = group.current.geometry
    assert geometry.box == (0, 0, 109, 218)
    np.testing.assert_array_equal(group.current.masks, geometry.masks(ids_of(PLACES), (3, 1, 2)))


def test_a_step_changes_nothing_of_what_was() -> None:
    group = begin()
    values = group.queue.memory.values.copy()
    after, sight = group.step(RUNTIME, picture(PLACES), LOOK.geometry(WHOLE), 1)
    np.testing.assert_array_equal(group.queue.memory.values, values)
    assert [seen.time for seen in group.queue.seen] == [0, 0]
    assert [seen.time for seen in after.queue.seen] == [0, 1]
    assert after.current.time == 1
    assert sight.ids == (1, 2, 3)


def test_where_its_objects_are() -> None:
    group, sight = begin().step(RUNTIME, picture(PLACES), LOOK.geometry(WHOLE), 1)
    trust = confidence(sight)
    assert list(trust) == [1, 2, 3]
    assert min(trust.values()) > 0.7
    found = group.extent(sight, trust)
    assert found is not None
    np.testing.assert_allclose((found.left, found.top, found.right, found.bottom), (30, 20, 174, 84), atol=3)
    assert group.extent(sight, trust | {2: TRUSTED}) == found
    assert group.extent(sight, trust | {2: TRUSTED - 0.01}) is None  # one is doubted


def test_an_object_that_comes_and_goes_leaves_no_trace() -> None:
    group = step(begin((1, 2)), 1)
    with_third = group.with_objects(RUNTIME, (3,))
    assert with_third.ids == (1, 2, 3)
    assert with_third.queue.memory.values.shape[0] == 3
    assert not with_third.queue.memory.values[2].any()  # nowhere in all frames so far
    assert not with_third.current.masks[2].any()
    back = with_third.without(3)
    np.testing.assert_array_equal(back.queue.memory.values, group.queue.memory.values)
    np.testing.assert_array_equal(back.current.masks, group.current.masks)
    assert back.ids == group.ids


def test_what_is_drawn_is_an_anchor() -> None:
    group = step(begin(), 1)
    geometry = group.current.geometry
    masks = geometry.masks(ids_of(PLACES), group.ids)
    drawn = group.annotated(RUNTIME, group.current.frame, masks, geometry)
    assert drawn.queue.anchors == 2
    assert [seen.time for seen in drawn.queue.seen] == [0, 1, 1]
    np.testing.assert_array_equal(drawn.current.masks, masks)


def test_what_looks_like_an_object_is_told_by_its_last_annotation() -> None:
    """1 is annotated again where 3 was; 2 and 3 are nowhere in that frame, and as they were."""
    group = begin()
    geometry = group.current.geometry
    masks = geometry.masks(ids_of({1: PLACES[3]}), group.ids)
    group = step(group, 1).annotated(RUNTIME, group.current.frame, masks, geometry)
    _, sight = group.step(RUNTIME, picture(PLACES), geometry, 2)
    assert sight.alike is not None
    expected = cells(geometry.masks(ids_of({1: PLACES[3], 2: PLACES[2], 3: PLACES[3]}), (3, 2, 3)))[:, ::2, ::2]
    np.testing.assert_allclose(sight.alike, expected, atol=0.1)


def test_an_annotated_frame_as_a_sight() -> None:
    group = begin()
    sight = group.as_annotated()
    np.testing.assert_allclose(sight.probabilities.sum(0), 1, atol=1e-6)
    np.testing.assert_array_equal(sight.probabilities[1:], group.current.masks)
    twice = replace(group, current=replace(group.current, masks=np.ones_like(group.current.masks)))
    assert not twice.as_annotated().probabilities[0].any()  # never below 0
