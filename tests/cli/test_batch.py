"""mobilevos batch"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mobilevos.batch import run
from mobilevos.cli.batch import batch
from tests.batch.test_run import COMMAND
from tests.cli.command import run_command


def test_the_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(run.local_pool.__wrapped__, "__defaults__", (COMMAND,))
    (tmp_path / "jobs.csv").write_text("source,output,format\ngood,a,masks\nbad,b,masks\nonce,c,masks\n")
    ran = run_command(batch, [str(tmp_path / "jobs.csv"), "-j", "2"], monkeypatch, capfd)
    assert ran.code == 1
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in ran.out.splitlines() if line.startswith("│")]
    assert [(r[0], r[1], r[2], r[3]) for r in rows] == [
        ("1", "good", "done", "1"),
        ("2", "bad", "failed", "1"),
        ("3", "once", "done", "2"),
    ]
    assert rows[1][5] == "no such file: bad"
    (tmp_path / "jobs.csv").write_text("source,output,format\ngood,a,masks\nonce,c,masks\n")
    again = run_command(batch, [str(tmp_path / "jobs.csv")], monkeypatch, capfd)
    assert again.code == 0
    assert again.out.count("skipped") == 2


STARTED = """
import signal
import typer
from mobilevos.batch import run
from mobilevos.cli.batch import batch
from tests.batch.test_run import COMMAND
run.local_pool.__wrapped__.__defaults__ = (COMMAND,)
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it, and hand that on
typer.run(batch)
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows")
@pytest.mark.parametrize("stop", ["control-c", "term"])
def test_stopping_leaves_no_process(tmp_path: Path, stop: str) -> None:
    """Control-C reaches all processes of the terminal, a SIGTERM the batch alone."""
    (tmp_path / "jobs.csv").write_text("source,output\nslow,a\nslow,b\nslow,c\n")
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    command = [sys.executable, "-c", STARTED, str(tmp_path / "jobs.csv"), "-j", "2", "--retries", "5"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        pids = [tmp_path / name / "pid" for name in "ab"]
        while process.poll() is None and not all(path.exists() and path.read_text() for path in pids):
            time.sleep(0.05)
        if stop == "term":
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors == "Stopped. The same command goes on with what is not finished.\n"
    for path in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)
    assert not (tmp_path / "c").exists()


def test_a_bad_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run_command(batch, [str(tmp_path / "none.csv")], monkeypatch, capfd)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
