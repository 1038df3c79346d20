"""A batch of noise with a square that stays where it is."""

import torch

from mobilevos.clips.clip import Batch


def square_batch() -> Batch:
    torch.manual_seed(0)
    masks = torch.zeros(4, 3, 64, 64, dtype=torch.uint8)
    masks[:, :, 16:40, 20:50] = 1
    return Batch(torch.randint(0, 255, (4, 3, 3, 64, 64), dtype=torch.uint8), masks, torch.zeros(4, 2, 1, 64, 64), 1, 0)
