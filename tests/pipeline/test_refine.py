"""The network and GrabCut make masks of prompts."""

import numpy as np
import pytest

from mobilevos.evaluation.metrics import jaccard
from mobilevos.pipeline.marks import Prompt
from mobilevos.pipeline.refine import by_network, grabcut
from mobilevos.runtime import load_runtime
from mobilevos.synthetic.clip import synthetic_frames
from mobilevos.tracking import Tracker


@pytest.fixture(scope="module")
def scene() -> tuple[np.ndarray, np.ndarray]:
    return next(synthetic_frames(frames=1, height=360, width=640, objects=2, seed=3))


def box_of(mask: np.ndarray, margin: int = 6) -> tuple[int, int, int, int]:
    y, x = np.nonzero(mask)
    left, top = int(x.min()) - margin, int(y.min()) - margin
    return left, top, int(x.max()) + margin - left, int(y.max()) + margin - top


def middle(mask: np.ndarray) -> tuple[int, int]:
    y, x = np.nonzero(mask)
    nearest = np.argmin((y - y.mean()) ** 2 + (x - x.mean()) ** 2)
    return int(x[nearest]), int(y[nearest])


@pytest.mark.parametrize("identity", [1, 2])
def test_a_box_gives_more_than_the_box(scene: tuple[np.ndarray, np.ndarray], identity: int) -> None:
    frame, ids = scene
    truth = ids == identity
    x, y, w, h = box_of(truth)
    plain = np.zeros_like(truth)
    plain[y : y + h, x : x + w] = True
    found = grabcut(frame, Prompt((x, y, w, h)))
    assert not found[~plain].any()
    assert jaccard(found, truth) > max(0.8, jaccard(plain, truth) + 0.1)
    np.testing.assert_array_equal(found, grabcut(frame, Prompt((x, y, w, h))))


def test_clicks_on_and_off(scene: tuple[np.ndarray, np.ndarray]) -> None:
    frame, ids = scene
    on, off = middle(ids == 2), middle(ids == 1)
    found = grabcut(frame, Prompt(on=(on,), off=(off,)))
    assert found[on[1], on[0]]
    assert not found[off[1], off[0]]
    assert jaccard(found, ids == 2) > 0.5


def test_it_is_never_empty() -> None:
    flat = np.full((40, 60, 3), 128, np.uint8)
    for prompt in (Prompt((0, 0, 60, 40)), Prompt((59, 39, 1, 1)), Prompt(on=((0, 0),))):
        assert grabcut(flat, prompt).any()


@pytest.mark.parametrize("identity", [1, 2])
def test_the_network_makes_masks_of_boxes_and_clicks(scene: tuple[np.ndarray, np.ndarray], identity: int) -> None:
    frame, ids = scene
    truth = ids == identity
    refine = by_network(Tracker(load_runtime("mobilenetv2-lite", "onnx", threads=1)))
    boxed = refine(frame, Prompt(box_of(truth)))
    assert jaccard(boxed.mask, truth) > 0.8
    found = refine(frame, Prompt(on=(middle(truth),)))
    assert found.mask[truth].any()
    assert 0 < found.confidence < 1
    assert 0 < boxed.confidence < 1
