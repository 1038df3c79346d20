"""Runs commands and code of the documentation, or checks what cannot run."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from mobilevos import cli
from mobilevos.training.recipe import load_recipe
from tests.docs.listed import LISTED, SMALL
from tests.docs.pages import ROOT, Block

SCRIPTS = Path(sys.executable).parent
TRAIN = re.compile(r"(?:mobilevos|torchrun --nproc-per-node \d+ -m mobilevos) train (?P<rest>.*)")


def reason_not_to_run(command: str) -> str | None:
    return next((reason for pattern, reason in LISTED.items() if re.match(pattern, command)), None)


def run_shell(command: str, where: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, apart: bool) -> None:
    """Run a line in a folder; mobilevos in this process, unless `apart`, because imports take longer than the work."""
    command = smaller(command)
    words = shlex.split(command, comments=True)
    if words[0] == "mobilevos" and not apart:
        code = run_here(words[1:], folder, monkeypatch)
        assert code == 0, f"{where}: {command} ended with code {code}"
        return
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{where}: {command}\n{done.stdout}\n{done.stderr}"


def smaller(command: str) -> str:
    """The command with what makes it small."""
    added = next((extra for begin, extra in SMALL.items() if re.match(begin, command)), ())
    return " ".join([command, *map(shlex.quote, added)])


def run_here(arguments: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of the console script's own entry point; exceptions other than bad input come through."""
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(cli, "app", typer.Typer(pretty_exceptions_enable=False))
        patch.setattr(sys, "argv", ["mobilevos", *arguments])
        try:
            cli.main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0
    return 0


def run_python(block: Block, namespace: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run code in the namespace of its page; a traceback shows the line of the page."""
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), namespace)


def check_listed(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be said of a command without running it."""
    words = shlex.split(command, comments=True)
    if training := TRAIN.match(command):
        recipe, *overrides = shlex.split(training["rest"])
        load_recipe(ROOT / recipe, overrides)
    if "mobilevos" in words:
        parse(words[words.index("mobilevos") + 1 :], monkeypatch)
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.M), f"no target {words[1]}"
    elif words[:2] == ["pip", "install"]:
        section = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
        extras = re.findall(r"^(\w+) = \[", section.partition("\n[")[0], re.M)
        for extra in re.findall(r"\w+", words[2]):
            assert extra in extras, f"there is no extra {extra!r}"
    elif words[0].endswith("python"):
        script = folder / words[1]
        if script.suffix == ".py":
            ast.parse(script.read_text())
        else:
            assert (ROOT / words[-1]).exists()


def parse(arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises where an argument or option of `mobilevos` does not exist."""
    with monkeypatch.context() as patch:
        patch.setattr(cli, "app", typer.Typer(add_completion=False))
        patch.setattr(sys, "argv", ["mobilevos", "--help"])
        with pytest.raises(SystemExit):
            cli.main()
        command: Any = typer.main.get_command(cli.app)
    rest = list(arguments)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    command.make_context(command.name, rest).close()
