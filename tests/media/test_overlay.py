"""Pictures to look at: every pixel is accounted for."""

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.media.overlay import contact_sheet, cutout, draw_overlay, matte, with_alpha
from mobilevos.media.palette import vivid_palette


@pytest.fixture
def scene() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = rng.integers(0, 256, (60, 80, 3)).astype(np.uint8)
    ids = np.zeros((60, 80), np.uint8)
    ids[10:40, 5:30] = 1
    ids[10:40, 30:50] = 2
    ids[20:60, 60:80] = 7  # leaves the picture on two sides
    return frame, ids


def test_overlay_tints_objects_only(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    picture = draw_overlay(frame, ids, alpha=0.25, contours=False)
    assert np.array_equal(picture[ids == 0], frame[ids == 0])
    expected = 0.75 * frame[ids > 0] + 0.25 * vivid_palette()[ids[ids > 0]]
    assert np.abs(picture[ids > 0] - expected).max() <= 1


def test_contours_lie_inside_in_the_colour_of_the_object(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    plain, lined = draw_overlay(frame, ids, contours=False), draw_overlay(frame, ids)
    changed = (plain != lined).any(axis=2)
    edge = np.zeros_like(changed)
    for y, x in np.argwhere(ids > 0):
        around = ids[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]
        edge[y, x] = (around != ids[y, x]).any()
    assert not (changed & ~edge).any()
    assert np.array_equal(lined[edge], vivid_palette()[ids[edge]])
    assert not edge[30, 79]  # no line where the object leaves the picture


def test_overlay_leaves_its_input_alone_and_writes_confidence(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    before = frame.copy()
    without = draw_overlay(frame, ids)
    with_text = draw_overlay(frame, ids, confidence={1: 0.9, 7: 0.2, 99: 0.5})
    assert np.array_equal(frame, before)
    assert (without != with_text).any()
    assert np.array_equal(draw_overlay(frame, np.zeros_like(ids)), frame)


def test_cutout_by_ids_and_by_coverage(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    picture = cutout(frame, ids, (1, 2, 3))
    assert np.array_equal(picture[15:35, 10:45], frame[15:35, 10:45])
    assert (picture[:7] == (1, 2, 3)).all()
    half = cutout(frame, np.full(ids.shape, 0.5), (0, 0, 0))
    assert np.abs(half - frame / 2).max() <= 1


def test_matte_follows_the_outline() -> None:
    ids = np.zeros((20, 20), np.uint8)
    ids[:, 10:] = 3
    coverage = matte(ids)
    row = coverage[10]
    assert row[7] == 0
    assert row[12] == 1
    assert np.all(np.diff(row) >= 0)
    assert row[9] + row[10] == pytest.approx(1, abs=1e-6)
    assert np.array_equal(coverage > 0.5, ids > 0)


def test_with_alpha(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    rgba = with_alpha(frame, ids)
    assert rgba.shape == (60, 80, 4)
    assert np.array_equal(rgba[..., 3] >= 128, ids > 0)
    assert np.array_equal(rgba[rgba[..., 3] > 0][:, :3], frame[rgba[..., 3] > 0])


def test_contact_sheet_places_frames_in_rows() -> None:
    frames = [np.full((30, 40, 3), 20 * i, np.uint8) for i in range(1, 6)]
    sheet = contact_sheet(frames, columns=2, width=20)
    assert sheet.shape == (3 * (15 + 6) + 6, 2 * (20 + 6) + 6, 3)
    centres = [sheet[6 + 7 + row * 21, 6 + 10 + column * 26, 0] for row in range(3) for column in range(2)]
    assert centres == [20, 40, 60, 80, 100, 24]  # the last place is empty


def test_refuses_what_does_not_fit(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    for bad_frame, bad_ids in ((frame, ids[1:]), (frame[..., 0], ids), (frame, ids.astype(float)), (frame / 2, ids)):
        with pytest.raises(InputError, match="expected"):
            draw_overlay(bad_frame, bad_ids)
    with pytest.raises(InputError, match="coverage"):
        cutout(frame, np.zeros((3, 3)))
    with pytest.raises(InputError, match="frames"):
        contact_sheet([])
