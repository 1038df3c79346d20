"""mobilevos segment"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mobilevos.errors import InputError

if TYPE_CHECKING:
    from mobilevos.segment import Segmented

MOST_ALARMS = 10
FORMAT_NAMES = "masks, overlay, cutout, alpha, prores, alpha-png, coco, sheet"


def segment(
    source: Annotated[
        str, typer.Argument(help="A video, a folder or pattern of pictures, - (standard input), or camera:0.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for everything that is made.")],
    mask: Annotated[
        list[str] | None,
        typer.Option(metavar="[FRAME=][OBJECT:]FILE", help="A picture of the objects; again for a correction."),
    ] = None,
    box: Annotated[
        list[str] | None,
        typer.Option(metavar="[FRAME=][OBJECT:]X,Y,W,H", help="A box around an object; again for further objects."),
    ] = None,
    click: Annotated[
        list[str] | None,
        typer.Option(metavar="[FRAME=][OBJECT:]X,Y", help="A point on an object (object 1 unless numbered)."),
    ] = None,
    not_: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="[FRAME=][OBJECT:]X,Y", help="A point that is not on the object."),
    ] = None,
    gone: Annotated[
        list[str] | None, typer.Option(metavar="FRAME[=OBJECT]", help="From this frame on the object is out of view.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=f"Of {FORMAT_NAMES}; with commas.")] = "masks,overlay",
    model: Annotated[str, typer.Option(help="A shipped model's name or a file.")] = "mobilenetv2-lite",
    runtime: Annotated[str, typer.Option(help="What runs the network.")] = "auto",
    queue: Annotated[str, typer.Option(help="Frames that are remembered: a number, or unbounded.")] = "2",
    size: Annotated[int, typer.Option(min=16, help="Working size: the short side the network sees.")] = 480,
    color: Annotated[str, typer.Option(help="Behind the cut-out: a name, #RRGGBB, or R,G,B.")] = "0,177,64",
    backward: Annotated[
        bool, typer.Option(help="Follow objects back to the start from where they are marked first.")
    ] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier output.")] = False,
) -> None:
    """Follow objects through a video: mark them once, get masks, overlays and cut-outs."""
    from mobilevos.cli.progress import frame_progress
    from mobilevos.media.output import is_finished
    from mobilevos.segment import read_marks
    from mobilevos.segment import segment as run
    from mobilevos.tracking import Tracker

    formats = [name.strip() for name in format_.split(",") if name.strip()]
    if resume and is_finished(output, formats):
        print(f"{output} is complete already.")
        return
    marks, notes = read_marks(mask or (), box or (), click or (), not_ or (), gone or ())
    for note in notes:
        print(note)
    tracker = Tracker.load(model, runtime, queue=parse_queue(queue), size=size)
    try:
        result = run(
            tracker,
            source,
            marks,
            output,
            formats=formats,
            color=parse_color(color),
            backward=backward,
            resume=resume,
            force=force,
            settings={"model": _identify(model)},
            progress=frame_progress,
        )
    except KeyboardInterrupt:
        typer.echo(f"Stopped. The same command with --resume goes on; what is done is in {output}.", err=True)
        raise typer.Exit(1) from None
    _tell(result)


def parse_queue(text: str) -> int | None:
    """A number of frames, or None for an unbounded memory."""
    if text == "unbounded":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"expected a queue of 1 or more frames, or unbounded, got {text}")
    return int(text)


def parse_color(text: str) -> tuple[int, int, int]:
    """A name, #RRGGBB, or R,G,B."""
    from PIL import ImageColor

    parts = text.replace(" ", "").split(",")
    if len(parts) == 3 and all(part.isdecimal() and int(part) < 256 for part in parts):
        return int(parts[0]), int(parts[1]), int(parts[2])
    try:
        red, green, blue, *_ = ImageColor.getrgb(text)
    except ValueError:
        raise InputError(f"expected a colour such as white, #00b140 or 0,177,64, got {text}") from None
    return red, green, blue


def _identify(model: str) -> str:
    """A model's name or, for a file, its hash."""
    import hashlib

    return hashlib.sha256(Path(model).read_bytes()).hexdigest()[:16] if Path(model).is_file() else model


def _tell(result: Segmented) -> None:
    for note in result.notes:
        print(note)
    objects = "1 object" if len(result.objects) == 1 else f"{len(result.objects)} objects"
    print(
        f"{result.frames} frames, {objects}: {result.rate:.1f} frames a second"
        + (f" ({result.network_rate:.1f} without reading and writing)" if result.network_frames else "")
    )
    for alarm in result.alarms[:MOST_ALARMS]:
        print(f"Look here: {alarm}")
    if len(result.alarms) > MOST_ALARMS:
        print(f"... and {len(result.alarms) - MOST_ALARMS} more; see {result.folder / 'confidence.csv'}")
    print(f"Done: {result.folder}")
