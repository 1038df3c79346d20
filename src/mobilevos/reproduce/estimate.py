"""How long runs take on this machine: one clip through one step, times clips and iterations."""

from __future__ import annotations

import time
from pathlib import Path

import torch

from mobilevos.clips.clip import Batch
from mobilevos.model.checkpoint import build, load_checkpoint
from mobilevos.training.arithmetic import autocast, usable_precision
from mobilevos.training.objective import Objective
from mobilevos.training.recipe import Recipe
from mobilevos.weights import shipped


def hours_of(recipe: Recipe) -> float:
    """Of a whole run in one process without a GPU; phases of longer clips count as their length says."""
    first = recipe.phases[0]
    pixels = first.clip.frames * first.clip.size**2
    step = seconds_a_clip(recipe)
    total, before = 0.0, 0.0
    for phase in recipe.phases:
        clips = (phase.until - before) * recipe.iterations * phase.batch_size
        total += clips * step * phase.clip.frames * phase.clip.size**2 / pixels
        before = phase.until
    return total / 3600


def seconds_a_clip(recipe: Recipe) -> float:
    """A forward and a backward pass of one clip of the first phase, with a teacher where there is one."""
    clip = recipe.phases[0].clip
    frames = torch.randint(0, 256, (1, clip.frames, 3, clip.size, clip.size), dtype=torch.uint8)
    masks = torch.zeros(1, clip.frames, clip.size, clip.size, dtype=torch.uint8)
    masks[..., clip.size // 4 : clip.size // 2, clip.size // 4 : clip.size // 2] = 1
    batch = Batch(frames, masks, torch.zeros(1, 2, 1, clip.size, clip.size), 1, 0)
    teacher, checkpoint = None, recipe.teacher.checkpoint
    if checkpoint:
        there = checkpoint in shipped() or Path(checkpoint).is_file()
        teacher = load_checkpoint(_file(checkpoint)) if there else build("stcn")
        teacher.requires_grad_(False)
    objective = Objective(build(recipe.model), recipe.loss, teacher=teacher, forcing=recipe.teacher.forcing)
    seconds, device = [], torch.device("cpu")
    precision = usable_precision(recipe.precision, device)
    for _ in range(2):  # the first one is slower: memory is taken, kernels are chosen
        began = time.perf_counter()
        with autocast(precision, device):
            total = objective(batch, 1.0, recipe.validation_queue).total
        total.backward()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _file(checkpoint: str) -> Path:
    from mobilevos.weights import find_checkpoint

    return Path(find_checkpoint(checkpoint))
