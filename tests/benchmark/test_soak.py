"""The soaks find what is wrong, and say nothing where all is well."""

import random
from pathlib import Path

import numpy as np
import pytest

from mobilevos.benchmark import soak
from mobilevos.benchmark.soak import Job, benchmark_long, growth, make_job, recorded, run_job
from mobilevos.media.masks import read_mask, write_mask


def test_jobs_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    jobs = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        job = make_job(3, tmp_path / name, random.Random("0-3"))
        jobs.append((job.frames, job.kill_after, job.source.name, read_mask(tmp_path / name / "first.png").tobytes()))
    assert jobs[0] == jobs[1]


def test_a_run_that_says_nothing_is_counted_as_failed(tmp_path: Path) -> None:
    """A job whose source is not there: each of its runs fails in one line, without a traceback."""
    write_mask(tmp_path / "first.png", np.ones((8, 8), np.uint8))
    job = Job(0, tmp_path / "none.mp4", 5, ("--mask", str(tmp_path / "first.png")), (), None)
    told: list[str] = []
    assert run_job(job, tmp_path, "onnx", told.append) == {
        "killed": 0,
        "different": 1,
        "tracebacks": 0,
        "failed": 3,
        "left over": 0,
    }
    assert len(told) == 3
    assert all(line.startswith("job 0 ended with 2: mobilevos:") and "none.mp4" in line for line in told)


@pytest.mark.slow
def test_a_job_that_is_killed_and_corrected_keeps_everything(tmp_path: Path) -> None:
    job = make_job(0, tmp_path, random.Random("0-0"))
    job = Job(0, job.source, job.frames, job.marks, ("--gone", f"{job.frames - 2}=1"), 2)
    found = run_job(job, tmp_path, "onnx")
    assert found == {"killed": found["killed"], "different": 0, "tracebacks": 0, "failed": 0, "left over": 0}
    assert recorded(tmp_path / "steps") == -1  # finished: a new run has not begun
    masks = sorted((tmp_path / "steps" / "masks").glob("*.png"))
    masks[0].write_bytes(masks[-1].read_bytes())
    assert soak.contents(tmp_path / "steps") != soak.contents(tmp_path / "whole")


def test_growth() -> None:
    rows: list[dict[str, float | None]] = [
        {"resident_mb": value} for value in (900.0, 100, 100, 100, 102, 102, 104, 106)
    ]
    assert growth(rows) == 5
    assert growth([*rows, {"resident_mb": None}]) is None


def test_a_long_video_is_looked_at_all_along(monkeypatch: pytest.MonkeyPatch) -> None:
    report = benchmark_long("mobilenetv2-lite", frames=10, runtime="onnx", height=48, width=64)
    assert [row["frame"] for row in report.rows] == list(range(10))
