"""Clips as the tracker's window shows them: at one size, whole, and followed."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from mobilevos.clips import PhotoSource, VideoSource
from mobilevos.clips import window as module
from mobilevos.clips.crop import crop_around_objects
from mobilevos.clips.motion import warp
from mobilevos.clips.window import LAG, OFF_CENTER, SCALE_JITTER, extent_of, side_in_use, window_views
from mobilevos.tracking.window import MOST_ZOOM, TARGET, Extent
from mobilevos.weights import WORKING_SIZE
from tests.builders.coloured import BLUE, GREEN, RED
from tests.builders.davis import write_davis
from tests.builders.photos import write_photos
from tests.clips.calm import agreement, calm

SIZE = 192
SHOWN = TARGET * SIZE / WORKING_SIZE
"""Square root of an object's area in a clip of this size: 78 pixels."""


@pytest.fixture(autouse=True)
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows never begin with the whole frame here, as they do now and then after a cut."""
    monkeypatch.setattr(module, "SEARCHING", 0.0, raising=True)


def block(left: int, top: int, width: int = 120, height: int = 120) -> np.ndarray:
    """A label map of 480 x 854 pixels with one rectangle; at the network's size it is two thirds as large."""
    labels = np.zeros((480, 854), np.uint8)
    labels[max(0, top) : top + height, max(0, left) : left + width] = 1
    return labels


def shown(labels: np.ndarray, view: np.ndarray) -> np.ndarray:
    """What a clip of 192 x 192 pixels has of a label map; 9 beyond the frame."""
    return warp(labels, view, (0, 0, SIZE, SIZE), interpolation=cv2.INTER_NEAREST, fill=9)


def config(**changes: float):  # type: ignore[no-untyped-def]
    return calm(**{"size": SIZE, "crop_rotation": 0.0, "flip": 0.0, "window": 1.0, **changes})


@pytest.mark.parametrize("side", [90, 120, 150, 190])
def test_objects_have_the_size_they_have_in_use(side: int) -> None:
    """Of 90 to 195 pixels, which the window shows at 130: with a size that varies by a fifth, once a clip."""
    logs = []
    for seed in range(60):
        labels = [block(350, 150, side, side)] * 3
        views = window_views(np.random.default_rng(seed), config(), labels)
        assert views is not None
        assert views.shape == (3, 3, 3)
        roots = [np.sqrt((shown(label, view) == 1).sum()) for label, view in zip(labels, views, strict=True)]
        assert max(roots) - min(roots) < 2.5  # the same in all frames, to within a row of pixels
        logs.append(np.log(roots[0] / SHOWN))
    assert np.mean(logs) == pytest.approx(0, abs=0.1)
    assert np.std(logs) == pytest.approx(SCALE_JITTER, abs=0.07)


def test_small_objects_are_shown_as_close_as_the_window_looks() -> None:
    views = [window_views(np.random.default_rng(seed), config(), [block(300, 200, 30, 30)]) for seed in range(40)]
    roots = [np.sqrt((shown(block(300, 200, 30, 30), view[0]) == 1).sum()) for view in views if view is not None]
    expected = 30 * (2 / 3) * MOST_ZOOM * SIZE / WORKING_SIZE
    assert len(roots) == 40
    assert np.median(roots) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("place", [(350, 150), (2, 3), (730, 350)])
@pytest.mark.parametrize("shape", [(120, 120), (300, 60), (40, 300), (90, 240)])
def test_objects_are_whole_in_the_first_frame(place: tuple[int, int], shape: tuple[int, int]) -> None:
    left, top = min(place[0], 854 - shape[0] - 2), min(place[1], 480 - shape[1] - 2)
    labels = block(left, top, *shape)
    for seed in range(15):
        views = window_views(np.random.default_rng(seed), config(), [labels])
        assert views is not None
        corners = [[left, left + shape[0] - 1], [top, top + shape[1] - 1], [1, 1]]
        inside = (np.linalg.inv(views[0]) @ corners)[:2]
        assert inside.min() > -0.5
        assert inside.max() < SIZE - 0.5


def test_the_clip_shows_nothing_beyond_the_frame() -> None:
    for seed in range(20):
        views = window_views(np.random.default_rng(seed), config(), [block(0, 0), block(734, 360)], far=True)
        assert views is not None
        for label, view in zip((block(0, 0), block(734, 360)), views, strict=True):
            assert not (shown(label, view) == 9).any()


def centers(labels: list[np.ndarray], views: np.ndarray) -> np.ndarray:
    """(T, 2): x, y of the object in the clip, from its middle, as a part of the side."""
    places = []
    for label, view in zip(labels, views, strict=True):
        ys, xs = np.nonzero(label == 1)
        x, y, _ = np.linalg.inv(view) @ [xs.mean(), ys.mean(), 1]
        places.append(((x - (SIZE - 1) / 2) / SIZE, (y - (SIZE - 1) / 2) / SIZE))
    return np.array(places)


def test_the_window_follows_what_moves_a_little_late() -> None:
    """10 pixels a frame to the right: a tenth of the frame's width in all; the object stays about where it was."""
    labels = [block(200 + 10 * time, 180) for time in range(9)]
    late = []
    for seed in range(20):
        views = window_views(np.random.default_rng(seed), config(), labels)
        assert views is not None
        places = centers(labels, views)
        assert np.abs(places).max() < OFF_CENTER + 5 * LAG + 0.1
        late.append(places[1:, 0].mean() - places[0, 0])
    # a step is 10 x 2/3 x 1.625 x 192/320 = 6.5 pixels of the clip: it is hardly behind, since its speed is expected
    assert 0 < np.mean(late) < 6.5 / SIZE + 0.02


def test_the_window_looks_where_the_object_was_in_the_frame_before() -> None:
    """It jumps by 100 pixels: 64 of the clip's; the window is there one frame later."""
    labels = [block(200, 180), block(200, 180), block(300, 180), block(300, 180)]
    jumps = []
    for seed in range(20):
        views = window_views(np.random.default_rng(seed), config(), labels)
        assert views is not None
        places = centers(labels, views)[:, 0]
        jumps.append((places[2] - places[1], abs(places[3] - places[1])))
    behind, after = np.mean(jumps, axis=0)
    assert behind == pytest.approx(100 * (2 / 3) * 1.625 * SIZE / WORKING_SIZE / SIZE, rel=0.15)
    assert after < 0.15


def test_a_first_frame_from_afar_begins_anew() -> None:
    """Frame 1 is looked at for itself, wherever the object was in frame 0, and however large."""
    labels = [block(100, 100, 60, 60), block(700, 300, 150, 150), block(700, 300, 150, 150)]
    for seed in range(20):
        near = window_views(np.random.default_rng(seed), config(), labels)
        far = window_views(np.random.default_rng(seed), config(), labels, far=True)
        assert near is not None
        assert far is not None
        assert np.abs(centers(labels, far)).max() < 0.45
        assert (shown(labels[1], far[1]) == 1).sum() > 0.9 * (shown(labels[2], far[2]) == 1).sum() > 0
        assert not (shown(labels[1], near[1]) == 1).any()  # it looks where the object was
    gone = [block(100, 100), np.zeros((480, 854), np.uint8), block(100, 100)]
    views = window_views(np.random.default_rng(0), config(), gone, far=True)
    assert views is not None
    np.testing.assert_allclose(views[1][:2, :2], views[0][:2, :2])  # nothing to begin with: as close as before


def test_without_an_object_there_is_nothing_to_look_at() -> None:
    void = block(100, 100) * np.uint8(255)
    for labels in (np.zeros((480, 854), np.uint8), void):
        assert window_views(np.random.default_rng(0), config(), [labels, block(100, 100)]) is None
        assert extent_of(labels) is None


def test_places_by_every_second_pixel() -> None:
    assert extent_of(block(100, 60, 40, 20)) == Extent(100, 60, 140, 80, 800)


def test_photos_are_cropped_to_the_same_size() -> None:
    sides = [side_in_use(np.random.default_rng(seed), config(), 120.0**2) for seed in range(300)]
    assert np.mean(np.log(sides)) == pytest.approx(np.log(SIZE * 120 / SHOWN), abs=0.03)
    roots = []
    for seed in range(40):
        crop = crop_around_objects(np.random.default_rng(seed), config(crop_aspect=0.0), block(350, 150))
        assert crop is not None
        roots.append(np.sqrt((shown(block(350, 150), crop) == 1).sum()))
    assert np.median(roots) == pytest.approx(SHOWN, rel=0.12)
    assert np.std(np.log(roots)) < 1.5 * SCALE_JITTER


def film(path: Path) -> VideoSource:
    """A red block that goes to the right before blue, 16 pixels a frame; 240 x 426 pixels."""
    masks = np.zeros((20, 240, 426), np.uint8)
    for time in range(20):
        masks[time, 90:120, 40 + 16 * time : 70 + 16 * time] = 1
    frames = np.array([BLUE, RED], np.uint8)[masks]
    return VideoSource("davis", write_davis(path, {"clip": (frames, masks)}, ending="png"), cache=None)


@pytest.mark.parametrize("far", [0.0, 1.0])
def test_videos_are_shown_through_the_window(tmp_path: Path, far: float) -> None:
    """30 pixels of 240 are shown 2.2 times as large as in the whole frame; frame 0 may be of another moment."""
    source, roots = film(tmp_path), []
    for seed in range(25):
        clip = source.sample(np.random.default_rng(seed), config(frames=4, far=far, max_skip=1), 1)
        assert clip.far == bool(far)
        assert agreement(clip) > 0.9
        roots.append(np.sqrt((clip.masks == 1).sum((1, 2))))
    assert np.median(roots) == pytest.approx(30 * MOST_ZOOM * SIZE / 240, rel=0.12)
    assert min(np.min(each) / np.max(each) for each in roots) > 0.85  # whole in all frames


def test_photos_whose_objects_are_cut_off_are_left_aside(tmp_path: Path) -> None:
    """The green one touches the border."""
    labels = np.zeros((2, 200, 240), np.uint8)
    labels[0, 60:130, 80:160] = 1
    labels[1, 60:130, :80] = 1
    images = [
        np.where(each[..., None] > 0, np.uint8(colour), np.uint8(BLUE))
        for each, colour in zip(labels, (RED, GREEN), strict=True)
    ]
    source = PhotoSource(
        write_photos(tmp_path, {"whole": (images[0], labels[0]), "cut": (images[1], labels[1])}), cache=None
    )

    def names(whole: float) -> list[str]:
        return [source.sample(np.random.default_rng(seed), config(whole=whole), 1).name for seed in range(30)]

    assert set(names(1.0)) == {"whole"}
    assert 5 < names(0.0).count("cut") < 25
    assert 0 < names(0.5).count("cut") < names(0.0).count("cut")


def test_the_whole_frame_is_looked_at_as_after_a_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second view shows as much as the whole frame does at the network's size; then the window closes in."""
    labels = np.zeros((480, 854), np.uint8)
    labels[200:260, 400:460] = 1
    monkeypatch.setattr(module, "SEARCHING", 1.0)
    views = window_views(np.random.default_rng(0), config(size=320, frames=4), [labels] * 4)
    assert views is not None
    scales = [1 / np.sqrt(abs(np.linalg.det(view[:2, :2]))) for view in views]
    assert scales[0] / scales[1] == pytest.approx(2.2, rel=0.01)  # as close as it gets, then not at all
    assert scales[1] < scales[2] < scales[3] < scales[0]
