"""Which runs went before, and the random seed that follows from them.

Two runs with the same seed see the same clips. In a chain of runs, each of which begins with the weights of another,
all of them would learn from one and the same few hours of video.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from mobilevos.model.checkpoint import read_checkpoint
from mobilevos.training.recipe import Recipe
from mobilevos.weights import find_checkpoint


def lineage(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the runs that made a checkpoint, oldest first, from its metadata.

    Checkpoints of older versions know the last run only.
    """
    notes, recipe = (json.loads(metadata.get(key, "{}")) for key in ("notes", "recipe"))
    last = [recipe["name"]] if "name" in recipe else []
    return tuple(notes.get("lineage", last))


def ancestors(recipe: Recipe) -> tuple[str, ...]:
    """The runs that made the weights a recipe begins with, oldest first."""
    return lineage(read_checkpoint(find_checkpoint(recipe.init))[0]) if recipe.init else ()


def derived_seed(name: str, ancestors: Sequence[str]) -> int:
    """A seed of 31 bits for a run of this name after these others; the same on every machine."""
    digest = hashlib.sha256("\n".join([*ancestors, name]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
