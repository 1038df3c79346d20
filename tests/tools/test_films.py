"""Masks for films that have none, with a segmenter and a tracker that are told what to say."""

import shutil
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from mobilevos.arrays import VOID, Bits, Ids, Image
from mobilevos.datasets.youtube import youtube_places
from mobilevos.tracking import Tracker
from tests.builders.films import write_video
from tests.tools.test_sources import commit
from tools.films import EVERY, Box, Drawn, Film, first_masks, labelled, lay_out, read_films, taken

SHAPE = (40, 60)


def square(left: int, right: int, top: int = 10, bottom: int = 30) -> Bits:
    mask = np.zeros(SHAPE, bool)
    mask[top:bottom, left:right] = True
    return mask


class Told:
    """Draws the same masks whatever it is asked."""

    def __init__(self, *readings: Drawn) -> None:
        self.readings = list(readings)
        self.boxes: list[Box] = []

    def look(self, frame: Image) -> object:
        return None

    def draw(self, seen: object, shape: tuple[int, int], box: Box) -> list[Drawn]:
        self.boxes.append(box)
        return self.readings


class Followed:
    """A tracker that finds the same masks in every frame, and remembers what it was given."""

    def __init__(self, mask: Ids) -> None:
        self.mask = mask
        self.corrections: list[Ids] = []

    def start(self, frame: Image, mask: Ids) -> None:
        pass

    def step(self, frame: Image) -> SimpleNamespace:
        return SimpleNamespace(mask=self.mask)

    def correct(self, mask: Ids) -> None:
        self.corrections.append(mask)


def follow(segmenter: Told, followed: Ids, count: int = 5) -> tuple[dict[int, Ids], Followed]:
    tracker = Followed(followed)
    frames = [np.zeros((*SHAPE, 3), np.uint8)] * count
    first = square(10, 30).astype(np.uint8)
    return dict(labelled(segmenter, cast(Tracker, tracker), frames, count // 2, first)), tracker


def test_what_both_agree_on_is_taken_as_it_was_drawn() -> None:
    drawn = square(11, 31)
    found, tracker = follow(Told(Drawn(drawn, 0.95)), square(10, 30).astype(np.uint8))
    assert sorted(found) == [0, 2, 4]
    np.testing.assert_array_equal(found[4], drawn)
    np.testing.assert_array_equal(tracker.corrections[0], drawn)


def test_the_reading_nearest_to_what_was_followed_is_taken() -> None:
    part, whole = Drawn(square(10, 18), 0.99), Drawn(square(10, 31), 0.9)
    found, _ = follow(Told(part, whole), square(10, 30).astype(np.uint8))
    np.testing.assert_array_equal(found[0], whole.mask)


@pytest.mark.parametrize("reading", [Drawn(square(22, 42), 0.95), Drawn(square(10, 30), 0.5)])
def test_what_they_do_not_agree_on_counts_nowhere(reading: Drawn) -> None:
    """Another place, or the right one that the segmenter does not believe itself."""
    found, tracker = follow(Told(reading), square(10, 30).astype(np.uint8))
    assert set(np.unique(found[0])) == {0, VOID}
    assert (found[0][square(10, 30)] == VOID).all()
    assert not tracker.corrections


def test_what_has_left_the_frame_is_not_looked_for() -> None:
    segmenter = Told(Drawn(square(10, 30), 0.95))
    found, _ = follow(segmenter, np.zeros(SHAPE, np.uint8))
    assert not segmenter.boxes
    assert not found[0].any()


def test_frames_between_are_followed_but_have_no_labels() -> None:
    found, _ = follow(Told(Drawn(square(10, 30), 0.95)), square(10, 30).astype(np.uint8), count=9)
    assert sorted(found) == [index for index in range(9) if (index - 4) % EVERY == 0]


def test_the_box_chooses_between_readings_at_first() -> None:
    """A part may be rated higher than the whole that was marked."""
    part, whole = Drawn(square(10, 16), 0.97), Drawn(square(10, 30), 0.9)
    box = (10 / 60, 10 / 40, 30 / 60, 30 / 40)
    np.testing.assert_array_equal(first_masks(Told(part, whole), np.zeros((*SHAPE, 3), np.uint8), [box]), whole.mask)


@pytest.mark.parametrize(("count", "step"), [(20, 1), (400, 5), (53, 5), (10, 30)])
def test_the_marked_frame_is_the_middle_one_of_those_that_are_followed(count: int, step: int) -> None:
    frames = taken(count, step)
    assert frames[len(frames) // 2] == count // 2
    assert 0 <= frames[0] <= frames[-1] < count
    assert all(b - a == step for a, b in pairwise(frames))


def test_films_are_laid_out_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One film is among the copies, one is not; then again, after a run that ended before the masks were there."""
    repository = tmp_path / "me+films" / "repo"
    repository.mkdir(parents=True)
    write_video(repository / "a.mp4", [Fraction(index, 10) for index in range(9)], SHAPE)
    made = commit(repository, {})
    here, gone = Film("me/films", made, "a.mp4", 1, ((0.1, 0.1, 0.5, 0.5),)), Film("me/others", made, "b.mp4", 1, ())
    monkeypatch.setattr("tools.films.read_films", lambda: {"a": here, "b": gone})
    tracker = cast(Tracker, Followed(square(10, 30).astype(np.uint8)))

    def make() -> dict[str, int]:
        return dict(lay_out(tmp_path, Told(Drawn(square(10, 30), 0.95)), tracker, tmp_path))

    assert make() == {"a": 5, "b": 0}
    (place,) = youtube_places(tmp_path / "films")
    assert len(place.read().annotated(complete=False)) == 5
    shutil.rmtree(tmp_path / "films" / "Annotations" / "a")
    assert make() == {"a": 5, "b": 0}
    assert make() == {"b": 0}
    assert not list((tmp_path / "films").glob("*.part"))


def test_marks_lie_in_their_films() -> None:
    films = read_films()
    assert len(films["0a23765d15"].boxes) == 2  # a row is an object
    for film in films.values():
        assert film.step >= 1
        for left, top, right, bottom in film.boxes:
            assert 0 <= left < right <= 1
            assert 0 <= top < bottom <= 1
