"""Training data: from photos and videos on disk to batches of clips."""

from mobilevos.clips.clip import VOID, Batch, Clip, ClipConfig, ClipSource
from mobilevos.clips.loader import clip_loader
from mobilevos.clips.photos import PhotoSource
from mobilevos.clips.prompts import draw_prompt
from mobilevos.clips.sheet import contact_sheet
from mobilevos.clips.videos import BL30KSource, DavisSource, YouTubeSource

__all__ = [
    "VOID",
    "BL30KSource",
    "Batch",
    "Clip",
    "ClipConfig",
    "ClipSource",
    "DavisSource",
    "PhotoSource",
    "YouTubeSource",
    "clip_loader",
    "contact_sheet",
    "draw_prompt",
]
