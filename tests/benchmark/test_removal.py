"""The figures of removal are those of what was hidden, and nothing else."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from mobilevos.benchmark.removal import Case, benchmark_removal, painted_cases, pasted_cases
from mobilevos.errors import InputError
from tests.builders.davis import write_davis

SIZE = (48, 80)
GROUND = cv2.resize(np.random.default_rng(0).integers(20, 200, (12, 20, 3), np.uint8), SIZE[::-1])


def labels(left: int) -> np.ndarray:
    ids = np.zeros(SIZE, np.uint8)
    ids[16:32, left : left + 12] = 1
    return ids


def test_a_still_ground_is_recovered_and_the_others_are_worse() -> None:
    """A square passes before a picture that does not move: all of it is seen in some frame."""
    hidden = [labels(4 * time + 2) > 0 for time in range(12)]
    frames = [np.where(where[..., None], np.uint8(250), GROUND) for where in hidden]
    report = benchmark_removal([Case("still", frames, [GROUND] * 12, hidden)])
    removed, inpainted, left_in = ({**row} for row in report.rows)
    assert [row["way"] for row in report.rows] == ["removed", "inpainted", "left in"]
    assert removed["psnr_db"] > inpainted["psnr_db"] + 3 > left_in["psnr_db"] + 3
    assert removed["flicker"] < inpainted["flicker"]
    assert (removed["painted"], inpainted["painted"], left_in["painted"]) == (0.0, 1.0, 0.0)
    error = np.concatenate([(250.0 - GROUND[where]).ravel() for where in hidden])
    assert left_in["psnr_db"] == pytest.approx(10 * np.log10(255**2 / np.mean(error**2)), abs=0.01)


def test_a_painted_case_is_the_same_clip_with_and_without() -> None:
    case = next(painted_cases([1], frames=3, height=96))
    assert len(case.frames) == len(case.truth) == len(case.hidden) == 3
    for frame, truth, hidden in zip(case.frames, case.truth, case.hidden, strict=True):
        assert hidden.any()
        assert np.abs(frame[~hidden].astype(int) - truth[~hidden]).max() <= 3


def test_a_pasted_object_is_where_it_was_filmed(tmp_path: Path) -> None:
    white = np.full((*SIZE, 3), 255, np.uint8)
    clips = {
        "street": ([GROUND] * 3, [labels(0)] * 3),
        "dog": ([white] * 2, [labels(20), labels(24)]),
    }
    write_davis(tmp_path, clips, ending="png")
    (case,) = pasted_cases(tmp_path, ["street:dog"])
    assert (case.name, len(case.frames)) == ("dog before street", 2)
    for frame, truth, hidden, left in zip(case.frames, case.truth, case.hidden, (20, 24), strict=True):
        np.testing.assert_array_equal(truth, GROUND)
        np.testing.assert_array_equal(frame[~hidden], GROUND[~hidden])
        assert (frame[20:28, left + 4 : left + 8] >= 250).all()
        assert (labels(left) > 0)[hidden].mean() > 0.6
    with pytest.raises(InputError, match="background:object"):
        list(pasted_cases(tmp_path, ["street"]))
    with pytest.raises(InputError, match="no video 'cat'"):
        list(pasted_cases(tmp_path, ["street:cat"]))
