"""Runs the Node.js side of the tests, or says why it cannot."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"


def need_node() -> None:
    if shutil.which("node") is None:
        pytest.skip("no Node.js on the path")
    if not (WEB / "node_modules" / "vite").is_dir():
        pytest.skip("the packages of the browser app are not installed (npm ci in web/)")


def need_chromium() -> None:
    need_node()
    if shutil.which(os.environ.get("CHROMIUM", "chromium")) is None:
        pytest.skip("no Chromium on the path (install the package chromium, or set CHROMIUM)")


def node(*arguments: str | Path) -> None:
    """`node ARGUMENTS` in web/; what it printed is the message of the failure."""
    done = subprocess.run(["node", *map(str, arguments)], cwd=WEB, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def output(*arguments: str | Path) -> str:
    """What `node ARGUMENTS` in web/ prints."""
    done = subprocess.run(["node", *map(str, arguments)], cwd=WEB, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
