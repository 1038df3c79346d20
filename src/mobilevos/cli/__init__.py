"""The command line. Each command is a thin face of a library function."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer

from mobilevos.errors import InputError
from mobilevos.version import VERSION

EXTRAS = {
    "torch": "train",
    "yaml": "train",
    "tensorboard": "train",
    "onnx": "export",
    "onnxscript": "export",
    "openvino": "openvino",
    "ai_edge_litert": "litert",
    "ai_edge_quantizer": "litert",
    "litert_torch": "tflite",
    "matplotlib": "benchmark",
    "ray": "ray",
    "trimesh": "render",
    "moderngl": "render",
}
"""The extra that installs a package which the base install lacks."""

app = typer.Typer(
    name="mobilevos",
    help="Mark an object once; it is followed through the whole video, on ordinary hardware.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"mobilevos {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Keeps `mobilevos` a group of commands."""


def main() -> None:
    """Entry point: bad input, and a package that is not installed, is one line on stderr and exit code 2."""
    from mobilevos.cli import (
        batch,
        benchmark,
        browser_app,
        demo,
        evaluate,
        export,
        import_stcn,
        label_studio,
        models,
        remove,
        render,
        reproduce,
        segment,
        soup,
        train,
    )

    app.command()(segment.segment)
    app.command()(remove.remove)
    app.command()(batch.batch)
    app.command()(demo.demo)
    app.command()(browser_app.app)
    app.command()(label_studio.label_studio)
    app.command()(train.train)
    app.command()(soup.soup)
    app.command()(export.export)
    app.command()(models.models)
    app.command()(render.render)
    app.command()(reproduce.reproduce)
    app.command()(import_stcn.import_stcn)
    app.add_typer(benchmark.app, name="benchmark")
    app.add_typer(evaluate.app, name="evaluate")
    try:
        app()
    except InputError as error:
        print(f"mobilevos: {' '.join(str(error).split())}", file=sys.stderr)  # one line, whatever was typed
        raise SystemExit(2) from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        print(f"mobilevos: a name is too long for a file: {str(error.filename)[:60]}...", file=sys.stderr)
        raise SystemExit(2) from None
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        line = f"this needs {package}, which is not installed: pip install 'mobilevos[{EXTRAS[package]}]'"
        print(f"mobilevos: {line}", file=sys.stderr)
        raise SystemExit(2) from None
