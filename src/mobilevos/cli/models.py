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
    from rich.console import Console
    from rich.table import Column, Table

    from mobilevos.weights import shipped

    table = Table(Column("name", no_wrap=True), "parameters", "J&F", "licence", "sha256 of the weights")
    for model in shipped().values():
        weights = model.sha256.get(f"{model.name}.safetensors") or model.sha256[f"{model.name}.onnx"]
        table.add_row(
            model.name, f"{model.parameters / 1e6:.2f} M", f"{model.j_and_f:.3f}", model.licence, weights[:16]
        )
    Console().print(table)
