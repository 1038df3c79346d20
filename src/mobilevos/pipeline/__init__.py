"""From a video and a few marks to masks, overlays and cut-outs: the library behind `mobilevos segment`."""

from mobilevos.pipeline.marks import FrameMarks, Prompt, read_marks
from mobilevos.pipeline.run import Segmented, segment

__all__ = ["FrameMarks", "Prompt", "Segmented", "read_marks", "segment"]
