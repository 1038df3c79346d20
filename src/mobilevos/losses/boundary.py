"""Which pixels the distillation terms look at: those near an object's boundary (the paper's boundary-aware sampling).

The ablation's alternative, random sampling, is `sample_pixels` from a mask that is True at every valid pixel.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.arrays import VOID
from mobilevos.losses.inputs import check_labels, full_precision

# Downsampling leaves rounding errors inside an object; the faintest real edge, a sixteenth of a pixel, is far above.
_FAINTEST_EDGE = 1e-3


def boundary_mask(labels_or_mask: Tensor, width: int) -> Tensor:
    """Pixels on an object's boundary (non-zero Sobel gradient of the ground truth), widened by ``width`` on each side.

    With width 0 it is the pixels on both sides of the edge. Where two objects touch there is a boundary, at the border
    of the picture there is none. Void is taken for background when edges are sought and is never part of the result.

    Args:
        labels_or_mask: (B, H, W) integer labels (0 background, 1..N objects, 255 void), or (B, 1, H, W) masks of one
            object each, bool or in [0, 1].
        width: radius of the dilation in pixels, a square.

    Returns:
        (B, H, W) bool.

    Example:
        >>> labels = torch.tensor([[[0, 0, 0, 1, 1, 1, 1]]])
        >>> boundary_mask(labels, width=1).int()
        tensor([[[0, 1, 1, 1, 1, 0, 0]]], dtype=torch.int32)
    """
    if width < 0:
        raise ValueError(f"expected a width of at least 0, got {width}")
    if labels_or_mask.dim() == 4 and labels_or_mask.shape[1] == 1:
        return _widened(_edges(labels_or_mask), width)
    if labels_or_mask.dim() != 3:
        raise ValueError(f"expected labels (B, H, W) or masks (B, 1, H, W), got {tuple(labels_or_mask.shape)}")
    check_labels(labels_or_mask)
    edges = torch.zeros_like(labels_or_mask, dtype=torch.bool)
    # Object by object: in a gradient of the ids themselves, two objects near one pixel can cancel out.
    for label in labels_or_mask.unique().tolist():
        if label not in (0, VOID):
            edges |= _edges((labels_or_mask == label).unsqueeze(1))
    return _widened(edges, width) & (labels_or_mask != VOID)


def _edges(masks: Tensor) -> Tensor:
    """(B, 1, H, W) to (B, H, W): where the Sobel gradient is not zero."""
    masks = full_precision(masks) if masks.is_floating_point() else masks.float()
    padded = F.pad(masks, (1, 1, 1, 1), mode="replicate").squeeze(1)
    # Differences first, then the smoothing 1 2 1: flat regions give exact zeros, whatever their value.
    dx = padded[:, :, 2:] - padded[:, :, :-2]
    dy = padded[:, 2:] - padded[:, :-2]
    gx = dx[:, :-2] + 2 * dx[:, 1:-1] + dx[:, 2:]
    gy = dy[:, :, :-2] + 2 * dy[:, :, 1:-1] + dy[:, :, 2:]
    return gx.square() + gy.square() > _FAINTEST_EDGE**2


def _widened(mask: Tensor, width: int) -> Tensor:
    """Dilate (B, H, W) by a square, rows and columns one after the other."""
    size = 2 * width + 1
    pooled = F.max_pool2d(mask.float(), (1, size), stride=1, padding=(0, width))
    return F.max_pool2d(pooled, (size, 1), stride=1, padding=(width, 0)) > 0


@dataclass(frozen=True)
class PixelSample:
    """A fixed number of pixels of each sample of a batch."""

    indices: Tensor
    """(B, count) int64 into the H * W pixels of a picture; anything where not valid."""
    valid: Tensor
    """(B, count) bool: False at the tail of samples with fewer pixels than asked for."""

    def of(self, maps: Tensor) -> Tensor:
        """The values of (B, C, H, W) maps at these pixels, as (B, count, C)."""
        if maps.dim() != 4 or maps.shape[0] != len(self.indices):
            raise ValueError(f"expected maps ({len(self.indices)}, C, H, W), got {tuple(maps.shape)}")
        indices = self.indices.unsqueeze(1).expand(-1, maps.shape[1], -1)
        return maps.flatten(2).gather(2, indices).mT


def sample_pixels(mask: Tensor, count: int, generator: torch.Generator | None = None) -> PixelSample:
    """Draw ``count`` of the True pixels of each sample at random, without replacement.

    Args:
        mask: (B, H, W) bool, the pixels to draw from.
        count: pixels a sample; where fewer are True, all of these are taken and the rest is marked invalid.
        generator: of the mask's device, for draws that can be repeated.

    Example:
        >>> mask = torch.tensor([[[True, False], [False, True]]])
        >>> sample = sample_pixels(mask, 3)
        >>> sorted(sample.indices[sample.valid].tolist()), sample.valid
        ([0, 3], tensor([[ True,  True, False]]))
    """
    if mask.dim() != 3 or mask.dtype != torch.bool:
        raise ValueError(f"expected a mask (B, H, W) of bool, got {tuple(mask.shape)} {mask.dtype}")
    if count < 1:
        raise ValueError(f"expected a count of at least 1, got {count}")
    candidates = mask.flatten(1)
    # The largest of random keys are a uniform draw; pixels outside the mask get a key below all others.
    keys = torch.rand(candidates.shape, generator=generator, device=mask.device).masked_fill(~candidates, -1)
    top = keys.topk(min(count, keys.shape[1]), dim=1)
    missing = count - top.indices.shape[1]
    return PixelSample(F.pad(top.indices, (0, missing)), F.pad(top.values >= 0, (0, missing)))
