"""mobilevos batch"""

from pathlib import Path

import pytest

from mobilevos.batch import run
from mobilevos.cli.batch import batch
from tests.batch.test_run import COMMAND
from tests.cli.command import run_command


def test_the_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(run.local_pool, "__defaults__", (COMMAND,))
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


def test_a_bad_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run_command(batch, [str(tmp_path / "none.csv")], monkeypatch, capfd)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
