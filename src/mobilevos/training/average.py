"""Exponential moving average of weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class WeightAverage:
    """Averaged weights of a network; they generalise better than the last ones.

    Early on the average forgets faster, so that it does not hold on to the initial weights.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}

    @torch.no_grad()
    def update(self, network: nn.Module, iteration: int) -> None:
        decay = min(self.decay, (1 + iteration) / (10 + iteration))
        own, new = [], []
        for name, tensor in network.state_dict().items():
            own.append(self.weights[name])
            new.append(tensor.detach())
        torch._foreach_lerp_(own, new, 1 - decay)

    def load(self, weights: dict[str, Tensor]) -> None:
        self.weights = {name: tensor.clone() for name, tensor in weights.items()}
