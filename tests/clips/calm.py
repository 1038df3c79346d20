"""A configuration without surprises, and how well the masks of a clip fit its frames."""

import numpy as np

from mobilevos.clips import Clip, ClipConfig
from tests.builders.coloured import labels_of


def calm(**changes: float) -> ClipConfig:
    """Motion and crops only: nothing pasted, colours as they are."""
    off = dict.fromkeys(
        (
            *("distractor", "occluder", "leave", "jitter", "gray", "flicker"),
            *("shrink", "motion_blur", "defocus", "compression", "noise", "other_background"),
        ),
        0.0,
    )
    return ClipConfig(**{"size": 64, "min_pixels": 20, **off, **changes})  # type: ignore[arg-type]


def agreement(clip: Clip) -> float:
    """How well the masks of a colour-coded clip fit its frames: the smallest intersection over union of an object.

    Ids are dealt at random, so an object's colour is what frame 0 shows most of under its mask.
    """
    colors, known = labels_of(clip.frames), clip.masks != 255
    scores = []
    for label in range(1, int(clip.masks.max(where=known, initial=0)) + 1):
        color = np.bincount(colors[0][clip.masks[0] == label]).argmax()
        ours, theirs = clip.masks == label, (colors == color) & known
        scores.append((ours & theirs).sum() / (ours | theirs).sum())
    return float(min(scores))
