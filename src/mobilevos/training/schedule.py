"""What changes in the course of a run, as functions of how far it is."""

from __future__ import annotations

import numpy as np

from mobilevos.losses import annealed_keep
from mobilevos.training.recipe import Loss, Phase, Recipe


def current_phase(recipe: Recipe, progress: float) -> Phase:
    """The stretch of the training that a progress of 0..1 lies in."""
    return next((phase for phase in recipe.phases if progress < phase.until), recipe.phases[-1])


def iteration_seed(seed: int, iteration: int, rank: int) -> int:
    """The seed of an iteration's random choices in one process.

    Numbers, unlike texts, have the same hash in every process, so that a resumed run draws what it would have drawn.
    """
    return hash((seed, iteration, rank)) % 2**63


def drawn_queue(queue: int | tuple[int, ...] | None, seed: int, iteration: int) -> int | None:
    """The length of the memory in an iteration, the same in all processes; None is without bound."""
    if not isinstance(queue, tuple):
        return queue
    # The loader draws from [seed, iteration] and from [seed, iteration, 1...].
    return int(np.random.default_rng([seed, iteration, 0, 1]).choice(queue))


def kept_pixels(loss: Loss, progress: float) -> float:
    """The part of the pixels that bootstrapping keeps at a progress of 0..1."""
    now, start, end = (round(part * 1_000_000) for part in (progress, loss.keep_from, loss.keep_to))
    return annealed_keep(now, start, end, loss.keep)
