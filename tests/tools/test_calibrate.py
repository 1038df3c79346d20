"""The confidence fitted to clips."""

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.tracking.confidence import CUES
from tests.pipeline.colours import squares, tracker
from tools.calibrate import calibrate, gather


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
    assert len(fitted.coefficients) == len(CUES) + 1
    assert fitted.frames == sum(fitted.held_out.counts) == 3 * 5 * 2
    assert fitted.held_out.error < 0.1
    with pytest.raises(InputError, match="at least two clips"):
        calibrate(tracker(), [list(squares(3))])
