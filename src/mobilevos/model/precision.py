"""Where reduced precision must not go."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def single_precision(like: Tensor) -> AbstractContextManager[object]:
    """Switches autocast off. Does nothing where it is off already, so that exported graphs stay clean."""
    device = like.device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return nullcontext()
    return torch.autocast(device, enabled=False)
