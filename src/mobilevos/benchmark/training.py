"""Does the loader starve the training step? And which terms of the loss does it follow?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from mobilevos.benchmark.tables import Report
from mobilevos.clips import Batch
from mobilevos.training.allocator import keep_freed_memory
from mobilevos.training.arithmetic import autocast
from mobilevos.training.distributed import processes
from mobilevos.training.loop import Trainer
from mobilevos.training.recipe import Recipe, Validation

INCLUDES = "forward, backward, update, weight average; with the loader also waiting for it and its share of the cores"

ROUNDS = 3


def benchmark_training(recipe: Recipe, iterations: int = 20, progress: Callable[[str], None] = print) -> Report:
    """Iterations a second with and without the loader, in turns, so that noise of the machine hits both.

    Works under torchrun too. `progress` is told how large the gradient of each term of the loss is.
    """
    keep_freed_memory()
    recipe = replace(recipe, validation=Validation())
    seconds: dict[str, list[float]] = {"loader": [], "one batch": []}
    with processes() as team, TemporaryDirectory() as folder:
        trainer = Trainer(recipe, Path(folder), team, fresh=True)
        batches = trainer.batches(replace(recipe.phases[0], multi_object=0.0))  # batches that cost the same
        one = next(batches)
        if team.is_main:
            for name, norm in gradient_norms(trainer, [one]).items():
                progress(f"gradient of {name}, with its weight: {norm:.3g}")
        for _ in range(3):  # warm-up
            trainer.step(next(batches), 1e-5)
        for _ in range(ROUNDS):
            for kind, taken in seconds.items():
                began = time.monotonic()
                for i in range(iterations):
                    torch.manual_seed(i)  # the same random choices in both
                    trainer.step(next(batches) if kind == "loader" else one, 1e-5)
                taken.append((time.monotonic() - began) / iterations)
    best = {kind: min(taken) for kind, taken in seconds.items()}
    rows = [
        {"batches": kind, "its_per_s": round(1 / best[kind], 3), "relative": round(best[kind] / best["one batch"], 3)}
        for kind in seconds
    ]
    return Report("training", rows, INCLUDES)


def gradient_norms(trainer: Trainer, batches: Sequence[Batch]) -> dict[str, float]:
    """The norm of the gradient that each weighted term of the loss has alone, the mean over batches.

    A term whose gradient is a hundredth of the others' is not learned from, whatever its value.
    """
    objective, device = trainer.objective, trainer.team.device
    whole = replace(trainer.recipe.loss, prompt_part=1.0)  # prompts in every batch
    trained = [p for p in objective.parameters() if p.requires_grad]
    norms: dict[str, list[float]] = {}
    for batch in batches:
        objective.loss = whole
        with torch.no_grad():
            terms = objective(batch.to(device), 1.0, trainer.recipe.validation_queue).terms
        for name in terms:
            silent: dict[str, Any] = {other: 0.0 for other in terms if other != name}
            objective.loss = replace(whole, **silent)
            with autocast(trainer.precision, device):
                total = objective(batch.to(device), 1.0, trainer.recipe.validation_queue).total
            gradients = torch.autograd.grad(total, trained, allow_unused=True)
            squares = [gradient.square().sum() for gradient in gradients if gradient is not None]
            norms.setdefault(name, []).append(float(torch.stack(squares).sum().sqrt()))
    objective.loss = trainer.recipe.loss
    return {name: sum(each) / len(each) for name, each in norms.items()}
