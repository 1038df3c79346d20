"""Runs one command as `mobilevos` does, in this process."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import typer

from mobilevos import cli


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def run_command(
    function: Callable[..., None],
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Ran:
    """What a command answers; exceptions other than bad input come through."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.callback()(lambda: None)
    app.command()(function)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["mobilevos", function.__name__, *map(str, arguments)])
    code: object = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code or 0
    out, err = capfd.readouterr()
    assert isinstance(code, int)
    return Ran(code, out, err)
