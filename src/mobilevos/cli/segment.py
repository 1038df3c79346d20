"""mobilevos segment"""

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
    Despeckle,
    Feather,
    FillHoles,
    Folder,
    Force,
    Gone,
    GrowMasks,
    Mask,
    Model,
    Not,
    Queue,
    Resume,
    Runtime,
    Size,
    Smooth,
    Source,
    Window,
    choose,
    identify,
    load_tracker,
    parse_color,
    parse_folder,
    tell,
)
from mobilevos.errors import InputError
from mobilevos.weights import WORKING_SIZE

FORMAT_NAMES = (
    "masks, overlay, cutout, matte, alpha, prores, alpha-png, alpha-png16, exr, coco, yolo, label-studio, sheet"
)


def segment(
    source: Source,
    output: Folder,
    mask: Mask = None,
    box: Box = None,
    click: Click = None,
    not_: Not = None,
    gone: Gone = None,
    format_: Annotated[str, typer.Option("--format", help=f"Of {FORMAT_NAMES}; with commas.")] = "masks,overlay",
    model: Model = DEFAULT_MODEL,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: Size = WORKING_SIZE,
    window: Window = "auto",
    from_: Annotated[
        str | None, typer.Option("--from", metavar="PLACE", help="Begin here: the number of a frame, or a time.")
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="PLACE", help="End here, this frame included.")] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Go on where frames cannot be read, with the masks before them.")
    ] = False,
    despeckle: Despeckle = None,
    fill_holes: FillHoles = 0,
    grow: GrowMasks = 0,
    smooth: Smooth = 0,
    feather: Feather = 1.0,
    color: Annotated[str, typer.Option(help="Behind the cut-out: a name, #RRGGBB, or R,G,B.")] = "0,177,64",
    backward: Backward = True,
    resume: Resume = False,
    force: Force = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only draw the masks of the first marked frame, as preview.png.")
    ] = False,
    stop_when_lost: Annotated[
        bool, typer.Option("--stop-when-lost", help="Stop where an object is not found for 10 frames.")
    ] = False,
    summary: Annotated[Path | None, typer.Option(help="Write how it went to this file, as JSON.")] = None,
) -> None:
    """Follow objects through a video: mark them once, get masks, overlays and cut-outs."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.media.edges import Edges
    from mobilevos.media.excerpt import Excerpt, excerpt
    from mobilevos.media.video import PICTURE_RATE
    from mobilevos.pipeline import read_marks
    from mobilevos.pipeline import segment as run
    from mobilevos.pipeline.marks import mask_files
    from mobilevos.pipeline.preview import write_preview
    from mobilevos.pipeline.stopping import LOST_FRAMES
    from mobilevos.pipeline.summary import write_summary

    if preview and summary:
        raise InputError("expected either --preview, which follows nothing, or --summary")
    folder = parse_folder(output)
    formats = [name.strip() for name in format_.split(",") if name.strip()]
    part = excerpt(source, from_, to, PICTURE_RATE, skip_damaged)
    first = part.first if isinstance(part, Excerpt) else 0
    marks, notes = read_marks(mask or (), box or (), click or (), not_ or (), gone or (), first)
    behind = parse_color(color)
    edges = Edges(despeckle, fill_holes, grow, smooth)
    for note in notes:
        print(note)
    model, runtime = choose(model, runtime)
    tracker = load_tracker(model, runtime, queue, size, window)
    if preview:
        made = write_preview(tracker, part, marks, folder)
        objects = "1 object" if len(made.objects) == 1 else f"{len(made.objects)} objects"
        print(f"Frame {made.frame} with {objects}: {made.path}")
        return
    try:
        result = run(
            tracker,
            part,
            marks,
            folder,
            formats=formats,
            color=behind,
            feather=feather,
            edges=edges,
            backward=backward,
            resume=resume,
            force=force,
            stop_when_lost=LOST_FRAMES if stop_when_lost else None,
            settings={"model": identify(model)},
            inputs=mask_files(mask or ()),
            progress=frame_progress,
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. The same command with --resume goes on; what is done is in {folder}.", err=True)
        raise typer.Exit(1) from None
    if summary:
        write_summary(summary, result)
    if result.complete:
        print(f"{folder} is complete already.")
        return
    tell(result)
    print(f"{'Stopped' if result.stopped else 'Done'}: {folder}")
