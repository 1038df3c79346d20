"""Choosing and renumbering objects."""

import numpy as np

from mobilevos.clips.objects import choose_objects, count_objects, count_pixels, keep_visible


def test_count() -> None:
    labels = np.array([[0, 3, 255], [3, 0, 1]], np.uint8)
    counts = count_pixels(labels)
    assert counts[[0, 1, 2, 3, 255]].tolist() == [2, 1, 0, 2, 1]
    assert count_objects(labels) == 3
    assert count_objects(np.full((2, 2), 255, np.uint8)) == 0


def test_chosen_objects_are_numbered_without_gaps() -> None:
    labels = np.repeat(np.array([0, 4, 9, 200, 255], np.uint8), 10)[None]
    chosen = set()
    for seed in range(30):
        table = choose_objects(np.random.default_rng(seed), labels, 2)
        assert sorted(table[[4, 9, 200]]) == [0, 1, 2]
        assert table[0] == 0
        assert table[255] == 255
        chosen.add(int(np.flatnonzero(table == 1)[0]))
    assert chosen == {4, 9, 200}


def test_tiny_objects_are_left_out() -> None:
    labels = np.ones((20, 20), np.uint8)
    labels[0, 0] = 2
    table = choose_objects(np.random.default_rng(0), labels, 2)
    assert table[1:3].tolist() == [1, 0]


def test_nothing_to_choose() -> None:
    table = choose_objects(np.random.default_rng(0), np.zeros((4, 4), np.uint8), 2)
    assert not table[:255].any()


def test_only_what_frame_0_shows_stays() -> None:
    masks = np.zeros((2, 10, 10), np.uint8)
    masks[0, 0], masks[0, 1, :2], masks[0, 2], masks[0, 3] = 1, 2, 3, 255
    masks[1, 0], masks[1, 1], masks[1, 2], masks[1, 3] = 1, 2, 3, 4
    assert keep_visible(masks, min_pixels=5, max_fill=0.9)
    assert masks[0, :4, 0].tolist() == [1, 0, 2, 255]
    assert masks[1, :4, 0].tolist() == [1, 0, 2, 0]


def test_objects_have_to_be_seen_and_to_leave_room() -> None:
    masks = np.zeros((2, 10, 10), np.uint8)
    masks[1] = 1
    assert not keep_visible(masks, min_pixels=5, max_fill=0.9)
    masks[0, 0] = 2
    assert keep_visible(masks, min_pixels=5, max_fill=0.9)
    assert np.unique(masks[0]).tolist() == [0, 1]
    assert not masks[1].any()
    masks[0] = 1
    assert not keep_visible(masks, min_pixels=5, max_fill=0.9)
