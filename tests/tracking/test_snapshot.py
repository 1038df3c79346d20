"""A state goes into a file and out of it, and nobody sees the difference."""

import json
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.tracking import Tracker
from mobilevos.tracking.snapshot import load_state, save_state


@pytest.mark.parametrize("queue", [1, 2, 4, None])
def test_it_goes_on_to_the_same_bits(runtime: TorchRuntime, tmp_path: Path, queue: int | None) -> None:
    frames, masks = synthetic_clip(frames=7, height=72, width=100, objects=3, seed=2)
    tracker = Tracker(runtime, queue=queue, size=64, every=2)
    tracker.start(frames[0], np.where(masks[0] == 2, 0, masks[0]))
    tracker.step(frames[1])
    tracker.add(np.where(masks[1] == 2, masks[1], 0))
    tracker.step(frames[2])
    tracker.correct(masks[2])
    tracker.step(frames[3])
    save_state(tmp_path / "state.npz", tracker.state(), 3)
    expected = [tracker.step(frame).probabilities for frame in frames[4:]]

    other = Tracker(runtime, queue=queue, size=64, every=2)
    state, frame = load_state(tmp_path / "state.npz")
    assert frame == 3
    assert state.group.queue.given == tracker.state().group.queue.given
    other.restore(state)
    assert other.ids == (1, 3, 2)
    for image, wanted in zip(frames[4:], expected, strict=True):
        np.testing.assert_array_equal(other.step(image).probabilities, wanted)


def test_frames_that_are_remembered_twice_are_stored_once(runtime: TorchRuntime, tmp_path: Path) -> None:
    frames, masks = synthetic_clip(frames=2, height=64, width=96, objects=1)
    tracker = Tracker(runtime)
    tracker.start(frames[0], masks[0])
    save_state(tmp_path / "state.npz", tracker.state(), 0)
    with np.load(tmp_path / "state.npz") as file:
        assert sorted(file) == ["about", "frame0", "keys", "masks0", "nearness", "palette", "values"]


def test_files_of_before_are_named_as_such(runtime: TorchRuntime, tmp_path: Path) -> None:
    frames, masks = synthetic_clip(frames=1, height=64, width=96, objects=1)
    tracker = Tracker(runtime)
    tracker.start(frames[0], masks[0])
    save_state(tmp_path / "new.npz", tracker.state(), 0)
    with np.load(tmp_path / "new.npz") as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"])) | {"format": 3}
    np.savez(tmp_path / "old.npz", **{**arrays, "about": np.array(json.dumps(about))})
    with pytest.raises(InputError, match="its format is 3, expected 4"):
        load_state(tmp_path / "old.npz")


def test_what_is_no_state(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", about=np.array('{"format": 99}'))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").touch()
    for name, reason in (
        ("other.npz", "its format is 99"),
        ("text.npz", "cannot be read"),
        ("empty.npz", "cannot be read"),
        ("none.npz", "No such file"),
    ):
        with pytest.raises(InputError, match=reason):
            load_state(tmp_path / name)
