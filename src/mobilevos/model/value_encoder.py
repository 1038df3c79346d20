"""The student's value encoder: what an object looks like in a frame, as the memory keeps it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.backbones import MobileNetV2
from mobilevos.model.features import with_frame


class ValueEncoder(nn.Module):
    """MobileNetV2 over masks, joined with the frame's features at stride 16.

    It sees this object and the others, never the frame, and it sees them at stride 4: that is where the decoder's
    masks come from, so a finer input would carry nothing new, at four to sixteen times the cost. Levels of stride 16
    keep the outline, those of stride 32 the shape as a whole.

    Args:
        out_channels: width of the values.
    """

    def __init__(self, out_channels: int) -> None:
        super().__init__()
        self.backbone = MobileNetV2(in_channels=2, strides=(2, 2, 1, 2))
        _, c16, c32 = MobileNetV2.channels
        self.outline = nn.Conv2d(c16, out_channels, 1)
        self.shape = nn.Conv2d(c32, out_channels, 1)
        self.conv1 = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1)

    def forward(self, frame: Tensor, masks: Tensor, others: Tensor) -> Tensor:
        """Values (B, N, C, h, w).

        Args:
            frame: (B, C, h, w), `Features.value`.
            masks: (B, N, 4h, 4w), probabilities of the objects.
            others: (B, N, 4h, 4w), what each of them is not.
        """
        batch, objects = masks.shape[:2]
        pyramid = self.backbone(torch.stack([masks, others], 2).flatten(0, 1))
        shape = F.interpolate(self.shape(pyramid.f16), pyramid.f8.shape[-2:], mode="bilinear", align_corners=False)
        mask = self.outline(pyramid.f8) + shape
        x = with_frame(mask, frame)
        x = x + self.conv2(F.relu(self.conv1(F.relu(x))))
        return x.unflatten(0, (batch, objects))
