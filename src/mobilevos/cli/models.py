"""mobilevos models"""

from __future__ import annotations

from typing import Annotated

import typer


def models(
    recipe: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print the recipe a shipped model, or a checkpoint, was trained with."),
    ] = None,
) -> None:
    """List the shipped models."""
    if recipe is not None:
        from mobilevos.training.recipe import recipe_text

        print(recipe_text(recipe), end="")
        return
    from textwrap import fill

    from mobilevos.weights import FOLDER, shipped

    print(f"{'name':24}{'parameters':>11}{'files':>9}{'J&F':>8}   sha256 of the weights")
    for model in shipped().values():
        weights = model.sha256.get(f"{model.name}.safetensors") or model.sha256[f"{model.name}.onnx"]
        size = sum((FOLDER / name).stat().st_size for name in model.sha256) / 1e6
        numbers = f"{model.parameters / 1e6:8.2f} M {size:5.1f} MB{model.j_and_f:8.3f}"
        print(f"{model.name:24}{numbers}   {weights[:16]}")
    for licence in dict.fromkeys(model.licence for model in shipped().values()):
        names = ", ".join(model.name for model in shipped().values() if model.licence == licence)
        print("\n" + fill(f"{names}: {licence}", 80, break_on_hyphens=False))
