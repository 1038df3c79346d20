"""mobilevos reproduce"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def reproduce(
    table: Annotated[
        str, typer.Argument(help="A table or figure of the paper: table1 to table8, figure2, figure3 ...")
    ],
    scale: Annotated[
        Literal["paper", "cpu"], typer.Option(help="As in the paper, or short runs for two cores.")
    ] = "paper",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of runs, masks and tables.")] = Path(
        "reproduced"
    ),
    data: Annotated[Path, typer.Option(help="Folder of the training data.")] = Path("data"),
    weights: Annotated[Path, typer.Option(help="Folder of the backbones' weights.")] = Path("weights"),
    davis: Annotated[Path | None, typer.Option(help="DAVIS folder to score on.")] = None,
    split: Annotated[str, typer.Option(help="Of DAVIS: a split's name, or a text file of names.")] = "val",
    youtube: Annotated[Path | None, typer.Option(help="YouTube-VOS split to score on.")] = None,
    teacher: Annotated[str, typer.Option(help="Whom students learn from; without it STCN is trained first.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each row, for a spread.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Runs side by side, each in a process of its own.")] = 1,
    gpus: Annotated[int, typer.Option(min=0, help="Processes of each run, by torchrun.")] = 0,
    recipes: Annotated[Path, typer.Option(help="Folder of the paper's recipes.")] = Path("recipes/paper"),
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, changes every recipe; repeatable.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and how long it takes here.")
    ] = False,
    estimate: Annotated[bool, typer.Option(help="In a dry run: measure how long it takes.")] = True,
) -> None:
    """Make a table or figure of the paper: train what is missing, score it, write it beside the paper's numbers."""
    from mobilevos.cli.targets import check_folder
    from mobilevos.errors import InputError
    from mobilevos.reproduce.plan import Place
    from mobilevos.reproduce.run import plan
    from mobilevos.reproduce.run import reproduce as run

    check_folder(output)
    if not recipes.is_dir():
        raise InputError(f"there is no folder of recipes {recipes}; they come with the source of mobilevos")
    place = Place(
        output, recipes, data, weights, davis, split, youtube, scale, seeds, teacher, overrides=tuple(set_ or ())
    )
    if dry_run:
        print("\n".join(plan(table, place, estimate)))
        return
    target = run(table, place, side_by_side=jobs, gpus=gpus)
    print(target.read_text(encoding="utf-8"))
    print(f"{target}, and beside it .csv and .png")
