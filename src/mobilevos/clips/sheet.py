"""Batches as pictures, to look at."""

from __future__ import annotations

import cv2
import numpy as np

from mobilevos.arrays import VOID
from mobilevos.clips.clip import Batch

_COLORS = np.array([[255, 64, 64], [64, 160, 255], [80, 220, 80], [255, 200, 40], [220, 80, 255]], np.uint8)


def batch_sheet(batch: Batch) -> np.ndarray:
    """One row a clip: its frames with tinted and outlined objects, void in gray, then frame 0 with its prompts.

    Returns:
        (B * S, (T + 1) * S, 3) uint8 RGB; prompts are bright where positive and dark where negative.
    """
    rows = []
    for frames, masks, prompts in zip(batch.frames.numpy(), batch.masks.numpy(), batch.prompts.numpy(), strict=True):
        pictures = [paint(frame.transpose(1, 2, 0), mask) for frame, mask in zip(frames, masks, strict=True)]
        prompted = frames[0].transpose(1, 2, 0) // 2 + 32
        for i, (positive, negative) in enumerate(zip(prompts[0], prompts[1], strict=True)):
            color = _COLORS[i % len(_COLORS)]
            prompted = np.where(positive[..., None] > 0, prompted // 2 + color // 2, prompted)
            prompted = np.where(negative[..., None] > 0, color // 4, prompted)
        rows.append(np.concatenate([*pictures, prompted.astype(np.uint8)], axis=1))
    return np.concatenate(rows)


def prediction_sheet(batch: Batch, predicted: np.ndarray) -> np.ndarray:
    """One row a clip: frame 0 with its mask, then the frames that were predicted.

    Args:
        predicted: (B, P, S/s, S/s) ids of the last P frames, s any stride.
    Returns:
        (B * S, (1 + P) * S, 3) uint8 RGB.
    """
    stride = batch.frames.shape[-1] // predicted.shape[-1]
    predicted = predicted.repeat(stride, -2).repeat(stride, -1)
    frames = batch.frames.cpu().permute(0, 1, 3, 4, 2).numpy()
    rows = [
        np.concatenate([paint(clip[0], first), *map(paint, clip[-len(masks) :], masks)], axis=1)
        for clip, first, masks in zip(frames, batch.masks[:, 0].cpu().numpy(), predicted, strict=True)
    ]
    return np.concatenate(rows)


def paint(frame: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Tint and outline the objects of a frame.

    Args:
        frame: (H, W, 3) uint8.
        mask: (H, W) uint8 labels.
    """
    picture = frame.copy()
    picture[mask == VOID] = picture[mask == VOID] // 3 + 85
    for label in np.unique(mask[(mask > 0) & (mask < VOID)]):
        color = _COLORS[(int(label) - 1) % len(_COLORS)]
        there = mask == label
        picture[there] = picture[there] // 4 * 3 + color // 4
        outline = there & (cv2.erode(there.view(np.uint8), np.ones((3, 3), np.uint8)) == 0)
        picture[outline] = color
    return picture
