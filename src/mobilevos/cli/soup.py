"""mobilevos soup"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def soup(
    checkpoints: Annotated[list[Path], typer.Argument(help="Checkpoints of one and the same network.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the soup.")],
    recipe: Annotated[Path, typer.Option(help="Recipe whose training clips select the ingredients.")],
    uniform: Annotated[bool, typer.Option(help="Average all of them instead of choosing.")] = False,
    clip: Annotated[list[str] | None, typer.Option(help="Look at this training clip only; repeatable.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, changes the recipe; repeatable.")] = None,
) -> None:
    """Average checkpoints into one network, greedily or uniformly."""
    from mobilevos.cli.targets import check_file
    from mobilevos.training.recipe import load_recipe
    from mobilevos.training.soup import cook

    check_file(output)
    settings = load_recipe(recipe, set_ or ())
    result = cook(checkpoints, output, settings, greedy=not uniform, clips=clip or ())
    names = ", ".join(str(checkpoints[i]) for i in result.ingredients)
    print(f"{output}: J&F {result.score:.4f} on training clips, best single one {max(result.scores):.4f}; from {names}")
