"""Options of all commands that follow objects: which objects, and by what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mobilevos.errors import InputError

if TYPE_CHECKING:
    from mobilevos.pipeline import Segmented
    from mobilevos.tracking import Tracker

MOST_ALARMS = 10
DEFAULT_MODEL = "mobilenetv2-lite"
DEFAULT_QUEUE = "auto"

Source = Annotated[
    str, typer.Argument(help="A video, an address, a folder or pattern of pictures, - (standard input), or camera:0.")
]
Folder = Annotated[str, typer.Option("--output", "-o", help="Folder for everything that is made.")]
Mask = Annotated[
    list[str] | None,
    typer.Option(metavar="[FRAME=][OBJECT:]FILE", help="A picture of the objects; again for a correction."),
]
Box = Annotated[
    list[str] | None,
    typer.Option(metavar="[FRAME=][OBJECT:]X,Y,W,H", help="A box around an object; again for further objects."),
]
Click = Annotated[
    list[str] | None,
    typer.Option(metavar="[FRAME=][OBJECT:]X,Y", help="A point on an object (object 1 unless numbered)."),
]
Not = Annotated[
    list[str] | None,
    typer.Option("--not", metavar="[FRAME=][OBJECT:]X,Y", help="A point that is not on the object."),
]
Gone = Annotated[
    list[str] | None, typer.Option(metavar="FRAME[=OBJECT]", help="In this frame the object is out of view.")
]
Model = Annotated[
    str,
    typer.Option(help="A shipped model's name, a file, or auto: mobilenetv2-lite or its int8 form, if that is faster."),
]
Runtime = Annotated[str, typer.Option(help="What runs the network.")]
Queue = Annotated[str, typer.Option(help="Frames that are remembered: a number, unbounded, or auto (4).")]
Size = Annotated[int, typer.Option(min=16, help="Working size: the short side the network sees.")]
SizeOrNone = Annotated[int, typer.Option(min=0, help="Working size: the short side the network sees; 0: as they are.")]
Window = Annotated[str, typer.Option(help="auto: follow objects at their own size; off: always look at all.")]
Backward = Annotated[bool, typer.Option(help="Follow objects back to the start from where they are marked first.")]
Despeckle = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="PIXELS", help="Smaller parts of an object go; by default those below 0.5 % of its largest part."
    ),
]
FillHoles = Annotated[int, typer.Option(min=0, metavar="PIXELS", help="Smaller holes in an object are filled.")]
GrowMasks = Annotated[int, typer.Option(metavar="PIXELS", help="Make masks larger; smaller where it is negative.")]
Smooth = Annotated[
    int, typer.Option(min=0, metavar="FRAMES", help="Average outlines over so many frames to either side, 8 at most.")
]
Feather = Annotated[
    float, typer.Option(metavar="PIXELS", help="How far the edges of cut-outs are soft, to either side.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier output, once the new one is complete.")]


def choose(model: str, runtime: str) -> tuple[str, str]:
    """Model and runtime, the fastest where that is asked for; how they were found is said when it is measured."""
    from mobilevos.runtime.fastest import AUTO, fastest

    if model != AUTO:
        return model, runtime
    found = fastest(runtime)
    if found.measured:
        typer.echo(str(found), err=True)
    return found.names


def load_tracker(model: str, runtime: str, queue: str, size: int | None, window: str) -> Tracker:
    """A tracker as the options say."""
    from mobilevos.tracking import Tracker

    return Tracker.load(model, runtime, queue=parse_queue(queue), size=size, window=window)


def identify(model: str) -> str:
    """A model's name or, for a file, its hash."""
    import hashlib

    return hashlib.sha256(Path(model).read_bytes()).hexdigest()[:16] if Path(model).is_file() else model


def parse_queue(text: str) -> int | Literal["auto"] | None:
    """A number of frames, "auto", or None for an unbounded memory."""
    if text == "auto":
        return "auto"
    if text == "unbounded":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"expected a queue of 1 or more frames, unbounded, or auto, got {text}")
    return int(text)


def parse_folder(text: str) -> Path:
    """A folder; no text at all would be the one in which the command runs."""
    if not text.strip():
        raise InputError("expected a folder for --output, got nothing")
    return Path(text)


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


def tell(result: Segmented) -> None:
    """Say how it went, and where to look again."""
    for note in result.notes:
        print(note)
    frames = "1 frame" if result.frames == 1 else f"{result.frames} frames"
    objects = "1 object" if len(result.objects) == 1 else f"{len(result.objects)} objects"
    print(
        f"{frames}, {objects}: {result.rate:.1f} frames a second"
        + (f" ({result.network_rate:.1f} without reading and writing)" if result.network_frames else "")
    )
    for alarm in result.alarms[:MOST_ALARMS]:
        print(f"Look here: {alarm}")
    if len(result.alarms) > MOST_ALARMS and result.folder:
        print(f"... and {len(result.alarms) - MOST_ALARMS} more; see {result.folder / 'confidence.csv'}")
