"""Clips are tracked from their first mask, and backwards from the last frame that shows something."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build
from mobilevos.training import validation
from mobilevos.training.unroll import Unrolled
from mobilevos.training.validation import check_clips, follow, validate_teacher
from tests.builders.davis import davis_masks, davis_pictures, write_davis
from tests.builders.pictures import write_masks


class Copying:
    """A stand-in for the tracker that gives back the first mask and notes the brightness of what it sees."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def start(self, frame: np.ndarray, mask: np.ndarray) -> Any:
        self.mask = mask
        return self.step(frame)

    def step(self, frame: np.ndarray) -> Any:
        self.seen.append(round(frame.mean() / 20))
        return SimpleNamespace(mask=self.mask)


MASKS = np.zeros((5, 48, 64), np.uint8)
MASKS[:4, 10:30, 10:30] = 1


@pytest.fixture
def davis(tmp_path: Path) -> Path:
    """Five frames of growing brightness with a square of 20 pixels a side, which is gone from the last one."""
    frames = [np.full((48, 64, 3), 20 * (index + 1), np.uint8) for index in range(5)]
    return write_davis(tmp_path, {"clip": (frames, MASKS)})


def test_both_directions(davis: Path) -> None:
    forwards, back = Copying(), Copying()
    (score,) = follow(forwards, davis, ["clip"])  # type: ignore[arg-type]
    assert forwards.seen == [1, 2, 3, 4, 5]
    assert score.j == 1.0  # DAVIS leaves out the first and the last frame
    (score,) = follow(back, davis, ["clip"], backwards=True)  # type: ignore[arg-type]
    assert back.seen == [4, 3, 2, 1]
    assert score.j_and_f == 1.0


def test_a_clip_that_shows_nothing(davis: Path) -> None:
    write_masks(davis_masks(davis, "clip"), 0 * MASKS)
    with pytest.raises(InputError, match="at least 200 pixels in a frame of 'clip'"):
        follow(Copying(), davis, ["clip"], backwards=True)  # type: ignore[arg-type]


def test_void_is_background(davis: Path) -> None:
    masks = MASKS.copy()
    masks[:, :, 40:] = 255
    write_masks(davis_masks(davis, "clip"), masks)
    for backwards in (False, True):
        tracker = Copying()
        (score,) = follow(tracker, davis, ["clip"], backwards=backwards)  # type: ignore[arg-type]
        assert set(np.unique(tracker.mask)) == {0, 1}
        assert score.j_and_f == 1.0
        assert tracker.seen == ([4, 3, 2, 1] if backwards else [1, 2, 3, 4, 5])
    (score,) = validate_teacher(build("mobilenetv2-lite"), davis, ["clip"], frames=4, size=None)
    assert score.name == "clip"


def test_clips_that_cannot_be_validated_on(davis: Path) -> None:
    check_clips(davis, ["clip"])
    with pytest.raises(InputError, match=r"the names of clips .* got none"):
        check_clips(davis, [])
    with pytest.raises(InputError, match="no video 'clop'"):
        check_clips(davis, ["clip", "clop"])
    write_masks(davis_masks(davis, "clip"), {0: np.full((48, 64), 255, np.uint8)})
    with pytest.raises(InputError, match=r"the first annotation of 'clip' .* has no object"):
        check_clips(davis, ["clip"])
    for folder in (davis_pictures(davis, "clip"), davis_masks(davis, "clip")):
        for path in sorted(folder.iterdir())[2:]:
            path.unlink()
    with pytest.raises(InputError, match=r"at least 3 frames of 'clip' .*, got 2"):
        check_clips(davis, ["clip"])


def test_a_teacher_that_may_see_the_truth(davis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece begins where the one before it ended, and the truth of every frame is handed over."""
    pieces = []

    def previous(network: Any, frames: torch.Tensor, masks: torch.Tensor, **options: Any) -> Unrolled:
        """Predicts the true mask of the frame before, so lags behind by one."""
        assert options == {"queue": None, "teacher_forcing": True}
        pieces.append([round(frame.mean().item() / 20) for frame in frames[0]])
        seen = torch.nn.functional.avg_pool2d(masks[0, :-1], 4)
        return Unrolled(20 * torch.cat([1 - seen, seen], 1)[None] - 10, torch.zeros(0))

    monkeypatch.setattr(validation, "unroll", previous)
    (score,) = validate_teacher(build("mobilenetv2-lite"), davis, ["clip"], frames=3, size=48)
    assert pieces == [[1, 2, 3], [3, 4, 5]]
    assert 0.8 < score.j < 1  # the corners of the square are rounded by enlarging

    monkeypatch.undo()
    (score,) = validate_teacher(build("mobilenetv2-lite"), davis, ["clip"], frames=4, size=None)
    assert 0 <= score.j_and_f < 0.9, "an untrained network knows nothing"
