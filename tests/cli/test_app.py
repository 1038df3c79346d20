"""mobilevos app"""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from mobilevos.app import files
from mobilevos.cli import browser_app
from tests.app.folder import PAGE, built_folder
from tests.cli.command import run_command

STARTED = """
import signal
import sys
from pathlib import Path
import typer
from mobilevos.app import files
from mobilevos.cli.browser_app import app
files.built_app.__defaults__ = (Path(sys.argv.pop(1)),)
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it, and hand that on
typer.run(app)
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a single process on Windows")
@pytest.mark.parametrize("taken", [False, True])
def test_serves_until_ctrl_c(tmp_path: Path, taken: bool) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1] if taken else 0
        command = [sys.executable, "-c", STARTED, str(built_folder(tmp_path)), "--port", str(port), "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            if taken:
                assert line.startswith(f"Port {port} is not free, so the app is on port ")
                line = process.stdout.readline()
            assert line.startswith("The app is at http://127.0.0.1:")
            with urllib.request.urlopen(line.split()[4], timeout=20) as response:
                assert response.read() == PAGE
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")


def test_opens_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    opened = []

    def closing_at_once(url: str) -> bool:
        opened.append(url)
        raise KeyboardInterrupt

    monkeypatch.setattr(files.built_app, "__defaults__", (built_folder(tmp_path),))
    monkeypatch.setattr("webbrowser.open", closing_at_once)
    ran = run_command(browser_app.app, ["--port", "0"], monkeypatch, capfd)
    assert ran.code == 0
    assert opened == [ran.out.split()[4]]


def test_an_app_that_is_not_built_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files.built_app, "__defaults__", (tmp_path,))
    ran = run_command(browser_app.app, ["--no-browser"], monkeypatch, capfd)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mobilevos: the browser app is not built into this install")
    assert len(ran.err.splitlines()) == 1
