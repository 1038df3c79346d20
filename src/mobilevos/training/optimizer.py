"""How weights are changed, and how fast."""

from __future__ import annotations

import math

import torch

from mobilevos.training.objective import Objective
from mobilevos.training.recipe import Optimizer


def make_optimizer(objective: Objective, settings: Optimizer) -> torch.optim.Optimizer:
    """Adam or AdamW over what is trained; the key encoder has a learning rate of its own."""
    backbone = {id(p) for p in objective.student.backbone.parameters()}
    parameters = [p for p in objective.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if id(p) in backbone], "scale": settings.backbone_scale},
        {"params": [p for p in parameters if id(p) not in backbone], "scale": 1.0},
    ]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.kind]
    return kind(groups, lr=settings.learning_rate, weight_decay=settings.weight_decay)


def learning_rate(settings: Optimizer, iteration: int, progress: float) -> float:
    """The highest rate, times warm-up and schedule."""
    rate = settings.learning_rate * min(1.0, (iteration + 1) / max(1, settings.warmup))
    if settings.schedule == "cosine":
        return rate * (settings.final + (1 - settings.final) * 0.5 * (1 + math.cos(math.pi * progress)))
    if settings.schedule == "step" and progress >= settings.step_at:
        return rate * 0.1
    return rate
