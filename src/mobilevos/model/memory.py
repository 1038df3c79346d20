"""The space-time memory read: one matrix product addresses it, one reads it out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mobilevos.model.precision import single_precision


@dataclass(frozen=True)
class Memory:
    """What is remembered of T frames."""

    keys: Tensor
    """(B, Ck, T, h, w), shared by all objects"""
    values: Tensor
    """(B, N, Cv, T, h, w)"""
    nearness: Tensor
    """(T,): how much a slot's position counts; 1 for the previous frame, 1/age^2 for older ones, 0 for annotations"""


class MemoryRead(nn.Module):
    r"""Soft read of the memory by the negative squared distance between keys.

    Each position q of the frame gathers values of all positions m of the memory:

    .. math::
        r_q = \sum_m \mathrm{softmax}_m\Big(-\frac{|k_q - k_m|^2}{\sqrt{C_k}}
              - e^{s}\, n_m\, |p_q - p_m|^2\Big)\, v_m

    The first term is the paper's. The second is ours: where an object was one frame ago says much about where it is
    now, and small networks confuse look-alikes without it. ``n`` is the slot's nearness, ``p`` are positions in units
    of stride-16 cells and ``s`` is learned; ``locality=False`` leaves the term away.
    """

    def __init__(self, locality: bool = True, spread: float = 6.0) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.tensor(-math.log(2 * spread**2))) if locality else None

    def affinity(self, query: Tensor, memory: Memory, top_k: int | None = None) -> Tensor:
        """Weights (B, h*w, T*h*w) of each memory position for each position of `query` (B, Ck, h, w)."""
        batch, channels, _, h, w = memory.keys.shape
        q = query.flatten(2).transpose(1, 2)  # (B, hw, Ck)
        k = memory.keys.flatten(2).float()  # (B, Ck, T*hw)
        scale = 1 / math.sqrt(channels)
        # |q|^2 is the same for every m and drops out of the softmax
        bias = -scale * k.square().sum(1, keepdim=True)  # (B, 1, T*hw)
        left, right = [q * (2 * scale)], [k]
        if self.sharpness is not None:
            # the squared distance of positions, written as an inner product, so that it rides on the same product
            p = positions(h, w, q)  # (hw, 2)
            square = p.square().sum(1, keepdim=True)  # (hw, 1)
            strength = (self.sharpness.exp() * memory.nearness)[:, None]  # (T, 1)
            along = torch.cat([2 * p, -torch.ones_like(square)], 1).t()  # (3, hw)
            left.append(torch.cat([p, square], 1).expand(batch, -1, -1))
            right.append((along[:, None] * strength).flatten(1).expand(batch, -1, -1))
            bias = bias - (square.t() * strength).flatten()
        # the bias rides on it too: product, softmax, product and nothing between is what runtimes fuse into one
        left.append(torch.ones_like(q[..., :1]))
        right.append(bias)
        scores = torch.bmm(torch.cat(left, 2), torch.cat(right, 1))
        if top_k is not None and top_k < scores.shape[-1]:
            best, where = scores.topk(top_k, dim=-1)
            return torch.zeros_like(scores).scatter_(-1, where, best.softmax(-1))
        return scores.softmax(-1)

    def forward(self, query: Tensor, memory: Memory, top_k: int | None = None) -> Tensor:
        """The read-out (B, N, Cv, h, w)."""
        batch, objects, channels, slots, h, w = memory.values.shape
        # distances are differences of large numbers: never in less than single precision
        with single_precision(query):
            weights = self.affinity(query.float(), memory, top_k)
        values = memory.values.reshape(batch, objects * channels, slots, h * w).permute(0, 2, 3, 1)
        values = values.reshape(batch, slots * h * w, objects * channels)
        return torch.bmm(weights.to(values.dtype), values).transpose(1, 2).reshape(batch, objects, channels, h, w)


def positions(h: int, w: int, like: Tensor) -> Tensor:
    """Centred coordinates (h*w, 2) of the cells of a grid."""
    y = torch.arange(h, dtype=like.dtype, device=like.device) - (h - 1) / 2
    x = torch.arange(w, dtype=like.dtype, device=like.device) - (w - 1) / 2
    return torch.stack([y[:, None].expand(h, w), x[None].expand(h, w)], -1).reshape(h * w, 2)
