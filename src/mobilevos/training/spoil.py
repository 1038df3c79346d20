"""Bad masks in the memory, so that the network learns to recover from mistakes that it did not make itself.

Masks are (N, h, w), probabilities of N objects at the stride the memory is written at.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from mobilevos.model.network import VOSNetwork


def spoiled(network: VOSNetwork, masks: Tensor, probability: float) -> Tensor | None:
    """Bad masks for some clips: from a random frame on, one or two frames are remembered wrongly.

    The first frame is given and the last one is never remembered, so clips of two frames are left as they are.

    Args:
        masks: (B, T, N, H, W), the truth.
        probability: of a clip to be touched.

    Returns:
        (B, T, N, H/s, W/s) with s the network's `mask_stride`, NaN where nothing is spoiled; None if nothing is at all.
    """
    length = masks.shape[1]
    clips = (torch.rand(len(masks)) < probability).nonzero().flatten().tolist()
    if length < 3 or not clips:
        return None
    given = network.given_masks(masks.flatten(0, 1)).unflatten(0, masks.shape[:2])
    bad = torch.full_like(given, float("nan"))
    for clip in clips:
        mistake = MISTAKES[int(torch.randint(len(MISTAKES), ()))]
        first, count = int(torch.randint(1, length - 1, ())), int(torch.randint(1, 3, ()))
        for t in range(first, min(first + count, length - 1)):
            bad[clip, t] = mistake(given[clip, t])
    return bad


def emptied(masks: Tensor) -> Tensor:
    """All objects are lost."""
    return torch.zeros_like(masks)


def moved(masks: Tensor) -> Tensor:
    """All objects are seen beside their place, by up to 30% of the picture."""
    dy, dx = (int((torch.rand(()) - 0.5) * 0.6 * side) for side in masks.shape[-2:])
    return _shifted(masks, dy, dx)


def with_a_piece_missing(masks: Tensor) -> Tensor:
    """A square of up to half of the picture's sides is cut out."""
    h, w = masks.shape[-2:]
    y, x = int(torch.randint(h, ())), int(torch.randint(w, ()))
    masks = masks.clone()
    masks[:, max(0, y - h // 4) : y + h // 4, max(0, x - w // 4) : x + w // 4] = 0
    return masks


def with_a_false_positive(masks: Tensor) -> Tensor:
    """One object is also seen far away from where it is: a copy of its shape or a blob, where no other object is."""
    one = int(torch.randint(len(masks), ()))
    h, w = masks.shape[-2:]
    y, x = torch.arange(h, device=masks.device), torch.arange(w, device=masks.device)
    seen = masks[one].sum()
    center = torch.tensor([h / 2, w / 2])
    if seen > 0:
        center = torch.stack([(masks[one].sum(1) * y).sum(), (masks[one].sum(0) * x).sum()]).cpu() / seen.cpu()
    places = (0.1 + 0.8 * torch.rand(8, 2)) * torch.tensor([h, w])
    place = places[(places - center).norm(dim=1).argmax()]
    if seen > 0 and torch.rand(()) < 0.5:
        dy, dx = (int(step) for step in (place - center).round())
        false = _shifted(masks[one], dy, dx)
    else:
        radii = (0.05 + 0.15 * torch.rand(2)) * min(h, w)
        down, right = ((y - place[0]) / radii[0]).square(), ((x - place[1]) / radii[1]).square()
        false = (down[:, None] + right <= 1).to(masks.dtype)
    free = (1 - masks.sum(0)).clamp_min(0)
    masks = masks.clone()
    masks[one] = torch.maximum(masks[one], false * free)
    return masks


MISTAKES: tuple[Callable[[Tensor], Tensor], ...] = (emptied, moved, with_a_piece_missing, with_a_false_positive)


def _shifted(masks: Tensor, dy: int, dx: int) -> Tensor:
    """(..., h, w) moved down and to the right; what leaves the picture is gone."""
    h, w = masks.shape[-2:]
    out = torch.zeros_like(masks)
    to, source = _overlap(dy, h), _overlap(-dy, h)
    out[..., to, _overlap(dx, w)] = masks[..., source, _overlap(-dx, w)]
    return out


def _overlap(shift: int, side: int) -> slice:
    return slice(min(max(shift, 0), side), max(min(side + shift, side), 0))
