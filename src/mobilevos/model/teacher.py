"""The teacher: STCN (Cheng et al., NeurIPS 2021), large and with a memory that grows."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.aggregation import aggregate
from mobilevos.model.backbones import resnet18, resnet50
from mobilevos.model.features import Features, Prediction
from mobilevos.model.memory import MemoryRead
from mobilevos.model.network import VOSNetwork, all_others, upsample


class ResBlock(nn.Module):
    """Pre-activation residual block with two 3x3 convolutions."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        same = in_channels == out_channels
        self.downsample = nn.Identity() if same else nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.downsample(x) + self.conv2(F.relu(self.conv1(F.relu(x))))


class CBAM(nn.Module):
    """Channel, then spatial attention (Woo et al., ECCV 2018)."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        self.channel = nn.Sequential(
            nn.Linear(channels, channels // reduction), nn.ReLU(), nn.Linear(channels // reduction, channels)
        )
        self.spatial = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.channel(x.mean((2, 3))) + self.channel(x.amax((2, 3)))
        x = x * gate.sigmoid()[:, :, None, None]
        summary = torch.stack([x.amax(1), x.mean(1)], 1)
        return x * self.spatial(summary).sigmoid()


class FeatureFusion(nn.Module):
    """Joins what the value encoder saw with the frame's features."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.block1 = ResBlock(in_channels, out_channels)
        self.attention = CBAM(out_channels)
        self.block2 = ResBlock(out_channels, out_channels)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block1(x)
        return self.block2(x + self.attention(x))


class UpsampleBlock(nn.Module):
    """Twice the size, joined with the skip connection."""

    def __init__(self, skip_channels: int, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.skip = nn.Conv2d(skip_channels, in_channels, 3, padding=1)
        self.out = ResBlock(in_channels, out_channels)

    def forward(self, x: Tensor, skip: Tensor) -> Tensor:
        return self.out(self.skip(skip) + F.interpolate(x, skip.shape[-2:], mode="bilinear", align_corners=False))


class STCN(VOSNetwork):
    """ResNet50 keys, ResNet18 values that see the frame, 54.4 M parameters.

    Args:
        stride_in_1x1: where the ResNet50's stride sits; True for weights that came from Keras.
        top_k: how many memory positions are read at test time; None reads all, as in training.
    """

    variant = "stcn"
    mask_stride = 1
    key_channels, value_channels, z_channels = 64, 512, 256

    def __init__(self, stride_in_1x1: bool = True, top_k: int | None = None) -> None:
        super().__init__()
        self.stride_in_1x1, self.top_k = stride_in_1x1, top_k
        self.backbone = resnet50(stride_in_1x1)
        self.value_backbone = resnet18(in_channels=5)
        self.key = nn.Conv2d(1024, self.key_channels, 3, padding=1)
        self.compress_key = nn.Conv2d(1024, 512, 3, padding=1)
        self.read = MemoryRead(locality=False)
        self.fuse = FeatureFusion(1024 + 256, 512)
        self.compress = ResBlock(1024, 512)
        self.up8 = UpsampleBlock(512, 512, 256)
        self.up4 = UpsampleBlock(256, 256, 256)
        self.logits = nn.Conv2d(256, 1, 3, padding=1)
        nn.init.orthogonal_(self.key.weight.data)
        nn.init.zeros_(self.key.bias.data)  # type: ignore[union-attr]

    def encode(self, frames: Tensor) -> Features:
        pyramid = self.backbone(self.normalise(frames))
        return Features(
            key=self.key(pyramid.f16),
            value=pyramid.f16,
            s16=self.compress_key(pyramid.f16),
            s8=pyramid.f8,
            s4=pyramid.f4,
        )

    def memorise(self, frames: Tensor, features: Features, masks: Tensor, others: Tensor | None = None) -> Tensor:
        batch, objects = masks.shape[:2]
        others = all_others(masks) if others is None else others
        image = self.normalise(frames)[:, None].expand(-1, objects, -1, -1, -1)
        seen = self.value_backbone(torch.cat([image, masks[:, :, None], others[:, :, None]], 2).flatten(0, 1)).f16
        frame = features.value[:, None].expand(-1, objects, -1, -1, -1).flatten(0, 1)
        return self.fuse(torch.cat([seen, frame], 1)).unflatten(0, (batch, objects))

    def decode(self, readout: Tensor, features: Features) -> Prediction:
        batch, objects = readout.shape[:2]

        def per_object(x: Tensor) -> Tensor:
            return x[:, None].expand(-1, objects, -1, -1, -1).flatten(0, 1)

        x = self.compress(torch.cat([readout.flatten(0, 1), per_object(features.s16)], 1))
        x = self.up8(x, per_object(features.s8))
        z = F.relu(self.up4(x, per_object(features.s4)))
        return Prediction(self.logits(z).unflatten(0, (batch, objects)).squeeze(2), z)

    def own_masks(self, logits: Tensor) -> Tensor:
        """As the authors have it, objects are enlarged one by one and compete at full size, not at stride 4."""
        return aggregate(upsample(logits[:, 1:], 4)).softmax(1)[:, 1:]
