"""Threads that read ahead and work behind: order, errors, and no one left waiting."""

import threading
from collections.abc import Callable, Iterable, Iterator

import pytest

from mobilevos.threads import WorkBehind, depth_for, read_ahead


def test_reading_ahead_keeps_order_and_bound() -> None:
    fetched = []

    def items() -> Iterator[int]:
        for i in range(50):
            fetched.append(i)
            yield i

    seen: list[int] = []
    for item in read_ahead(items(), 3):
        seen.append(item)
        assert len(fetched) <= len(seen) + 3 + 1  # those that wait, and one in the hand
    assert seen == list(range(50))


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield from (1, 2, 3)
        raise OSError("the disk is gone")

    seen: list[int] = []
    with pytest.raises(OSError, match="the disk is gone"):
        seen.extend(read_ahead(items(), 8))
    assert seen == [1, 2, 3]


def test_a_reader_that_is_no_longer_wanted_ends() -> None:
    before = threading.active_count()
    reader = read_ahead(iter(range(10**9)), 2)
    assert next(reader) == 0
    reader.close()
    assert threading.active_count() == before


def hand_over(work: Callable[[int], None], items: Iterable[int], error: BaseException | None = None) -> None:
    with WorkBehind(work, 5) as behind:
        for item in items:
            behind.put(item)
        if error:
            raise error


def test_work_is_done_in_order_and_all_of_it() -> None:
    done: list[int] = []
    hand_over(done.append, range(20))
    assert done == list(range(20))


def test_an_error_of_the_work_stops_the_caller() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        if item == 5:
            raise OSError("disk full")
        done.append(item)

    with pytest.raises(OSError, match="disk full"):
        hand_over(work, range(10**6))
    assert done == [0, 1, 2, 3, 4]
    with pytest.raises(OSError, match="disk full"):
        hand_over(work, [5])  # and nothing after it: it comes out at the end


def test_what_waits_is_done_when_the_caller_fails() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        hand_over(done.append, range(5), KeyboardInterrupt())
    assert done == [0, 1, 2, 3, 4]


def test_large_frames_wait_one_at_a_time() -> None:
    assert depth_for(7680 * 4320 * 3) == 1
    assert depth_for(1920 * 1080 * 3) == 8
    assert depth_for(10**12) == 1
