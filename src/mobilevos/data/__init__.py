"""Training data: from photos and videos on disk to batches of clips."""

from mobilevos.data.clip import VOID, Batch, Clip, ClipConfig, ClipSource
from mobilevos.data.loader import clip_loader
from mobilevos.data.photos import PhotoSource
from mobilevos.data.prompts import draw_prompt
from mobilevos.data.sheet import contact_sheet
from mobilevos.data.videos import BL30KSource, DavisSource, YouTubeSource

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
