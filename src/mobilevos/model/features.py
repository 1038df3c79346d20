"""What the networks pass on between their parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from torch import Tensor


@dataclass(frozen=True)
class Pyramid:
    """Backbone features of a batch of frames."""

    f4: Tensor
    """(B, C4, H/4, W/4)"""
    f8: Tensor
    """(B, C8, H/8, W/8)"""
    f16: Tensor
    """(B, C16, H/16, W/16)"""


@dataclass(frozen=True)
class Features:
    """Everything of a frame that does not depend on the objects, computed once however many there are."""

    key: Tensor
    """(B, Ck, H/16, W/16), what the memory is addressed with"""
    value: Tensor
    """(B, C, H/16, W/16), what the frame contributes to a memory value"""
    s16: Tensor
    """(B, C, H/16, W/16), the frame's share of the decoder's input"""
    s8: Tensor
    """(B, C, H/8, W/8), skip connection"""
    s4: Tensor
    """(B, C, H/4, W/4), skip connection"""

    def map(self, function: Callable[[Tensor], Tensor]) -> Features:
        """Each of them through a function."""
        return Features(*(function(getattr(self, field.name)) for field in fields(self)))


@dataclass(frozen=True)
class Prediction:
    """The objects in one frame, before they are made probabilities."""

    logits: Tensor
    """(B, N, H/4, W/4), each object against the rest, independent of the other objects"""
    z: Tensor
    """(B * N, C, H/4, W/4), the representation right before the last convolution"""
    context: Tensor | None = None
    """(B * N, C, H/16, W/16), what the rating of a student looks at"""


def with_frame(x: Tensor, frame: Tensor) -> Tensor:
    """Each object's features (B * N, C, h, w) plus those of its frame (B, C, h, w)."""
    if frame.shape[0] == 1:  # the same, without a fifth dimension: what exported graphs are made of
        return x + frame
    return (x.unflatten(0, (frame.shape[0], -1)) + frame[:, None]).flatten(0, 1)
