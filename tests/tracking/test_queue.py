"""Which frames are remembered."""

import numpy as np
import pytest

from mobilevos.runtime.base import written
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.queue import MOST_ANCHORS, MemoryQueue, Seen


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
        (None, 5, [0, 0, 5, 10, 15, 20]),
        (None, 1, [0, *range(21)]),
    ],
)
def test_first_frame_and_latest_frames_stay(length: int | None, every: int, expected: list[int]) -> None:
    assert sorted(times(run(begin(length, every), range(1, 21)))) == expected


def test_an_unbounded_memory_has_the_previous_frame_too() -> None:
    assert sorted(times(run(begin(None, 5), range(1, 19)))) == [0, 0, 5, 10, 15, 18]


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
