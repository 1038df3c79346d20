"""mobilevos render"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer


def render(
    meshes: Annotated[Path, typer.Argument(help="Folder of meshes (.obj, .glb), at any depth.")],
    backgrounds: Annotated[Path, typer.Option(help="Folder of photos, videos or folders of frames, at any depth.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the clips, in BL30K's layout.")],
    clips: Annotated[int, typer.Option(min=1, help="How many clips there are to be in the end.")] = 200,
    frames: Annotated[int, typer.Option(min=1, help="Frames of a clip.")] = 60,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT of a frame.")] = "854x480",
    objects: Annotated[str, typer.Option(help="Things in a clip: FEWEST-MOST.")] = "1-4",
    blurred: Annotated[float, typer.Option(min=0, max=1, help="Share of the clips with motion blur.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Other seeds give other clips.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; as many as there are cores by default.")] = None,
) -> None:
    """Render clips of meshes that move and turn before photos or footage, with exact masks, to train on."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.cli.targets import check_folder
    from mobilevos.errors import InputError
    from mobilevos.render import RenderConfig
    from mobilevos.render import render as run

    pair = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size)
    count = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", objects)
    if not pair:
        raise InputError(f"expected a size such as 854x480, got {size!r}")
    if not count:
        raise InputError(f"expected a number of objects such as 1-4, got {objects!r}")
    check_folder(output)
    width, height = map(int, pair.groups())
    config = RenderConfig(frames, height, width, int(count[1]), int(count[2] or count[1]), blurred, seed)
    made = run(meshes, backgrounds, output, clips, config, jobs=jobs, progress=frame_progress)
    print(f"{made} of {clips} clips rendered, {clips - made} were there; train on them as a source of kind bl30k")
