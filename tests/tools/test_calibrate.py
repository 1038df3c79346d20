"""The confidence fitted to clips."""

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.tracking.confidence import ALONE, CUES
from tests.pipeline.colours import squares, tracker
from tools.calibrate import alarm_score, calibrate, gather


def test_overlaps_are_those_with_the_truth() -> None:
    """The truth of object 1 is said to be half of what is found, that of object 2 is what is found."""
    clip = [(frame, ids.copy()) for frame, ids in squares(5)]
    for _, ids in clip[1:]:
        ids[18:28][ids[18:28] == 1] = 0
    found, overlaps = gather(tracker(), clip)
    assert found.shape == (8, len(CUES))
    np.testing.assert_allclose(overlaps.reshape(4, 2), [[0.5, 1.0]] * 4, atol=0.03)


def test_the_curve_is_of_clips_that_were_left_out() -> None:
    fitted = calibrate(tracker(), [list(squares(6)), list(squares(6, width=112)), list(squares(6, height=72))])
    assert len(fitted.coefficients) == len(ALONE)
    assert fitted.frames == sum(fitted.held_out.counts) == 3 * 5 * 2
    assert fitted.held_out.error < 0.1
    with pytest.raises(InputError, match="at least two clips"):
        calibrate(tracker(), [list(squares(3))])


def test_void_counts_neither_way() -> None:
    clip = [(frame, ids.copy()) for frame, ids in squares(5)]
    for _, ids in clip[1:]:
        ids[18:28][ids[18:28] == 1] = 255
    clip[3][1][:] = 255  # a frame of which nothing is known
    _, overlaps = gather(tracker(), clip)
    assert len(overlaps) == 6
    np.testing.assert_allclose(overlaps, 1, atol=0.03)


def test_how_well_bad_masks_are_told() -> None:
    truth = np.array([0.1, 0.2, 0.3, 0.4, *np.full(100, 0.9)])
    good = np.linspace(0.5, 0.99, 100)
    told = alarm_score(np.array([0.1, 0.2, 0.3, 0.999, *good]), truth)
    assert (told.bad, told.good) == (4, 100)
    assert told.auroc == pytest.approx(0.75)
    assert told.caught == 0.75
    assert alarm_score(np.array([0.6, 0.6]), np.array([0.1, 0.9])).auroc == 0.5
    assert np.isnan(alarm_score(np.ones(3), np.ones(3)).auroc)
