"""mobilevos train"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    recipe: Annotated[Path, typer.Argument(help="YAML file of a training stage.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, e.g. optimizer.learning_rate=1e-4")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of all runs.")] = Path("runs"),
    fresh: Annotated[bool, typer.Option(help="Begin anew instead of resuming.")] = False,
) -> None:
    """Train a network, or go on where it was stopped. Works under torchrun too."""
    from mobilevos.cli.targets import check_folder
    from mobilevos.training.loop import train as run
    from mobilevos.training.recipe import load_recipe

    settings = load_recipe(recipe, overrides or ())
    check_folder(output / settings.name)
    print(run(settings, output, fresh=fresh))
