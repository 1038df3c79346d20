"""mobilevos label-studio"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mobilevos.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_QUEUE,
    Model,
    Queue,
    Runtime,
    Size,
    Window,
    choose,
    load_tracker,
)
from mobilevos.weights import WORKING_SIZE


def label_studio(
    files: Annotated[Path | None, typer.Option(help="Folder of Label Studio's local files.")] = None,
    url: Annotated[
        str, typer.Option(help="Address of Label Studio, for what was uploaded.", envvar="LABEL_STUDIO_URL")
    ] = ("http://localhost:8080"),
    token: Annotated[
        str, typer.Option(help="Access token of Label Studio, likewise.", envvar="LABEL_STUDIO_API_KEY")
    ] = "",
    host: Annotated[str, typer.Option(help="Who may ask: 0.0.0.0 for other machines.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to serve; 0 for any.")] = 9090,
    model: Model = DEFAULT_MODEL,
    runtime: Runtime = "auto",
    queue: Queue = DEFAULT_QUEUE,
    size: Size = WORKING_SIZE,
    window: Window = "auto",
) -> None:
    """Serve a model for Label Studio: boxes are followed through videos, clicks become masks of pictures."""
    from mobilevos.errors import InputError
    from mobilevos.integrations.label_studio import Backend, Files, Server

    if files is not None and not files.is_dir():
        raise InputError(f"there is no folder {files}")
    model, runtime = choose(model, runtime)
    tracker = load_tracker(model, runtime, queue, size, window)
    with Server(Backend(tracker, Files(files, url, token)), host, port) as server:
        print(
            f"Serving http://{host}:{server.server_port}: add it in Label Studio under Settings, Model. Ctrl+C ends it."
        )
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
