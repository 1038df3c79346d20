"""mobilevos remove"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mobilevos.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_QUEUE,
    Backward,
    Box,
    Click,
    Folder,
    Force,
    Gone,
    Mask,
    Model,
    Not,
    Queue,
    Resume,
    Runtime,
    Size,
    Window,
    choose,
    identify,
    load_tracker,
    parse_folder,
    tell,
)
from mobilevos.errors import InputError
from mobilevos.weights import WORKING_SIZE


def remove(
    source: Annotated[str, typer.Argument(help="A video, or a folder or pattern of pictures.")],
    output: Folder,
    masks: Annotated[
        Path | None, typer.Option(help="A folder with a mask for each frame; instead of marking objects.")
    ] = None,
    mask: Mask = None,
    box: Box = None,
    click: Click = None,
    not_: Not = None,
    gone: Gone = None,
    grow: Annotated[
        int | None,
        typer.Option(min=0, help="Pixels by which the masks are made larger: more takes away shadows, too."),
    ] = None,
    model: Model = DEFAULT_MODEL,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: Size = WORKING_SIZE,
    window: Window = "auto",
    backward: Backward = True,
    resume: Resume = False,
    force: Force = False,
) -> None:
    """Take objects out of a video: what is behind them comes from other frames."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.pipeline import read_marks, segment
    from mobilevos.pipeline.marks import mask_files
    from mobilevos.removal import check_target
    from mobilevos.removal import remove as run

    folder = parse_folder(output)
    marks, notes = read_marks(mask or (), box or (), click or (), not_ or (), gone or ())
    if bool(marks) == bool(masks):
        raise InputError("expected either a folder of --masks, or marks of the objects (--mask, --box, --click)")
    for note in notes:
        print(note)
    check_target(source, folder, force=force or resume)
    replace = force
    try:
        if masks is None:
            model, runtime = choose(model, runtime)
            tracker = load_tracker(model, runtime, queue, size, window)
            followed = segment(
                tracker,
                source,
                marks,
                folder,
                formats=["masks"],
                backward=backward,
                resume=resume,
                force=force,
                settings={"model": identify(model)},
                inputs=mask_files(mask or ()),
                progress=frame_progress,
            )
            if not followed.complete:
                tell(followed)
                replace = force or resume  # what was removed by other masks
        result = run(
            source,
            masks or folder / "masks",
            folder,
            grow=grow,
            resume=resume,
            force=replace,
            progress=frame_progress,
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. The same command with --resume goes on; what is done is in {folder}.", err=True)
        raise typer.Exit(1) from None
    if result.complete:
        print(f"{folder} is complete already.")
        return
    for note in result.notes:
        print(note)
    print(f"{result.frames} frames; {100 * result.invented:.0f} % of what was hidden is in no frame and was painted.")
    print(f"Done: {result.video}")
