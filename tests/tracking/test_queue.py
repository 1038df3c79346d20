"""Which frames are remembered."""

import numpy as np
import pytest

from mobilevos.runtime.base import written
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.queue import MOST_ANCHORS, MemoryQueue, Seen
from mobilevos.tracking.recall import recalled


def seen(time: int) -> Seen:
    return Seen(time, np.zeros((16, 16, 3), np.uint8), np.zeros((1, 16, 16), np.float32), Geometry.fit(16, 16, None))


def key_of(time: int) -> np.ndarray:
    return np.full((2, 1, 1), time, np.float32)


def values_of(time: int) -> np.ndarray:
    return np.full((1, 3, 1, 1), time, np.float32)


def run(queue: MemoryQueue, times: range) -> MemoryQueue:
    for now in times:
        slot = queue.slot(now)
        if slot is not None:
            queue = queue.with_frame(written(queue.at(now), slot, key_of(now), values_of(now)), slot, seen(now))
    return queue


def begin(length: int | None, every: int = 1) -> MemoryQueue:
    return MemoryQueue.begin(seen(0), key_of(0), values_of(0), length, every)


def times(queue: MemoryQueue) -> list[int]:
    stored = [s.time for s in queue.seen]
    np.testing.assert_array_equal(queue.memory.keys[0, :, 0, 0], stored)
    np.testing.assert_array_equal(queue.memory.values[0, 0, :, 0, 0], stored)
    return stored


@pytest.mark.parametrize(
    ("length", "every", "expected"),
    [
        (1, 1, [0]),
        (2, 1, [0, 20]),
        (5, 1, [0, 17, 18, 19, 20]),
        (None, 5, [0, 5, 10, 15, 20]),
        (None, 1, [*range(21)]),
    ],
)
def test_first_frame_and_latest_frames_stay(length: int | None, every: int, expected: list[int]) -> None:
    assert sorted(times(run(begin(length, every), range(1, 21)))) == expected


def test_an_unbounded_memory_has_the_previous_frame_too() -> None:
    assert sorted(times(run(begin(None, 5), range(1, 19)))) == [0, 5, 10, 15, 18]


def test_nearness_is_that_of_training() -> None:
    queue = run(begin(3), range(1, 3))
    assert times(queue) == [0, 2, 1] or times(queue) == [0, 1, 2]
    nearness = dict(zip(times(queue), queue.at(3).nearness.tolist(), strict=True))
    assert nearness == {0: 0, 1: 0.25, 2: 1}


def test_annotated_frames_stay_and_are_bounded() -> None:
    queue = begin(2)
    for now in range(1, 60):
        queue = run(queue, range(now, now + 1))
        if now % 10 == 0:
            queue = queue.with_anchor(seen(now), key_of(now), values_of(now))
    assert queue.anchors == MOST_ANCHORS
    assert times(queue) == [0, 30, 40, 50, 59]
    assert queue.at(60).nearness.tolist() == [0, 0, 0, 0, 1]


def test_an_unbounded_memory_holds_no_frame_twice() -> None:
    """Else the first frame has more than its share of every read."""
    queue = begin(None)
    assert times(queue) == [0]
    queue = run(queue, range(1, 4))
    assert times(queue) == [0, 1, 2, 3]
    queue = run(queue.with_anchor(seen(3), key_of(3), values_of(3)), range(4, 6))
    assert times(queue) == [0, 3, 1, 2, 4, 5]
    assert queue.anchors == 2
    sparse = run(begin(None, 5), range(1, 8))
    assert times(sparse) == [0, 5, 7]
    assert times(run(sparse.with_anchor(seen(7), key_of(7), values_of(7)), range(8, 10))) == [0, 7, 5, 9]


def test_a_frame_that_is_annotated_again_is_one_annotation() -> None:
    queue = run(begin(2), range(1, 5))
    for _ in range(3):
        queue = queue.with_anchor(seen(4), key_of(4), values_of(4))
    assert times(queue) == [0, 4, 4]
    assert queue.anchors == 2


def drawn(time: int, objects: int) -> tuple[Seen, np.ndarray, np.ndarray]:
    """A frame with so many objects, of which the last is in the left half: 16 x 32 pixels, two cells."""
    masks = np.zeros((objects, 16, 32), np.float32)
    masks[-1, :, :16] = 1
    frame = Seen(time, np.zeros((16, 32, 3), np.uint8), masks, Geometry.fit(16, 32, None))
    return frame, np.full((2, 1, 2), time, np.float32), np.full((objects, 3, 1, 2), time, np.float32)


def with_late_objects(length: int | None, every: int = 10) -> MemoryQueue:
    """Five objects, given at frames 0, 10, 20, 30 and 40; values say when a mask was made."""
    queue = MemoryQueue.begin(*drawn(0, 1), length, 5)
    for now in range(1, 46):
        objects = 1 + (now - 1) // every
        shown, key, values = drawn(now, min(objects, 5))
        slot = queue.slot(now)
        if slot is not None:
            queue = queue.with_frame(written(queue.at(now), slot, key, values), slot, shown)
        if now % every == 0 and now <= 40:
            absent = np.full((1, 3, queue.memory.slots, 1, 2), -1, np.float32)
            queue = queue.with_objects(absent).with_anchor(*drawn(now, objects + 1))
    return queue


@pytest.mark.parametrize("length", [1, 2, 3, None])
def test_objects_that_come_late_keep_their_annotations(length: int | None) -> None:
    queue = with_late_objects(length)
    assert queue.anchors == 5 > MOST_ANCHORS
    assert [s.time for s in queue.seen[:5]] == [0, 10, 20, 30, 40]
    assert queue.given == tuple(frozenset({index}) for index in range(5))
    drawn_half, rest = queue.memory.values[:, 0, :5, 0, 0], queue.memory.values[:, 0, :5, 0, 1]
    for index in range(5):
        for slot, time in enumerate([0, 10, 20, 30, 40]):
            if slot < index:  # it was not there yet
                assert (drawn_half[index, slot], rest[index, slot]) == (-1, -1)
            elif slot == index:
                assert (drawn_half[index, slot], rest[index, slot]) == (time, time)
            else:  # another one was drawn: here it is not, and elsewhere only its own annotation counts
                assert (drawn_half[index, slot], rest[index, slot]) == (time, 10 * index)


def test_a_later_annotation_of_all_objects_makes_room() -> None:
    queue = with_late_objects(2).with_anchor(*drawn(45, 5))
    assert [s.time for s in queue.seen[: queue.anchors]] == [0, 30, 40, 45]
    assert queue.given[-1] == frozenset(range(5))
    for index in range(5):
        assert any(index in given for given in queue.given)


def test_an_object_that_is_followed_no_longer_takes_its_annotation_with_it() -> None:
    queue = with_late_objects(2).without_object(1)
    assert [s.time for s in queue.seen] == [0, 20, 30, 40, 45]
    assert queue.given == tuple(frozenset({index}) for index in range(4))
    assert queue.memory.values.shape == (4, 3, 5, 1, 2)


def test_what_annotations_say_of_another_frame_is_the_memory_read() -> None:
    import torch

    from mobilevos.model.memory import Memory, MemoryRead

    rng = np.random.default_rng(0)
    key, keys = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 2, 3), (4, 2, 2, 3)))
    values = rng.normal(size=(5, 2, 2, 3)).astype(np.float32)
    memory = Memory(torch.from_numpy(keys)[None], torch.from_numpy(values)[None, None], torch.zeros(2))
    expected = MemoryRead()(torch.from_numpy(key)[None], memory)[0, 0].detach().numpy()
    np.testing.assert_allclose(recalled(key, keys, values), expected, atol=1e-5)
