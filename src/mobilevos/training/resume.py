"""Going on with a run that was stopped: its state on disk, and whether it is a run of the same recipe."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from mobilevos.errors import InputError
from mobilevos.training.recipe import Recipe

FREE_TO_CHANGE = {"iterations", "minutes", "workers", "checkpoint_minutes", "validation", "data_root", "weights_root"}
"""Parts of a recipe that may differ when a run is resumed."""


def read_state(path: Path, recipe: Recipe, device: torch.device) -> dict[str, Any]:
    """What `Trainer.save` wrote, for a run of this recipe only."""
    try:
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:
        raise InputError(f"cannot resume from {str(path)!r}: {error}") from error
    stored = {key: value for key, value in state["recipe"].items() if key not in FREE_TO_CHANGE}
    if recipe.seed is None:
        del stored["seed"]  # the run goes on with its own
    stored["queue"] = stored["queue"] or None  # recipes of older versions say 0
    if changed := list(differences(stored, dataclasses.asdict(recipe))):
        raise InputError(
            f"{str(path.parent)!r} holds a run of another recipe ({', '.join(changed)} differ); "
            "give this one another name, or --fresh to begin anew"
        )
    return state


def differences(stored: Any, asked: Any, where: str = "") -> Iterator[str]:
    """Where two recipes say different things, such as `optimizer.learning_rate` or `sources[0].root`.

    What the stored one does not say at all came with a later version: nobody knows, so it does not count.
    """
    if isinstance(stored, dict) and isinstance(asked, dict):
        for key in [key for key in asked if key in stored]:
            yield from differences(stored[key], asked[key], f"{where}.{key}" if where else key)
    elif isinstance(stored, list | tuple) and isinstance(asked, list | tuple) and len(stored) == len(asked):
        for index, (one, other) in enumerate(zip(stored, asked, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif stored != asked:
        yield where
