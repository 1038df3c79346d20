"""mobilevos demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT = "mobilenetv2-lite"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for video and masks.")] = Path("out/demo"),
    model: Annotated[str, typer.Option(help="A shipped model's name or a file.")] = DEFAULT,
    runtime: Annotated[str, typer.Option(help="What runs the network.")] = "auto",
    frames: Annotated[int, typer.Option(min=2, help="Length of the clip.")] = 60,
    objects: Annotated[int, typer.Option(min=1, max=24, help="Objects in the clip.")] = 3,
    size: Annotated[int, typer.Option(help="Working size: the short side the network sees.")] = 480,
    seed: Annotated[int, typer.Option(help="Another number makes another clip.")] = 0,
    force: Annotated[bool, typer.Option(help="Replace an earlier output.")] = False,
) -> None:
    """Make a clip with known objects, follow them, and write overlay video and masks."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.demo import run_demo
    from mobilevos.runtime import load_runtime
    from mobilevos.tracking import Tracker
    from mobilevos.weights import shipped

    if model == DEFAULT and model not in shipped():
        from mobilevos.model.checkpoint import build
        from mobilevos.runtime.torch_runtime import TorchRuntime

        print("No trained weights are shipped yet: the network is UNTRAINED, and the masks will be noise.")
        tracker = Tracker(TorchRuntime(build(model)), size=size)
    else:
        tracker = Tracker(load_runtime(model, runtime), size=size)
    with frame_progress("following", frames) as advance:
        result = run_demo(tracker, output, frames=frames, objects=objects, seed=seed, force=force, progress=advance)
    print(
        f"{result.frames} frames, {result.objects} objects: "
        f"J&F {result.j_and_f:.3f} (J {result.j:.3f}, F {result.f:.3f})"
    )
    print(f"Look at {output / 'overlay.mp4'} and {output / 'masks'}")
