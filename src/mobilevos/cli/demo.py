"""mobilevos demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mobilevos.weights import WORKING_SIZE


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for video and masks.")] = Path("out/demo"),
    model: Annotated[str, typer.Option(help="A shipped model's name or a file.")] = "mobilenetv2-lite",
    runtime: Annotated[str, typer.Option(help="What runs the network.")] = "auto",
    frames: Annotated[int, typer.Option(min=2, help="Length of the clip.")] = 60,
    objects: Annotated[int, typer.Option(min=1, max=24, help="Objects in the clip.")] = 3,
    size: Annotated[int, typer.Option(help="Working size: the short side the network sees.")] = WORKING_SIZE,
    seed: Annotated[int, typer.Option(help="Another number makes another clip.")] = 0,
    force: Annotated[bool, typer.Option(help="Replace an earlier output.")] = False,
) -> None:
    """Make a clip with known objects, follow them, and write overlay video and masks."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.demo import run_demo
    from mobilevos.runtime import load_runtime
    from mobilevos.tracking import Tracker

    tracker = Tracker(load_runtime(model, runtime), size=size)
    print(f"{model} on {tracker.runtime.name}")
    with frame_progress("following", frames) as advance:
        result = run_demo(tracker, output, frames=frames, objects=objects, seed=seed, force=force, progress=advance)
    print(
        f"{result.frames} frames, {result.objects} objects: "
        f"J&F {result.j_and_f:.3f} (J {result.j:.3f}, F {result.f:.3f})"
    )
    print(f"Look at {output / 'overlay.mp4'} and {output / 'masks'}")
