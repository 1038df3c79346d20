"""The tracker over the torch runtime, with an untrained network: what it remembers and what it refuses."""

import pickle
import tracemalloc

import numpy as np
import pytest
import torch

from mobilevos.clips.clip import Batch
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build
from mobilevos.model.network import upsample
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker
from mobilevos.tracking.prompts import draw_box, draw_clicks
from mobilevos.training.prompting import guess
from mobilevos.training.unroll import one_hot, unroll


@pytest.fixture(scope="module")
def clip() -> tuple[np.ndarray, np.ndarray]:
    return synthetic_clip(frames=8, height=96, width=128, objects=3, seed=1)


def follow(tracker: Tracker, frames: np.ndarray) -> list[np.ndarray]:
    return [tracker.step(frame).probabilities for frame in frames]


def test_it_is_what_training_unrolls(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    """The tracker's memory is the one the network was trained with, for queues of any length."""
    frames, masks = clip
    batch = torch.from_numpy(frames).permute(0, 3, 1, 2)[None].float()
    truth = one_hot(torch.from_numpy(masks)[None], 3)
    for queue in (1, 2, 4, None):
        tracker = Tracker(runtime, queue=queue, size=None, every=1)
        tracker.start(frames[0], masks[0])
        ours = np.stack(follow(tracker, frames[1:]))
        with torch.no_grad():
            logits = unroll(runtime.network, batch, truth, queue=queue).logits[0]
            theirs = torch.nn.functional.interpolate(logits, scale_factor=4, mode="bilinear").softmax(1)
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-4)


def test_results_are_at_the_frames_size_with_the_users_ids(runtime: TorchRuntime) -> None:
    frames, masks = synthetic_clip(frames=2, height=90, width=150, objects=2, seed=0)
    mask = np.array([0, 7, 200])[masks[0]]
    tracker = Tracker(runtime, size=64)
    first = tracker.start(frames[0], mask)
    assert first.ids == (7, 200)
    result = tracker.step(frames[1])
    assert result.mask.shape == (90, 150)
    assert result.mask.dtype == np.uint8
    assert set(np.unique(result.mask)) <= {0, 7, 200}
    assert result.probabilities.shape == (3, 90, 150)
    np.testing.assert_allclose(result.probabilities.sum(0), 1, atol=1e-5)
    assert set(result.confidence) == {7, 200}
    assert all(0 <= value <= 1 for value in result.confidence.values())


def test_one_object_is_decided_like_many(runtime: TorchRuntime) -> None:
    """The short cut for one object gives what argmax gives."""
    frames, masks = synthetic_clip(frames=3, height=90, width=150, objects=1, seed=0)
    tracker = Tracker(runtime, size=64)
    tracker.start(frames[0], masks[0])
    result = tracker.step(frames[1])
    np.testing.assert_array_equal(result.mask, result.probabilities.argmax(0))


def test_cost_and_memory_do_not_grow(runtime: TorchRuntime) -> None:
    """200 frames with a queue of 2: what is remembered and what is computed stay the same."""
    frames, masks = synthetic_clip(frames=10, height=64, width=96, objects=2, seed=0)
    tracker = Tracker(runtime, queue=2, size=None)
    tracker.start(frames[0], masks[0])
    sizes, shapes, used = set(), set(), []
    tracemalloc.start()
    for i in range(200):
        tracker.step(frames[i % 10])
        memory = tracker.state().group.queue.memory
        shapes.add((memory.keys.shape, memory.values.shape))
        sizes.add(len(pickle.dumps(tracker.state().group.queue.memory)))
        if i % 50 == 49:
            used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert len(shapes) == len(sizes) == 1
    assert used[-1] - used[0] < 100_000  # 150 frames of 18 kB each would show


def test_an_unbounded_memory_grows(runtime: TorchRuntime) -> None:
    frames, masks = synthetic_clip(frames=12, height=64, width=96, objects=1, seed=0)
    tracker = Tracker(runtime, queue=None, size=None, every=5)
    tracker.start(frames[0], masks[0])
    follow(tracker, frames[1:])
    assert tracker.state().group.queue.memory.slots == 4  # 0, 5, 10 and the last, 11


def test_state_and_restore_repeat_exactly(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    frames, masks = clip
    tracker = Tracker(runtime, queue=3, size=None)
    tracker.start(frames[0], masks[0])
    follow(tracker, frames[1:4])
    state = pickle.loads(pickle.dumps(tracker.state()))
    expected = follow(tracker, frames[4:])
    other = Tracker(runtime, queue=3, size=None)
    other.restore(state)
    for a, b in zip(expected, follow(other, frames[4:]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_add_follows_new_objects_and_leaves_the_old_ones(
    clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime
) -> None:
    frames, masks = clip
    tracker = Tracker(runtime, size=None)
    tracker.start(frames[0], np.where(masks[0] == 1, 1, 0))
    tracker.step(frames[1])
    before = tracker.state()
    result = tracker.add(np.where(masks[1] == 3, 9, 0))
    assert result.ids == (1, 9)
    np.testing.assert_array_equal(result.mask == 9, masks[1] == 3)
    after = tracker.state().group.queue
    assert after.anchors == 2
    # where the new object was not, the old one is remembered as it was
    np.testing.assert_array_equal(after.memory.values[0, :, 0], before.group.queue.memory.values[0, :, 0])
    assert tracker.step(frames[2]).probabilities.shape[0] == 3
    with pytest.raises(InputError, match="object 1 is being followed already"):
        tracker.add(np.where(masks[1] == 3, 1, 0))


def test_correct_replaces_the_current_masks(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    frames, masks = clip
    tracker = Tracker(runtime, size=None, queue=2)
    tracker.start(frames[0], masks[0])
    tracker.step(frames[1])
    result = tracker.correct(masks[1])
    np.testing.assert_array_equal(result.mask, masks[1])
    fresh = Tracker(runtime, size=None)
    fresh.start(frames[1], masks[1])
    queue = tracker.state().group.queue
    for slot in (1, 2):  # the annotation and the most recent frame
        np.testing.assert_allclose(
            queue.memory.values[:, :, slot], fresh.state().group.queue.memory.values[:, :, 0], atol=1e-4
        )
    gone = tracker.correct(np.where(masks[1] == 2, 0, masks[1]))
    assert gone.ids == (1, 2, 3)
    with pytest.raises(InputError, match="object 8 is not being followed"):
        tracker.correct(np.full_like(masks[1], 8))


def test_remove(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    frames, masks = clip
    tracker = Tracker(runtime, size=None)
    tracker.start(frames[0], masks[0])
    tracker.step(frames[1])
    kept = tracker.state().group.queue.memory.values[[0, 2]]
    tracker.remove(2)
    assert tracker.ids == (1, 3)
    np.testing.assert_array_equal(tracker.state().group.queue.memory.values, kept)
    assert tracker.step(frames[2]).ids == (1, 3)
    with pytest.raises(InputError, match="object 2 is not being followed"):
        tracker.remove(2)
    tracker.remove(1)
    tracker.remove(3)
    with pytest.raises(InputError, match="call start"):
        tracker.step(frames[3])


GOOD = np.zeros((32, 48, 3), np.uint8)
MASK = np.pad(np.ones((8, 8), np.uint8), ((4, 20), (4, 36)))


@pytest.mark.parametrize(
    ("frame", "mask", "sentence"),
    [
        (GOOD, MASK[:16], "expected a mask of 48 x 32 pixels like the frame, got 48 x 16"),
        (GOOD, MASK * 0, "there is no object in the mask"),
        (GOOD, np.arange(32 * 48).reshape(32, 48), "expected at most 255 objects, got 1535"),
        (GOOD, MASK.astype(int) * 300, "expected ids from 1 to 255, got 300"),
        (GOOD, -MASK.astype(int), "expected ids from 1 to 255, got -1"),
        (GOOD, np.full((32, 48), np.nan), "expected a mask .* of integer ids, got .* float64"),
        (GOOD.astype(np.float32) * np.nan, MASK, "expected an RGB frame .* got .* float32"),
        (GOOD[..., 0], MASK, r"expected an RGB frame .* got \(32, 48\) uint8"),
        (np.zeros((32, 48, 4), np.uint8), MASK, r"expected an RGB frame .* got \(32, 48, 4\)"),
        (GOOD[:0], MASK[:0], "expected a frame with pixels"),
        (None, MASK, "expected an RGB frame .* got NoneType"),
        (GOOD, None, "expected a mask .* got NoneType"),
    ],
)
def test_bad_input_is_one_clear_error(
    frame: np.ndarray, mask: np.ndarray, sentence: str, runtime: TorchRuntime
) -> None:
    tracker = Tracker(runtime, size=None)
    with pytest.raises(InputError, match=sentence):
        tracker.start(frame, mask)
    assert tracker.ids == ()


def test_a_frame_of_another_size_changes_nothing(runtime: TorchRuntime) -> None:
    tracker = Tracker(runtime, size=None)
    tracker.start(GOOD, MASK)
    state = tracker.state()
    with pytest.raises(InputError, match="expected a frame of 48 x 32 pixels like the first one, got 32 x 48"):
        tracker.step(GOOD.transpose(1, 0, 2).copy())
    assert tracker.state() is state


def test_bad_settings(runtime: TorchRuntime) -> None:
    with pytest.raises(InputError, match="queue of at least 1"):
        Tracker(runtime, queue=0)
    with pytest.raises(InputError, match="working size of at least 16"):
        Tracker(runtime, size=3)
    with pytest.raises(InputError, match="neither a shipped model"):
        Tracker.load("nonsense")


def test_the_teacher_tracks_with_top_k() -> None:
    torch.manual_seed(0)
    tracker = Tracker(TorchRuntime(build("stcn", top_k=20)), queue=None, every=5)
    frames, masks = synthetic_clip(frames=3, height=48, width=64, objects=1, seed=0)
    tracker.start(frames[0], masks[0])
    assert [p.shape for p in follow(tracker, frames[1:])] == [(2, 48, 64)] * 2


def test_marks_become_masks_as_in_training(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    """`propose` shows the network a prompt the way the training objective does."""
    frames, _ = clip
    box, clicks = draw_box(96, 128, (20, 10, 40, 30)), draw_clicks(96, 128, [(80, 60), (90, 70)])
    away = draw_clicks(96, 128, [(5, 5)])
    tracker = Tracker(runtime, size=None)
    result = tracker.propose(frames[0], {4: box, 9: clicks}, {9: away})
    assert result.ids == (4, 9)
    assert tracker.ids == ()
    batch = Batch(
        torch.from_numpy(frames[:1]).permute(0, 3, 1, 2)[None],
        torch.zeros(1, 1, 96, 128, dtype=torch.uint8),
        torch.from_numpy(np.stack([[box, clicks], [np.zeros_like(box), away]]))[None],
        objects=2,
        index=0,
    )
    network, first = runtime.network, batch.frames[:, 0].float()
    with torch.no_grad():
        features = network.encode(first)
        rough = guess(network, first, features, batch.prompts)
        # what is guessed goes back in as it comes out, at full size
        before = network.given_masks(upsample(rough.logits, 4).softmax(1)[:, 1:])
        logits = upsample(guess(network, first, features, batch.prompts, before).logits, 4)
    np.testing.assert_allclose(result.probabilities, logits[0].softmax(0).numpy(), atol=1e-4)


def test_bad_marks(clip: tuple[np.ndarray, np.ndarray], runtime: TorchRuntime) -> None:
    tracker = Tracker(runtime, size=None)
    with pytest.raises(InputError, match="at least one object"):
        tracker.propose(clip[0][0], {})
    with pytest.raises(InputError, match="expected a mask of 128 x 96"):
        tracker.propose(clip[0][0], {1: np.ones((4, 4), np.uint8)})
