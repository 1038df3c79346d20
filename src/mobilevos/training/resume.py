"""Going on with a run that was stopped: its state on disk, and whether it is a run of the same recipe."""

from __future__ import annotations

import dataclasses
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
    changed = [
        key
        for key, value in dataclasses.asdict(recipe).items()
        if state["recipe"].get(key) != value and key not in FREE_TO_CHANGE
    ]
    if changed:
        raise InputError(
            f"{str(path.parent)!r} holds a run of another recipe ({', '.join(changed)} differ); "
            "give this one another name, or --fresh to begin anew"
        )
    return state
