"""Training data: from photos and videos on disk to batches of clips."""

from mobilevos.clips.clip import Batch, Clip, ClipConfig, ClipSource
from mobilevos.clips.loader import clip_loader
from mobilevos.clips.photos import PhotoSource
from mobilevos.clips.prompts import draw_prompt
from mobilevos.clips.sheet import batch_sheet
from mobilevos.clips.videos import VideoSource

__all__ = [
    "Batch",
    "Clip",
    "ClipConfig",
    "ClipSource",
    "PhotoSource",
    "VideoSource",
    "batch_sheet",
    "clip_loader",
    "draw_prompt",
]
