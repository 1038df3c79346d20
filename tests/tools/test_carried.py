"""Films of which only the first frame has masks, with a tracker that is told what to say."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import PIL.Image
import pytest

from mobilevos.arrays import VOID, Ids, Image
from mobilevos.datasets.youtube import youtube_places
from mobilevos.tracking import Tracker
from tests.tools.test_sources import commit
from tools.carried import FRAMES, carried, lay_out

SHAPE = (40, 60)


class Told:
    """Says one probability for all of what it was given, another one for its mirror image, and the confidence."""

    def __init__(self, plain: float = 1.0, mirrored: float = 1.0, trust: float = 0.9) -> None:
        self.sure = {"plain": plain, "mirrored": mirrored}
        self.trust = trust

    def start(self, frame: Image, mask: Ids) -> None:
        self.mask = mask
        self.way = "plain" if frame[0, 0, 0] else "mirrored"

    def step(self, frame: Image) -> SimpleNamespace:
        ids = [int(i) for i in np.unique(self.mask) if i not in (0, VOID)]
        sure = self.sure[self.way]
        objects = np.stack([(self.mask == i) * sure for i in ids])
        probabilities = np.concatenate([1 - objects.sum(0, keepdims=True), objects])
        return SimpleNamespace(ids=ids, probabilities=probabilities, confidence=dict.fromkeys(ids, self.trust))


@pytest.fixture
def frames() -> list[Image]:
    """Light on their left: so that a mirror image can be told."""
    frame = np.zeros((*SHAPE, 3), np.uint8)
    frame[:, :30] = 200
    return [frame] * 3


@pytest.fixture
def first() -> Ids:
    mask = np.zeros(SHAPE, np.uint8)
    mask[10:30, 5:25] = 1
    mask[10:30, 50:55] = 2
    return mask


def follow(tracker: Told, frames: list[Image], first: Ids) -> list[Ids]:
    return carried(cast(Tracker, tracker), frames, first)


def test_what_both_ways_agree_on_is_known(frames: list[Image], first: Ids) -> None:
    labels = follow(Told(), frames, first)
    assert len(labels) == 2
    for ids in labels:
        np.testing.assert_array_equal(ids, first)


@pytest.mark.parametrize("tracker", [Told(plain=0.5), Told(mirrored=0.5), Told(0.7, 0.7)])
def test_what_one_way_doubts_is_void(tracker: Told, frames: list[Image], first: Ids) -> None:
    ids = follow(tracker, frames, first)[0]
    assert (ids[first > 0] == VOID).all()
    assert not ids[first == 0].any()


def test_what_is_not_trusted_is_void_with_its_surroundings(frames: list[Image], first: Ids) -> None:
    ids = follow(Told(trust=0.3), frames, first)[0]
    assert (ids[first > 0] == VOID).all()
    assert ids[8, 10] == VOID
    assert ids[0, 0] == 0


def test_films_are_laid_out_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: Ids) -> None:
    """One film is marked in its second frame, one is too short; then again, after a run that ended early."""
    picture = np.full((*SHAPE, 3), 99, np.uint8)
    marked = np.where(first == 2, 7, first).astype(np.uint8)
    files = {f"valid/JPEGImages/a/{5 * i:05d}.jpg": picture + np.uint8(8 * i) for i in range(FRAMES + 5)}
    files |= {"valid/JPEGImages/b/00000.jpg": picture, "valid/Annotations/b/00000.png": marked}
    repository = tmp_path / "me+films" / "repo"
    made = commit(repository, files | {"valid/Annotations/a/00005.png": marked})
    monkeypatch.setattr("tools.carried.REPOSITORY", "me/films")
    monkeypatch.setattr("tools.carried.COMMIT", made)

    def make() -> list[str]:
        return list(lay_out(tmp_path, cast(Tracker, Told()), tmp_path))

    assert make() == ["a"]
    near, later = (place.read() for place in youtube_places(tmp_path / "carried"))
    for video, moments in ((near, [1, 2, 3, 4]), (later, [8, 3, 2, 1])):
        assert list(video.pictures) == ["00000", "00005", "00010", "00015"]
        shades = [int(np.asarray(PIL.Image.open(path)).mean()) for path in video.pictures.values()]
        np.testing.assert_allclose(shades, [99 + 8 * moment for moment in moments], atol=2)
        np.testing.assert_array_equal(video.labels("00010"), first)  # objects are 1 and 2, not 1 and 7
    shutil.rmtree(tmp_path / "carried" / "Annotations" / "a")
    assert make() == ["a"]
    assert make() == []
    assert not list((tmp_path / "carried").glob("*.part"))
