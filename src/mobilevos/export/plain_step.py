"""The step for ExecuTorch and Core ML: that of TFLite, without what only its converter asks for."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.export import ExportedProgram

from mobilevos.errors import InputError
from mobilevos.export.step import Shape
from mobilevos.export.tflite_step import TfliteStep, example_inputs
from mobilevos.model.features import Features, Prediction
from mobilevos.model.student import Student


class PlainStep(TfliteStep):
    """The same numbers, inputs and outputs as `TfliteStep`.

    ExecuTorch hands a product to XNNPACK only where it has a batch, and computes 1 x 1 convolutions of single channels
    itself. Core ML has tensors of at most five dimensions.
    """

    def __init__(self, network: Student) -> None:
        super().__init__(network)
        del self.network.normalise  # the network's own again

    def read(self, query: Tensor, keys: Tensor, values: Tensor, nearness: Tensor) -> Tensor:
        left, right = self.factors(query, keys, nearness)
        objects, h, w = len(values), *query.shape[-2:]
        remembered = values.reshape(objects, right.shape[1], -1)
        # objects side by side: the large weights need not be repeated for each
        remembered = torch.cat([remembered[i : i + 1] for i in range(objects)], 2)  # (1, T*hw, N*Cv)
        readout = torch.bmm(torch.bmm(left[None], right[None]).softmax(-1), remembered)  # (1, hw, N*Cv)
        return readout.transpose(1, 2).reshape(objects, -1, h, w)

    def rate(self, prediction: Prediction, features: Features, keys: Tensor, values: Tensor, seen: Tensor) -> Tensor:
        assert prediction.context is not None
        h, w = features.key.shape[-2:]
        first_key = keys[:, 0].reshape(1, -1, h, w)
        first_value = values[:, 0].transpose(1, 2).reshape(len(values), -1, h, w)
        rating = self.network.rating.compare(prediction.context, features.key, first_key, first_value, seen[None])
        return rating[0].sigmoid()


def traced(step: PlainStep, shape: Shape) -> ExportedProgram:
    """The step with fixed sizes, for converters."""
    if shape.objects is None:
        raise InputError("expected a number of objects for a graph with fixed shapes; got none")
    example = example_inputs(step.network, shape.height, shape.width, shape.objects, shape.slots)
    return torch.export.export(step.eval(), example, strict=False)
