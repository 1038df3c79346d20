"""Following clips from several first frames: which tracks there are, how they are scored, and what is said of them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import boundary_f
from mobilevos.evaluation.tracks import (
    LEAST_FRAMES,
    Track,
    TrackScore,
    difference,
    follow_clips,
    follow_track,
    summarise,
    tracks_of,
)
from tests.builders.davis import davis_masks, write_davis
from tests.builders.pictures import write_masks

SHAPE = (30, 40)


def square(left: int = 5, side: int = 15, identity: int = 1) -> np.ndarray:
    """A label map with an object of at least 200 pixels."""
    labels = np.zeros(SHAPE, np.uint8)
    labels[5 : 5 + side, left : left + side] = identity
    return labels


def number(index: int) -> np.ndarray:
    """A picture that tells which frame it is."""
    return np.full((*SHAPE, 3), 10 * index, np.uint8)


class Scripted:
    """A tracker that answers with masks by frame, and keeps what it was called with."""

    def __init__(self, answers: dict[int, np.ndarray] | None = None) -> None:
        self.answers = answers or {}
        self.starts: list[tuple[int, list[int]]] = []
        self.seen: list[int] = []

    def start(self, frame: np.ndarray, mask: np.ndarray) -> None:
        self.mask = mask
        self.starts.append((round(frame.mean() / 10), np.unique(mask).tolist()))

    def step(self, frame: np.ndarray) -> SimpleNamespace:
        index = round(frame.mean() / 10)
        self.seen.append(index)
        return SimpleNamespace(mask=self.answers.get(index, self.mask))


def firsts(truths: np.ndarray, *, starts: int = 3, backwards: bool = True) -> list[tuple[int, bool]]:
    return [(t.first, t.backwards) for t in tracks_of("clip", truths, starts=starts, backwards=backwards)]


def test_starts_are_spread_over_the_first_half_of_the_way() -> None:
    """Of 21 frames 0, 5 and 10 forwards; 20, 15 and 10 backwards."""
    truths = np.stack([square()] * 21)
    assert firsts(truths) == [(0, False), (5, False), (10, False), (20, True), (15, True), (10, True)]
    assert firsts(truths, backwards=False) == [(0, False), (5, False), (10, False)]
    assert firsts(truths, starts=1) == [(0, False), (20, True)]
    assert firsts(truths, starts=2, backwards=False) == [(0, False), (10, False)]


def test_frames_without_objects_and_mostly_void_ones_are_no_starts() -> None:
    truths = np.stack([square()] * 21)
    truths[0] = 0
    truths[1, :, :20] = 255  # half of it is void
    truths[2] = square(side=14)  # 196 pixels
    truths[5] = 0
    truths[20, :5] = 255  # a sixth may be void
    assert firsts(truths) == [(3, False), (6, False), (10, False), (20, True), (15, True), (10, True)]
    assert firsts(0 * truths) == []


def test_starts_that_fall_together_are_one_and_short_tracks_are_left_out() -> None:
    truths = np.stack([square()] * 7)
    # 0, 1.5 -> 2 and 3 of 7 frames: only 4 are left from 3 on
    assert firsts(truths, backwards=False) == [(0, False), (2, False)]
    truths[:2] = 0  # the first two starts both move to frame 2
    assert firsts(truths, backwards=False) == [(2, False)]
    assert firsts(np.stack([square()] * (LEAST_FRAMES - 1))) == []
    assert firsts(np.stack([square()] * LEAST_FRAMES)) == [(0, False), (LEAST_FRAMES - 1, True)]


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 5))
def test_every_track_begins_with_objects_and_is_long_enough(shown: list[bool], starts: int) -> None:
    truths = np.stack([square() * there for there in shown])
    found = firsts(truths, starts=starts)
    assert len(set(found)) == len(found)
    for first, back in found:
        assert shown[first]
        assert (first + 1 if back else len(shown) - first) >= LEAST_FRAMES
    # the same way round from the other end
    mirrored = {(len(shown) - 1 - first, not back) for first, back in firsts(truths[::-1], starts=starts)}
    assert set(found) == mirrored


def test_a_track_is_scored_by_hand() -> None:
    """Frames 2 .. 6 are followed, 3 .. 5 are scored: right, moved by 5 of 15 pixels, and missing."""
    truths = np.stack([square()] * 7)
    tracker = Scripted({4: square(left=10), 5: np.zeros(SHAPE, np.uint8), 6: np.zeros(SHAPE, np.uint8)})
    score = follow_track(tracker, Track("clip", 2, False), [number(i) for i in range(7)], truths)
    assert tracker.starts == [(2, [0, 1])]
    assert tracker.seen == [3, 4, 5, 6]
    assert score.j == pytest.approx((1 + 10 / 20 + 0) / 3)
    assert score.f == pytest.approx((1 + boundary_f(square(left=10) == 1, square() == 1) + 0) / 3)
    assert score.j_and_f == pytest.approx((score.j + score.f) / 2)


def test_backwards_it_goes_to_frame_0_which_is_not_scored() -> None:
    truths = np.stack([square()] * 7)
    tracker = Scripted({0: np.zeros(SHAPE, np.uint8)})
    score = follow_track(tracker, Track("clip", 4, True), [number(i) for i in range(7)], truths)
    assert tracker.starts == [(4, [0, 1])]
    assert tracker.seen == [3, 2, 1, 0]
    assert score.j == score.f == 1


def test_void_is_neither_for_nor_against() -> None:
    """What is found in void pixels is not wrong, what is not found there is not missed, and void is never given."""
    truths = np.stack([square(side=16)] * 6)
    truths[:, :, 33:] = 255
    truths[:, 19:21, 5:21] = 255  # two rows of the object
    inside = (truths[0] == 1).astype(np.uint8)
    truths[4, :, 10:] = 255  # mostly void: followed, but not scored
    for answer in (inside, square(side=16), inside + (truths[1] == 255).astype(np.uint8)):
        tracker = Scripted({1: answer, 2: answer, 4: 0 * answer})
        score = follow_track(tracker, Track("clip", 0, False), [number(i) for i in range(6)], truths)
        assert tracker.starts == [(0, [0, 1])]
        assert tracker.seen == [1, 2, 3, 4, 5]
        assert score.j == score.f == 1


def test_only_objects_of_the_first_frame_count_and_small_ones_do_not() -> None:
    truths = np.stack([square() + square(left=25, side=10, identity=2)] * 6)
    truths[2:] += square(left=21, side=15, identity=3) * (truths[2:] == 0)
    tracker = Scripted()
    score = follow_track(tracker, Track("clip", 0, False), [number(i) for i in range(6)], truths)
    assert tracker.starts == [(0, [0, 1])]
    assert score.j == 1


def test_the_mean_is_over_objects_too() -> None:
    truths = np.stack([square() + square(left=22, identity=4)] * 5)
    half = Scripted(dict.fromkeys(range(5), square()))  # one of two is always missing
    score = follow_track(half, Track("clip", 0, False), [number(i) for i in range(5)], truths)
    assert score.j == score.f == 0.5


def test_nothing_to_score() -> None:
    truths = np.stack([square()] * 5)
    truths[1:4] = 255
    with pytest.raises(InputError, match="clip from 4 back: there is no frame to score"):
        follow_track(Scripted(), Track("clip", 4, True), [number(i) for i in range(5)], truths)


def scores(**clips: list[float]) -> list[TrackScore]:
    """J&F of tracks by clip: J is 0.1 higher, F 0.1 lower."""
    return [
        TrackScore(Track(name, first, False), value + 0.1, value - 0.1)
        for name, values in clips.items()
        for first, value in enumerate(values)
    ]


def test_the_summary_is_over_clips_by_hand() -> None:
    """Means 0.5, 0.8 and 0.8: 0.7, with a standard deviation of 0.1732 and a standard error of 0.1."""
    summary = summarise(scores(a=[0.4, 0.6, 0.5], b=[0.8], c=[0.7, 0.9]))
    assert summary.clips == pytest.approx({"a": 0.5, "b": 0.8, "c": 0.8})
    assert summary.mean == pytest.approx(0.7)
    assert summary.spread == pytest.approx(0.1)
    assert summarise(scores(a=[0.4, 0.6])).spread == 0


def test_a_difference_is_between_the_same_tracks_by_hand() -> None:
    """Gains of 0.1, 0.1 and 0.4: 0.2, with a standard deviation of 0.1732 and a standard error of 0.1."""
    before = scores(a=[0.4, 0.6], b=[0.2], c=[0.1])
    gain, spread = difference(before, scores(a=[0.5, 0.7], b=[0.3], c=[0.5]))
    assert (gain, spread) == pytest.approx((0.2, 0.1))
    gain, spread = difference(before, before)
    assert (gain, spread) == (0, 0)
    assert difference(scores(a=[0.4]), scores(a=[0.3])) == pytest.approx((-0.1, 0))
    for other in (scores(a=[0.5, 0.7], b=[0.3]), scores(a=[0.5, 0.7], b=[0.3], d=[0.5]), before[::-1]):
        with pytest.raises(InputError, match="scores of the same tracks"):
            difference(before, other)


@pytest.fixture
def davis(tmp_path: Path) -> Path:
    frames = [number(i) for i in range(9)]
    clips = {"first": (frames, [square()] * 9), "second": (frames, [square(left=10)] * 9)}
    return write_davis(tmp_path, clips, ending="png")


def test_clips_of_a_folder(davis: Path) -> None:
    told: list[TrackScore] = []
    tracker = Scripted()
    found = follow_clips(tracker, davis, ["second", "first"], starts=2, report=told.append)
    assert [str(score.track) for score in found] == [
        f"{name} from {way}" for name in ("second", "first") for way in ("0", "4", "8 back", "4 back")
    ]
    assert told == found
    assert all(score.j_and_f == 1 for score in found)
    assert [first for first, _ in tracker.starts] == [0, 4, 8, 4] * 2
    one_way = follow_clips(Scripted(), davis, ["first"], starts=1, backwards=False)
    assert [score.track for score in one_way] == [Track("first", 0, False)]


def test_clips_that_cannot_be_followed(davis: Path) -> None:
    with pytest.raises(InputError, match="no video 'third'"):
        follow_clips(Scripted(), davis, ["third"])
    write_masks(davis_masks(davis, "first"), [square(side=14)] * 9)
    with pytest.raises(InputError, match="no object of at least 200 pixels can be followed"):
        follow_clips(Scripted(), davis, ["first"])
    (davis_masks(davis, "second") / "00003.png").unlink()
    with pytest.raises(InputError, match="as many frames as annotations of 'second'"):
        follow_clips(Scripted(), davis, ["second"])
