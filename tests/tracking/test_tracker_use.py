"""How a tracker is handled: closed, used by two threads, given frames as OpenCV reads them, told how many threads."""

import threading
from typing import Any

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from mobilevos.tracking import tracker as module
from tests.pipeline.colours import ColourRuntime, squares

FRAMES, IDS = zip(*squares(4), strict=True)


def tracker(**options: Any) -> Tracker:
    return Tracker(ColourRuntime(), size=480, queue=2, **options)


def test_frames_of_opencv() -> None:
    """Blue first gives what red first gives, also for the masks' edges, which follow the picture."""
    one, other = tracker(), tracker(order="bgr")
    one.start(FRAMES[0], IDS[0])
    other.start(FRAMES[0][..., ::-1], IDS[0])
    for frame in FRAMES[1:]:
        expected, found = one.step(frame), other.step(frame[..., ::-1])
        np.testing.assert_array_equal(found.mask, expected.mask)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        assert (expected.mask == 1).any()
    with pytest.raises(InputError, match="expected rgb or bgr for the order of colours, got 'gbr'"):
        tracker(order="gbr")


def test_it_is_closed_once_and_for_all() -> None:
    with tracker() as opened:
        opened.start(FRAMES[0], IDS[0])
    assert opened.ids == ()
    opened.close()
    with pytest.raises(InputError, match="this tracker is closed"):
        opened.start(FRAMES[0], IDS[0])
    with pytest.raises(InputError, match="nothing is being followed yet"):
        opened.step(FRAMES[1])


def test_two_threads_are_told() -> None:
    """The second one gets an error, and the first one's result is what it would have been."""
    entered, go_on = threading.Event(), threading.Event()

    class Waiting(ColourRuntime):
        def step(self, *args: Any) -> Any:
            entered.set()
            assert go_on.wait(60)
            return super().step(*args)

    shared = Tracker(Waiting(), size=480, queue=2)
    shared.start(FRAMES[0], IDS[0])
    results: list[Any] = []
    first = threading.Thread(target=lambda: results.append(shared.step(FRAMES[1])))
    first.start()
    assert entered.wait(60)
    for call in (lambda: shared.step(FRAMES[1]), lambda: shared.correct(IDS[1]), shared.close):
        with pytest.raises(InputError, match="at work in another thread: give each thread one of its own"):
            call()
    go_on.set()
    first.join()
    alone = tracker()
    alone.start(FRAMES[0], IDS[0])
    np.testing.assert_array_equal(results[0].mask, alone.step(FRAMES[1]).mask)
    shared.step(FRAMES[2])  # one after the other is no matter


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def load(model: str, runtime: str, threads: int | None) -> ColourRuntime:
        asked.append(threads)
        return ColourRuntime()

    monkeypatch.setattr(module, "load_runtime", load)
    Tracker.load("mobilenetv2-lite", threads=3)
    Tracker.load("mobilenetv2-lite")
    assert asked == [3, None]
    with pytest.raises(InputError, match="expected 1 or more threads, got 0"):
        Tracker.load("mobilenetv2-lite", threads=0)
