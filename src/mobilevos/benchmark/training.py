"""Does the loader starve the training step? Fresh batches against one batch over and over."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from mobilevos.benchmark.tables import Report
from mobilevos.training.allocator import keep_freed_memory
from mobilevos.training.distributed import processes
from mobilevos.training.loop import Trainer
from mobilevos.training.recipe import Recipe, Validation

INCLUDES = "forward, backward, update, weight average; with the loader also waiting for it and its share of the cores"

ROUNDS = 3


def benchmark_training(recipe: Recipe, iterations: int = 20) -> Report:
    """Iterations a second with and without the loader, in turns, so that noise of the machine hits both.

    Works under torchrun too.
    """
    keep_freed_memory()
    recipe = replace(recipe, validation=Validation())
    seconds: dict[str, list[float]] = {"loader": [], "one batch": []}
    with processes() as team, TemporaryDirectory() as folder:
        trainer = Trainer(recipe, Path(folder), team, fresh=True)
        batches = trainer.batches(replace(recipe.phases[0], multi_object=0.0))  # batches that cost the same
        one = next(batches)
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
