"""The step in the form that phones and browsers compute fastest: channels last, few dimensions, floats only.

The same arithmetic as `mobilevos.export.step.StepGraph`, arranged so that a converter need not move data around:
objects are the batch of every convolution, planes of masks stay planes, and the memory is kept in the order in which
the convolutions write it and the matrix products read it.
"""

from __future__ import annotations

import copy
import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos.model.aggregation import EPSILON, LARGEST_LOGIT
from mobilevos.model.backbones import ResNet
from mobilevos.model.decoder import ASPP
from mobilevos.model.features import Features, Prediction
from mobilevos.model.memory import Memory
from mobilevos.model.network import IMAGENET_MEAN, IMAGENET_STD, all_others, upsample
from mobilevos.model.student import Student

INPUTS = ("frame", "keys", "values", "nearness", "write", "given", "use_given")
OUTPUTS = ("probabilities", "keys_out", "values_out", "rating")
NOTHING = 1e-30


class TfliteStep(nn.Module):
    """A student's step on float32 tensors.

    Shapes, with h = H/16, w = W/16, N objects and T slots of memory:

    | name | shape | what |
    | --- | --- | --- |
    | frame | (H, W, 3) | RGB, 0..255 |
    | keys | (Ck, T, h*w) | memory |
    | values | (N, T, h*w, Cv) | memory |
    | nearness | (T,) | 0 for annotated frames, 1 for the previous one, 1/age^2 for older ones |
    | write | (T,) | 1 for the slots this frame is written to, 0 for those that stay |
    | given | (N, 2, H/4, W/4) | masks to remember instead of the predicted ones: the object, and what it is not |
    | use_given | (1,) | 1 to remember the given masks, 0 to remember the predicted ones |
    | probabilities | (1 + N, H, W) | background and objects |
    | rating | (N,) | how well each mask fits, 0..1 |
    """

    def __init__(self, network: Student) -> None:
        super().__init__()
        self.network = copy.deepcopy(network)
        self.network.normalise = _normalised  # type: ignore[method-assign]
        if isinstance(aspp := self.network.decoder.aspp, ASPP):
            aspp.forward = partial(_scales, aspp)  # type: ignore[method-assign]
        if isinstance(self.network.backbone, ResNet):
            # behind a ReLU a border of zeros is as good as one of minus infinity, which XNNPACK has not
            self.network.backbone.maxpool = nn.Sequential(nn.ZeroPad2d(1), nn.MaxPool2d(3, 2))  # type: ignore[assignment]
        sharpness = network.read.sharpness
        self.strength = None if sharpness is None else nn.Parameter(sharpness.detach().exp(), requires_grad=False)

    def forward(
        self,
        frame: Tensor,
        keys: Tensor,
        values: Tensor,
        nearness: Tensor,
        write: Tensor,
        given: Tensor,
        use_given: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        network = self.network
        image = frame[None].permute(0, 3, 1, 2)
        features = network.encode(image)
        readout = self.read(features.key, keys, values, nearness)
        prediction = network.decode(readout[None], features)
        leads = _leads(prediction.logits[0])  # (N, H/4, W/4)
        seen = _shares(leads)[1:]
        masks = use_given * given[:, 0] + (1 - use_given) * seen
        others = use_given * given[:, 1] + (1 - use_given) * all_others(seen[None])[0]
        new = network.memorise(image, features, masks[None], others[None])[0]
        keys_out = _written(keys, features.key.reshape(len(keys), 1, -1), write[None, :, None])
        values_out = _written(values, _cells_first(new)[:, None], write[None, :, None, None])
        return (
            _shares(upsample(leads[None], 4)[0]),
            keys_out,
            values_out,
            self.rate(prediction, features, keys, values, seen),
        )

    def rate(self, prediction: Prediction, features: Features, keys: Tensor, values: Tensor, seen: Tensor) -> Tensor:
        """`Rating` of the masks (N, H/4, W/4): (N,)."""
        cells = features.key.shape[-2:]
        first = Memory(
            keys[:, 0].reshape(1, -1, 1, *cells),
            values[:, 0].transpose(1, 2).reshape(1, len(values), -1, 1, *cells),
            keys,
        )
        return self.network.rate(features, first, prediction, seen[None])[0].sigmoid()

    def read(self, query: Tensor, keys: Tensor, values: Tensor, nearness: Tensor) -> Tensor:
        """`MemoryRead`: (N, Cv, h, w)."""
        left, right = self.factors(query, keys, nearness)
        scores = left @ right  # (hw, T*hw)
        readout = scores.softmax(-1)[None] @ values.reshape(len(values), right.shape[1], -1)  # (N, hw, Cv)
        return readout.reshape(len(values), *query.shape[-2:], -1).permute(0, 3, 1, 2)

    def factors(self, query: Tensor, keys: Tensor, nearness: Tensor) -> tuple[Tensor, Tensor]:
        """What `MemoryRead` multiplies, (hw, C) and (C, T*hw): distances and positions all ride on one product."""
        channels, slots, cells = keys.shape
        scale = 1 / math.sqrt(channels)
        h, w = query.shape[-2:]
        y, x, one = _grid(h, w, nearness)  # (1, hw)
        lengths = -scale * keys.square().sum(0)  # (T, hw)
        q, k = [_cells_first(query)[0] * (2 * scale), one.t()], [lengths]
        if self.strength is not None:
            square = y * y + x * x
            strength = (self.strength * nearness)[:, None]  # (T, 1)
            q += [y.t(), x.t(), square.t()]
            k = [lengths - strength * square, strength * (2 * y), strength * (2 * x), -strength * one]
        return torch.cat(q, 1), torch.cat([keys, *(row[None] for row in k)]).reshape(-1, slots * cells)


def _normalised(frames: Tensor) -> Tensor:
    """`VOSNetwork.normalise` as a convolution: several times faster where three channels come last."""
    mean, std = (255 * torch.tensor(values) for values in (IMAGENET_MEAN, IMAGENET_STD))
    return F.conv2d(frames, (1 / std)[:, None, None, None], -mean / std, groups=3)


def _scales(aspp: ASPP, x: Tensor) -> Tensor:
    """`ASPP`, with a sum that broadcasts (see `_grid`) where it expands."""
    a = F.relu(x)
    branches = [aspp.point(a), *(conv(a) for conv in aspp.atrous)]
    whole = aspp.whole(a.mean((2, 3), keepdim=True)) + NOTHING * branches[0]
    return x + aspp.project(F.relu(torch.cat([*branches, whole], 1)))


def _grid(h: int, w: int, number: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Coordinates y and x of `model.memory.positions` and ones, each (1, h*w).

    Next to nothing of a number that is no constant is added, so that a converter cannot store maps of h * w
    coordinates where h + w do; and sums broadcast, because XNNPACK has no operation that does only that.
    """
    y = (torch.arange(h) - (h - 1) / 2)[:, None] + NOTHING * number[:1, None]
    x = (torch.arange(w) - (w - 1) / 2)[None] + NOTHING * number[:1, None]
    y, x = (y + NOTHING * x).reshape(1, h * w), (x + NOTHING * y).reshape(1, h * w)
    return y, x, NOTHING * y + 1


def _leads(logits: Tensor) -> Tensor:
    """How far each object is ahead of the background: differences of the logits of `aggregate`, (N, H, W)."""
    absent = torch.sigmoid(-logits)
    background = absent[:1]
    for i in range(1, len(logits)):
        background = background * absent[i : i + 1]
    background = background.clamp(EPSILON, 1 - EPSILON)
    return logits.clamp(-LARGEST_LOGIT, LARGEST_LOGIT) - torch.log(background / (1 - background))


def _shares(leads: Tensor) -> Tensor:
    """Probabilities (1 + N, H, W) of background and objects. Leads are bounded, so this needs no maximum."""
    odds = leads.exp()
    background = 1 / (1 + odds.sum(0, keepdim=True))
    return torch.cat([background, odds * background])


def _cells_first(x: Tensor) -> Tensor:
    """(B, C, h, w) to (B, h*w, C)."""
    return x.permute(0, 2, 3, 1).reshape(len(x), -1, x.shape[1])


def _written(memory: Tensor, new: Tensor, write: Tensor) -> Tensor:
    return memory * (1 - write) + new * write


def example_inputs(network: Student, height: int, width: int, objects: int, slots: int) -> tuple[Tensor, ...]:
    """Inputs of the right shapes, for tracing."""
    cells = (height // 16) * (width // 16)
    return (
        torch.randint(0, 256, (height, width, 3)).float(),
        torch.randn(network.key_channels, slots, cells),
        torch.randn(objects, slots, cells, network.value_channels),
        torch.linspace(0, 1, slots),
        torch.eye(slots)[-1],
        torch.zeros(objects, 2, height // 4, width // 4),
        torch.zeros(1),
    )
