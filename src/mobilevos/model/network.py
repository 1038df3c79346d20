"""The interface that students and the teacher share, and the step they both make."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.aggregation import aggregate
from mobilevos.model.backbones import Backbone
from mobilevos.model.features import Features, Prediction
from mobilevos.model.memory import Memory, MemoryRead

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class VOSNetwork(nn.Module):
    """A space-time memory network. It remembers nothing itself: memory goes in and comes out.

    Frames are (B, 3, H, W) in 0..255, with H and W multiples of 16. Subclasses define `encode`, `memorise` and
    `decode`; masks for `memorise` have the stride `mask_stride`.
    """

    mean: Tensor
    std: Tensor
    backbone: Backbone
    value_backbone: Backbone
    variant: str
    mask_stride: int
    key_channels: int
    value_channels: int
    z_channels: int
    read: MemoryRead
    top_k: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", 255 * torch.tensor(IMAGENET_MEAN).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", 255 * torch.tensor(IMAGENET_STD).view(1, 3, 1, 1), persistent=False)

    def normalise(self, frames: Tensor) -> Tensor:
        """0..255 RGB to zero mean and unit variance, as the backbones were trained on."""
        return (frames - self.mean) / self.std

    def encode(self, frames: Tensor) -> Features:
        """Everything of the frames that does not depend on objects."""
        raise NotImplementedError

    def memorise(self, frames: Tensor, features: Features, masks: Tensor, others: Tensor | None = None) -> Tensor:
        """Values (B, N, Cv, h, w) of objects with probabilities `masks` (B, N, H/s, W/s), s = `mask_stride`.

        `others`, of the same shape, is what each object is not; by default it is all other objects.
        """
        raise NotImplementedError

    def decode(self, readout: Tensor, features: Features) -> Prediction:
        """Logits and representation from a read-out (B, N, Cv, h, w)."""
        raise NotImplementedError

    def predict(self, features: Features, memory: Memory) -> Prediction:
        """The objects in a frame, from its features and the memory."""
        return self.decode(self.read(features.key, memory, self.top_k), features)

    def rate(self, features: Features, memory: Memory, prediction: Prediction, masks: Tensor) -> Tensor:
        """Logits (B, N) of how well masks (B, N, H/4, W/4) fit; not a number where a network does not rate its own."""
        return masks.new_full(masks.shape[:2], torch.nan)

    def own_masks(self, logits: Tensor) -> Tensor:
        """Aggregated logits (B, 1 + N, H/4, W/4) as masks for `memorise`."""
        if self.mask_stride != 4:
            logits = upsample(logits, 4 // self.mask_stride)
        return logits.softmax(1)[:, 1:]

    def given_masks(self, masks: Tensor) -> Tensor:
        """Full-size masks (B, N, H, W), 0..1, as masks for `memorise`."""
        return masks if self.mask_stride == 1 else F.avg_pool2d(masks, self.mask_stride)

    def forward(self, frames: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """One whole step: see the objects, and remember them.

        Returns:
            probabilities (B, 1 + N, H, W), z (B * N, C, H/4, W/4), key (B, Ck, h, w) and values (B, N, Cv, h, w) of
            this frame for the memory, and how well the masks fit (B, N), 0..1.
        """
        features = self.encode(frames)
        prediction = self.predict(features, memory)
        logits = aggregate(prediction.logits)
        masks = self.own_masks(logits)
        values = self.memorise(frames, features, masks)
        rating = self.rate(features, memory, prediction, masks).sigmoid()
        return upsample(logits, 4).softmax(1), prediction.z, features.key, values, rating


def all_others(masks: Tensor) -> Tensor:
    """For each object of (B, N, H, W) the sum of the others."""
    return masks.sum(1, keepdim=True) - masks


def upsample(x: Tensor, factor: int) -> Tensor:
    """Bilinear, as the training loss and every runtime do it."""
    return F.interpolate(x, scale_factor=factor, mode="bilinear", align_corners=False)


def parameter_count(modules: nn.Module | Sequence[nn.Module]) -> int:
    """Number of learned numbers."""
    modules = [modules] if isinstance(modules, nn.Module) else modules
    return sum(parameter.numel() for module in modules for parameter in module.parameters())
