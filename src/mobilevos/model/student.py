"""The students: small space-time memory networks with a memory of constant size."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from mobilevos.model.backbones import Backbone, MobileNetV2, resnet18
from mobilevos.model.decoder import Decoder
from mobilevos.model.features import Features, Prediction
from mobilevos.model.memory import Memory, MemoryRead
from mobilevos.model.network import VOSNetwork, all_others
from mobilevos.model.rating import Rating
from mobilevos.model.value_encoder import ValueEncoder


class Student(VOSNetwork):
    """Key encoder, memory read, decoder and value encoder of the paper, at the cost of a phone.

    Args:
        variant: its name in `STUDENTS`.
        backbone: the key encoder.
        key_channels, value_channels: widths of the memory.
        c16, c8, c4: widths of the decoder at strides 16, 8 and 4.
        surroundings: width of the decoder's look at stride 32.
        aspp: width of the ASPP's branches, 0 for none.
        skip_kernel: of the skip connections at strides 8 and 4 and to the values; wide backbones can do with 1.
        locality: whether the position in the previous frame counts in the memory read.
    """

    mask_stride = 4

    def __init__(
        self,
        variant: str,
        backbone: Backbone,
        *,
        key_channels: int = 64,
        value_channels: int,
        c16: int,
        c8: int,
        c4: int,
        surroundings: int,
        aspp: int = 0,
        skip_kernel: int = 3,
        locality: bool = True,
    ) -> None:
        super().__init__()
        self.variant = variant
        self.key_channels, self.value_channels, self.z_channels = key_channels, value_channels, c4
        f4, f8, f16 = backbone.channels
        self.backbone = backbone
        self.key = nn.Conv2d(f16, key_channels, 3, padding=1)
        self.frame_value = nn.Conv2d(f16, value_channels, skip_kernel, padding=skip_kernel // 2)
        self.skip16 = nn.Conv2d(f16, c16, 3, padding=1)
        self.skip8 = nn.Conv2d(f8, c8, skip_kernel, padding=skip_kernel // 2)
        self.skip4 = nn.Conv2d(f4, c4, skip_kernel, padding=skip_kernel // 2)
        self.read = MemoryRead(locality)
        self.value_encoder = ValueEncoder(value_channels)
        self.decoder = Decoder(value_channels, c16, c8, c4, surroundings, aspp)
        self.rating = Rating(c16, key_channels, value_channels)
        nn.init.orthogonal_(self.key.weight.data)
        nn.init.zeros_(self.key.bias.data)  # type: ignore[union-attr]

    @property
    def value_backbone(self) -> Backbone:  # type: ignore[override]
        return self.value_encoder.backbone

    def encode(self, frames: Tensor) -> Features:
        pyramid = self.backbone(self.normalise(frames))
        return Features(
            key=self.key(pyramid.f16),
            value=self.frame_value(pyramid.f16),
            s16=self.skip16(pyramid.f16),
            s8=self.skip8(pyramid.f8),
            s4=self.skip4(pyramid.f4),
        )

    def memorise(self, frames: Tensor, features: Features, masks: Tensor, others: Tensor | None = None) -> Tensor:
        return self.value_encoder(features.value, masks, all_others(masks) if others is None else others)

    def decode(self, readout: Tensor, features: Features) -> Prediction:
        return self.decoder(readout, features)

    def rate(self, features: Features, memory: Memory, prediction: Prediction, masks: Tensor) -> Tensor:
        assert prediction.context is not None
        return self.rating(prediction.context, features.key, memory, masks)


def mobilenetv2_lite(locality: bool = True) -> Student:
    """No ASPP: the one for phones and browsers."""
    return _mobile("mobilenetv2-lite", 0, locality)


def mobilenetv2(locality: bool = True) -> Student:
    """With ASPP."""
    return _mobile("mobilenetv2", 160, locality)


def _mobile(variant: str, aspp: int, locality: bool) -> Student:
    return Student(
        variant,
        MobileNetV2(),
        value_channels=64,
        c16=96,
        c8=64,
        c4=32,
        surroundings=160,
        aspp=aspp,
        locality=locality,
    )


def resnet18_student(locality: bool = True) -> Student:
    """The largest."""
    return Student(
        "resnet18",
        resnet18(),
        value_channels=96,
        c16=160,
        c8=96,
        c4=48,
        surroundings=488,
        aspp=96,
        skip_kernel=1,
        locality=locality,
    )


STUDENTS: dict[str, Callable[..., Student]] = {
    "mobilenetv2-lite": mobilenetv2_lite,
    "mobilenetv2": mobilenetv2,
    "resnet18": resnet18_student,
}
