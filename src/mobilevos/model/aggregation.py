"""Soft aggregation: independent objects become one distribution over background and objects."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

EPSILON = 1e-7
LARGEST_LOGIT = math.log((1 - EPSILON) / EPSILON)


def aggregate(logits: Tensor) -> Tensor:
    """Logits (B, N, H, W) of N objects to logits (B, 1 + N, H, W) whose softmax is the probability of each.

    The background is where no object is: its probability is the product of (1 - p). Probabilities are kept away from
    0 and 1 by 1e-7, as in STM and STCN.
    """
    logits = logits.float()  # 1 - 1e-7 is 1 in half precision
    background = F.logsigmoid(-logits).sum(1, keepdim=True).exp().clamp(EPSILON, 1 - EPSILON)
    return torch.cat([torch.log(background / (1 - background)), logits.clamp(-LARGEST_LOGIT, LARGEST_LOGIT)], dim=1)
