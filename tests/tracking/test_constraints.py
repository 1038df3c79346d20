"""Clicks are obeyed, and nothing but what they point at changes."""

import heapq
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import jaccard
from mobilevos.media.masks import read_mask
from mobilevos.media.pictures import read_picture
from mobilevos.tracking.constraints import DIAGONAL, REACH, STRAIGHT, WORKING_SIDE, _costs, distances, obeyed

Point = tuple[int, int]
Case = tuple[np.ndarray, np.ndarray, list[Point], list[Point], np.ndarray]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A noisy picture of blobs, a mask that fits it or not, clicks anywhere, and other objects."""
    height, width = draw(st.sampled_from([(1, 1), (1, 9), (7, 5), (30, 40), (21, 600), (520, 30)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    blobs = cv2.resize(rng.integers(0, 256, (4, 5, 3), np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    frame = np.clip(blobs + rng.normal(0, 9, blobs.shape), 0, 255).astype(np.uint8)
    filling = draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    coarse = (rng.random((5, 6)) < filling).astype(np.uint8)
    mask = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_NEAREST) > 0
    if draw(st.booleans()):
        mask[rng.integers(height), rng.integers(width)] ^= True
    others = cv2.resize(rng.integers(0, 3, (3, 4), np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    points = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    on = draw(st.lists(points, max_size=3))
    off = [point for point in draw(st.lists(points, max_size=3)) if point not in on]
    return frame, mask, on, off, np.where(mask, np.uint8(0), others)


def far_from(points: list[Point], height: int, width: int) -> np.ndarray:
    """Where no click reaches, but for the size of cells."""
    away = np.ones((height, width), bool)
    rows, columns = np.mgrid[:height, :width]
    cell = -(-max(height, width) // WORKING_SIDE)
    for x, y in points:
        away &= np.hypot(rows - y, columns - x) > REACH * (max(height, width) + cell) + 2 * cell
    return away


@settings(max_examples=50, deadline=None)
@given(cases())
def test_every_click_is_obeyed(case: Case) -> None:
    frame, mask, on, off, others = case
    for known in (None, others):
        after = obeyed(frame, mask, on, off, known)
        assert all(after[y, x] for x, y in on)
        assert not any(after[y, x] for x, y in off)
        np.testing.assert_array_equal(obeyed(frame, after, on, off, known), after)  # then nothing changes any more
        np.testing.assert_array_equal(obeyed(frame, mask, on, off, known), after)
        away = far_from([*on, *off], *mask.shape)
        np.testing.assert_array_equal(after[away], mask[away])


@settings(max_examples=50, deadline=None)
@given(cases())
def test_a_minus_never_adds_and_a_plus_never_removes(case: Case) -> None:
    frame, mask, on, off, _ = case
    assert not (obeyed(frame, mask, off=off) & ~mask).any()
    assert not (mask & ~obeyed(frame, mask, on)).any()


@settings(max_examples=50, deadline=None)
@given(cases())
def test_a_plus_takes_of_the_object_it_is_on_only(case: Case) -> None:
    frame, mask, on, off, others = case
    added = obeyed(frame, mask, on, off, others) & ~mask
    assert set(others[added].tolist()) <= {int(others[y, x]) for x, y in on}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9))
def test_distances_are_those_of_dijkstra(seed: int, h: int, w: int) -> None:
    rng = np.random.default_rng(seed)
    picture, inside = rng.integers(0, 256, (h, w, 3)).astype(np.int32), rng.random((h, w)) < 0.7
    seeds = rng.random((h, w)) < 0.2
    costs = _costs(picture, inside)
    best = np.full((h, w), 1 << 28)
    heap = [(0, int(y), int(x)) for y, x in np.argwhere(seeds)]
    while heap:
        far, y, x = heapq.heappop(heap)
        if far >= best[y, x]:
            continue
        best[y, x] = far
        for plane, (dy, dx) in zip(costs, ((0, 1), (1, 0), (1, 1), (-1, 1)), strict=True):
            for sign in (1, -1):
                to = y + sign * dy, x + sign * dx
                if 0 <= to[0] < h and 0 <= to[1] < w:
                    heapq.heappush(heap, (far + int(plane[(y, x) if sign > 0 else to]), *to))
    np.testing.assert_array_equal(distances(costs, seeds), best)


def test_costs_by_hand() -> None:
    """Two cells of a row that differ by 1 + 2 + 3 levels, and a third that is not inside."""
    picture = np.array([[[10, 10, 10], [11, 12, 13], [11, 12, 13]]], np.int32)
    right = _costs(picture, np.array([[True, True, False]]))[0]
    assert right[0, :2].tolist() == [STRAIGHT + 2 * 6, STRAIGHT + 2000]
    assert (STRAIGHT, DIAGONAL) == (5, 7)


@pytest.fixture
def scene() -> tuple[np.ndarray, np.ndarray]:
    """A red square beside a blue one on grey: the frame, and ids 1 and 2."""
    ids = np.zeros((120, 200), np.uint8)
    ids[30:90, 40:100], ids[40:80, 100:130] = 1, 2
    frame = np.array([(120, 120, 120), (220, 30, 30), (30, 60, 220)], np.uint8)[ids]
    return frame, ids


def test_a_minus_takes_away_up_to_the_edge(scene: tuple[np.ndarray, np.ndarray]) -> None:
    """The mask has both squares; the minus is in the middle of the blue one."""
    frame, ids = scene
    after = obeyed(frame, ids > 0, off=[(115, 60)])
    assert jaccard(after, ids == 1) > 0.97


def test_a_plus_adds_up_to_the_edge(scene: tuple[np.ndarray, np.ndarray]) -> None:
    """A corner of the red square is missing."""
    frame, ids = scene
    most = ids == 1
    most[30:50, 80:100] = False
    after = obeyed(frame, most, on=[(90, 40)])
    assert jaccard(after, ids == 1) > 0.99
    assert not (after & (ids == 0)).any()


def test_a_false_piece_goes_as_a_whole_and_the_rest_stays(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    mask = ids == 1
    mask[100:110, 150:190] = True
    np.testing.assert_array_equal(obeyed(frame, mask, off=[(170, 105)]), ids == 1)


def test_a_pixel_of_another_object_is_taken_only_by_a_plus_on_it(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    others = np.where(ids == 2, ids, 0)
    mask = (ids == 1) & (np.arange(200) < 80)
    near = obeyed(frame, mask, [(97, 60)], others=others)
    assert not (near & (ids == 2)).any()
    on_it = obeyed(frame, mask, [(115, 60)], others=others)
    assert (on_it & ~mask).any()
    assert not (on_it & ~mask & (ids != 2)).any()


def test_an_empty_mask_and_an_object_of_one_pixel(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    nothing = np.zeros(ids.shape, bool)
    found = obeyed(frame, nothing, [(70, 60)])
    assert found[60, 70]
    assert found.sum() > 100
    assert not (found & (ids != 1)).any()
    assert not obeyed(frame, nothing, off=[(70, 60)]).any()
    one = nothing.copy()
    one[0, 0] = True
    assert not obeyed(frame, one, off=[(0, 0)]).any()
    assert obeyed(frame, one, on=[(199, 119)])[[0, 119], [0, 199]].all()


def test_a_plus_and_a_minus_in_one_cell() -> None:
    """The picture is looked at in cells of three pixels; both clicks are in the same one."""
    frame = np.full((30, 600, 3), 90, np.uint8)
    for mask in (np.zeros((30, 600), bool), np.ones((30, 600), bool)):
        after = obeyed(frame, mask, on=[(301, 13)], off=[(300, 13)])
        assert after[13, 300:302].tolist() == [False, True]


def test_a_contradiction_is_said_in_one_sentence(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    with pytest.raises(InputError, match="the pixel 3,4 is clicked both as on the object and as not on it"):
        obeyed(frame, ids == 1, [(3, 4)], [(3, 4)])
    with pytest.raises(InputError, match="the click 200,4 is outside the frame of 200 x 120"):
        obeyed(frame, ids == 1, [(200, 4)])
    with pytest.raises(InputError, match=r"expected a mask of shape \(120, 200\) bool"):
        obeyed(frame, ids, [(3, 4)])


def middle(wrong: np.ndarray) -> Point:
    """Where a person would click: the deepest point of the largest part."""
    _, parts, stats, _ = cv2.connectedComponentsWithStats(wrong.astype(np.uint8), connectivity=4)
    largest = np.pad(parts == 1 + np.argmax(stats[1:, cv2.CC_STAT_AREA]), 1).astype(np.uint8)
    depth = cv2.distanceTransform(largest, cv2.DIST_L2, 5)[1:-1, 1:-1]
    y, x = np.unravel_index(np.argmax(depth), depth.shape)
    return int(x), int(y)


def damaged(truth: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """A mask with a part too much, or too little."""
    edge = np.argwhere(truth & (cv2.erode(truth.astype(np.uint8), np.ones((3, 3), np.uint8)) == 0))
    place = edge[rng.integers(len(edge))][::-1]
    part = np.zeros(truth.shape, np.uint8)
    axes = [max(3, round(share * truth.sum() ** 0.5)) for share in rng.uniform(0.15, 0.35, 2)]
    cv2.ellipse(part, [int(v) for v in place], axes, rng.uniform(0, 180), 0, 360, 1, -1)
    return truth | (part > 0) if kind == "too much" else truth & (part == 0)


@pytest.mark.parametrize("kind", ["too much", "too little"])
def test_real_photos_get_better(shared_data: Path, kind: str) -> None:
    """On photos with damaged masks a click in the middle of what is wrong mends, and harms next to nothing."""
    rng = np.random.default_rng(0)
    gains = []
    for path in sorted((shared_data / "voc-objects" / "masks").glob("*.png"))[:240:10]:
        frame = read_picture(next((shared_data / "voc-objects" / "images").glob(f"{path.stem}.*")))
        ids = read_mask(path)
        labels = [i for i in np.unique(ids) if i not in (0, 255)]
        truth = ids == max(labels, key=lambda i: int((ids == i).sum()))
        mask = damaged(truth, kind, rng)
        wrong = (mask ^ truth) & (ids != 255)
        if wrong.sum() < 30:
            continue
        point = middle(wrong)
        on, off = ([point], []) if truth[point[1], point[0]] else ([], [point])
        after = obeyed(frame, mask, on, off)
        assert after[point[1], point[0]] == truth[point[1], point[0]]
        counted = ids != 255
        gains.append(jaccard(after & counted, truth & counted) - jaccard(mask & counted, truth & counted))
    assert len(gains) > 10
    assert np.mean(gains) > 0.02
    assert min(gains) > -0.03
