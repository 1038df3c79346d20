"""mobilevos app"""

from __future__ import annotations

from typing import Annotated

import typer

PORT = 8417
"""Always the same one, if it is free: browsers keep an app and its offline files by address, port included."""


def app(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = PORT,
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
) -> None:
    """Open the browser app. It runs on this machine alone: no video leaves it."""
    import contextlib
    import webbrowser

    from mobilevos.app import built_app, open_server

    with open_server(built_app(), port) as server, contextlib.suppress(KeyboardInterrupt):
        if port not in (0, server.server_port):
            print(f"Port {port} is not free, so the app is on port {server.server_port}.")
        print(f"The app is at {server.url} (Ctrl-C ends it).", flush=True)
        if browser:
            webbrowser.open(server.url)
        server.serve_forever()
