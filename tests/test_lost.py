"""A process that vanishes among others: its tests, and those that were not run for it, are run afterwards."""

import os
import subprocess
import sys
from pathlib import Path

VANISHES = """
import os
from pathlib import Path

def test_before(): pass
def test_vanishes():
    if not Path("once").exists():
        Path("once").touch()
        os._exit(1)
def test_after(): pass
"""


def test_what_a_lost_process_has_not_run_is_run_afterwards(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_some.py").write_text(VANISHES)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_configure\n")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    env.pop("PYTEST_XDIST_WORKER", None)

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-v", *options]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120).stdout

    first = run("--numprocesses", "1", "--dist", "loadfile", "--max-worker-restart", "0")
    assert "crashed while running" in first
    assert "test_after" not in first
    again = run("--last-failed", "--last-failed-no-failures", "none")
    assert "2 passed" in again
    assert "test_after PASSED" in again
