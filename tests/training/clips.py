"""Small batches, and networks that know something: an untrained one hardly looks at its memory."""

import numpy as np
import torch

from mobilevos.clips.clip import Batch
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.weights import find_checkpoint


def square_batch() -> Batch:
    """Four clips of noise with a square that stays where it is."""
    torch.manual_seed(0)
    masks = torch.zeros(4, 3, 64, 64, dtype=torch.uint8)
    masks[:, :, 16:40, 20:50] = 1
    return Batch(torch.randint(0, 255, (4, 3, 3, 64, 64), dtype=torch.uint8), masks, torch.zeros(4, 2, 1, 64, 64), 1, 0)


def moving_batch(length: int = 4) -> Batch:
    """A clip of 64 x 64 pixels with two creatures that move."""
    frames, masks = synthetic_clip(frames=4 * length, height=64, width=64, objects=2, seed=3)
    pictures = torch.from_numpy(np.ascontiguousarray(frames[::4].transpose(0, 3, 1, 2)))[None]
    return Batch(pictures, torch.from_numpy(masks[::4].astype(np.uint8))[None], torch.zeros(1, 2, 2, 64, 64), 2, 0)


def trained(name: str = "mobilenetv2-lite") -> VOSNetwork:
    return load_checkpoint(find_checkpoint(name))
