"""From the memory's read-out to masks at stride 4."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.features import Features, Prediction, with_frame


def enlarged(x: Tensor, like: Tensor) -> Tensor:
    """Bilinear, to the height and width of another."""
    return F.interpolate(x, like.shape[-2:], mode="bilinear", align_corners=False)


class SeparableResidual(nn.Module):
    """x + pointwise(depthwise(relu(x))), twice: a residual block for the levels with many positions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels),
            nn.Conv2d(channels, channels, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.block(x)


class ASPP(nn.Module):
    """Atrous spatial pyramid pooling (DeepLabV3): the same features seen at several scales and as a whole."""

    def __init__(self, channels: int, branch_channels: int, rates: tuple[int, ...] = (2, 4, 8)) -> None:
        super().__init__()
        self.point = nn.Conv2d(channels, branch_channels, 1)
        self.atrous = nn.ModuleList(
            nn.Conv2d(channels, branch_channels, 3, padding=rate, dilation=rate) for rate in rates
        )
        self.whole = nn.Conv2d(channels, branch_channels, 1)
        self.project = nn.Conv2d(branch_channels * (len(rates) + 2), channels, 1)
        # begins as the identity, so that a network can grow from one without it
        nn.init.zeros_(self.project.weight)
        nn.init.zeros_(self.project.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        a = F.relu(x)
        branches = [self.point(a), *(conv(a) for conv in self.atrous)]
        whole = self.whole(a.mean((2, 3), keepdim=True)).expand_as(branches[0])
        return x + self.project(F.relu(torch.cat([*branches, whole], 1)))


class Surroundings(nn.Module):
    """A look at stride 32: cheap context around each position of stride 16."""

    def __init__(self, channels: int, hidden_channels: int) -> None:
        super().__init__()
        self.down = nn.Conv2d(channels, hidden_channels, 3, 2, 1)
        self.conv = nn.Conv2d(hidden_channels, hidden_channels, 3, padding=1)
        self.up = nn.Conv2d(hidden_channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.down(F.relu(x)))
        y = self.up(y + F.relu(self.conv(y)))
        return x + enlarged(y, x)


class Decoder(nn.Module):
    """Read-out and skip connections to logits and the representation z, one object at a time.

    A convolution over a read-out joined with the frame's features is a sum of two convolutions; the frame's half is
    the same for all objects and comes precomputed in `Features`. So an object costs little more than what is its own.

    Args:
        value_channels: of the read-out.
        c16, c8, c4: widths at strides 16, 8 and 4; c4 is the width of z.
        surroundings: width of the look at stride 32.
        aspp: width of the ASPP's branches; 0 leaves it out.
    """

    def __init__(self, value_channels: int, c16: int, c8: int, c4: int, surroundings: int, aspp: int = 0) -> None:
        super().__init__()
        self.readout = nn.Conv2d(value_channels, c16, 3, padding=1)
        self.refine = nn.Conv2d(c16, c16, 3, padding=1)
        self.surroundings = Surroundings(c16, surroundings)
        self.aspp = ASPP(c16, aspp) if aspp else nn.Identity()
        self.bypass: Tensor | None = None
        """(B,) bool, only in training: clips that go around the ASPP, as they would in a network without one"""
        self.up8 = nn.Conv2d(c16, c8, 1)
        self.block8 = SeparableResidual(c8)
        self.up4 = nn.Conv2d(c8, c4, 1)
        self.block4 = SeparableResidual(c4)
        self.logits = nn.Conv2d(c4, 1, 1)

    def forward(self, readout: Tensor, features: Features) -> Prediction:
        """`readout`: (B, N, Cv, h, w)."""
        batch, objects = readout.shape[:2]

        x = with_frame(self.readout(readout.flatten(0, 1)), features.s16)
        x = x + self.refine(F.relu(x))
        x = self.surroundings(x)
        if self.bypass is None:
            x = self.aspp(x)
        else:
            x = torch.where(self.bypass.repeat_interleave(objects)[:, None, None, None], x, self.aspp(x))
        context = x
        x = self.block8(with_frame(enlarged(self.up8(x), features.s8), features.s8))
        z = F.relu(self.block4(with_frame(enlarged(self.up4(x), features.s4), features.s4)))
        return Prediction(self.logits(z).unflatten(0, (batch, objects)).squeeze(2), z, context)
