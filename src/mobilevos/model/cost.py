"""What a step costs, counted without computing it."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from mobilevos.model.memory import Memory
from mobilevos.model.network import VOSNetwork


def multiply_adds(
    network: VOSNetwork, height: int = 480, width: int = 864, *, objects: int = 1, queue: int = 2
) -> dict[str, int]:
    """Multiply-adds of one whole step by part: `encode`, `read`, `decode`, `memorise` and `total`.

    Convolutions and matrix products count; element-wise work does not, as is usual.
    """
    meta = network.to("meta")
    h, w = height // 16, width // 16
    frame = torch.empty(1, 3, height, width, device="meta")
    memory = Memory(
        keys=torch.empty(1, network.key_channels, queue, h, w, device="meta"),
        values=torch.empty(1, objects, network.value_channels, queue, h, w, device="meta"),
        nearness=torch.empty(queue, device="meta"),
    )
    stride = network.mask_stride
    masks = torch.empty(1, objects, height // stride, width // stride, device="meta")
    counts: dict[str, int] = {}
    with torch.no_grad():
        with FlopCounterMode(display=False) as counter:
            features = meta.encode(frame)
        counts["encode"] = counter.get_total_flops() // 2
        with FlopCounterMode(display=False) as counter:
            readout = meta.read(features.key, memory)
        counts["read"] = counter.get_total_flops() // 2
        with FlopCounterMode(display=False) as counter:
            meta.decode(readout, features)
        counts["decode"] = counter.get_total_flops() // 2
        with FlopCounterMode(display=False) as counter:
            meta.memorise(frame, features, masks)
        counts["memorise"] = counter.get_total_flops() // 2
    return counts | {"total": sum(counts.values())}
