"""The step on torch: the reference every other runtime is checked against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mobilevos.arrays import Array, Image
from mobilevos.model import memory as model_memory
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.runtime.base import MemoryArrays, Step, written


class TorchRuntime:
    """Any network, on the CPU or a GPU.

    Args:
        model: a network or the file of its checkpoint.
        device: torch's name for it.
        threads: of torch on the CPU; None leaves torch's own choice.
    """

    name = "torch"
    slots: int | None = None

    def __init__(self, model: VOSNetwork | Path | str, device: str = "cpu", threads: int | None = None) -> None:
        network = model if isinstance(model, VOSNetwork) else load_checkpoint(model)
        if threads is not None:
            torch.set_num_threads(threads)
        self.device = torch.device(device)
        self.network = network.to(self.device, memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
        self.variant = network.variant

    @torch.inference_mode()
    def memorise(self, frame: Image, masks: Array, others: Array | None = None) -> tuple[Array, Array]:
        frames = self._frames(frame)
        features = self.network.encode(frames)
        given = self.network.given_masks(self._tensor(masks)[None])
        rest = None if others is None else self.network.given_masks(self._tensor(others)[None])
        values = self.network.memorise(frames, features, given, rest)
        return _array(features.key[0]), _array(values[0])

    @torch.inference_mode()
    def step(self, frame: Image, memory: MemoryArrays, slot: int) -> Step:
        remembered = model_memory.Memory(
            keys=self._tensor(memory.keys)[None],
            values=self._tensor(memory.values)[None],
            nearness=self._tensor(memory.nearness),
        )
        probabilities, _, key, values, rating = self.network(self._frames(frame), remembered)
        return Step(
            _array(probabilities[0]), written(memory, slot, _array(key[0]), _array(values[0])), _array(rating[0])
        )

    def _frames(self, frame: Image) -> Tensor:
        image = torch.from_numpy(np.ascontiguousarray(frame)).to(self.device, torch.float32)
        return image.permute(2, 0, 1)[None]  # channels_last already

    def _tensor(self, array: Array) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _array(tensor: Tensor) -> Array:
    return np.ascontiguousarray(tensor.float().cpu().numpy())
