"""Jobs in processes of their own: one that crashes is tried again, none harms another, and all can be resumed."""

import importlib.util
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from mobilevos.batch import Job, JobResult, run_batch
from mobilevos.batch.ray_pool import ray_pool
from mobilevos.batch.run import local_pool, run_job
from mobilevos.errors import InputError

# Stands for `mobilevos segment`: does what the name of its source says.
SEGMENT = """
import json, os, pathlib, signal, sys, time
source, output = pathlib.Path(sys.argv[1]).name, pathlib.Path(sys.argv[3])
tries = output / "tries"
output.mkdir(parents=True, exist_ok=True)
count = int(tries.read_text()) + 1 if tries.exists() else 1
tries.write_text(str(count))
if source == "bad":
    print("a warning", file=sys.stderr)
    print("mobilevos: no such file: bad", file=sys.stderr)
    sys.exit(2)
if source == "slow":
    (output / "pid").write_text(str(os.getpid()))
    time.sleep(60)
there = (output / "masks").exists()
said = {"complete": there, "frames": 5, "frames_per_second": 9.9, "alarms": []}
if there:
    pathlib.Path(sys.argv[-1]).write_text(json.dumps(said))
    sys.exit()
if source == "crash" or (source == "once" and count == 1):
    os.kill(os.getpid(), signal.SIGKILL)
(output / "masks").mkdir()
(output / "masks" / "0.png").touch()
pathlib.Path(sys.argv[-1]).write_text(json.dumps(said))
"""
COMMAND = (sys.executable, "-c", SEGMENT)


def job(folder: Path, name: str, number: int = 1) -> Job:
    return Job(number, name, folder / f"{number} {name}", ())


def tries(done: Job) -> int:
    return int((done.output / "tries").read_text())


def test_a_job_that_works_is_skipped_the_next_time(tmp_path: Path) -> None:
    good = job(tmp_path, "good")
    result = run_job(good, command=COMMAND)
    assert (result.status, result.attempts, result.message) == (
        "done",
        1,
        "5 frames, 9.9 a second",
    )
    assert run_job(good, command=COMMAND).status == "skipped"


def test_a_crash_is_tried_again_and_bad_input_is_not(tmp_path: Path) -> None:
    once, crash, bad = (job(tmp_path, name) for name in ("once", "crash", "bad"))
    assert (run_job(once, command=COMMAND).status, tries(once)) == ("done", 2)
    failed = run_job(crash, retries=2, command=COMMAND)
    assert (failed.status, failed.attempts, tries(crash)) == ("failed", 3, 3)
    assert failed.message == "the process was ended by SIGKILL"
    refused = run_job(bad, retries=2, command=COMMAND)
    assert (refused.status, refused.attempts, refused.message) == ("failed", 1, "no such file: bad")


def in_order(results: list[JobResult]) -> list[str]:
    return [result.status for result in sorted(results, key=lambda result: result.job.number)]


def test_many_at_once(tmp_path: Path) -> None:
    names = ["good", "bad", "once", "crash", "good"]
    jobs = [job(tmp_path, name, number) for number, name in enumerate(names, start=1)]
    with local_pool(2, 1, COMMAND) as submit:
        assert in_order(list(run_batch(jobs, submit))) == ["done", "failed", "done", "failed", "done"]
    with local_pool(5, 0, COMMAND) as submit:
        assert in_order(list(run_batch(jobs, submit))) == ["skipped", "failed", "skipped", "failed", "skipped"]
    with pytest.raises(InputError, match="at least 1 job"), local_pool(0, 0):
        pass


def test_an_error_ends_what_runs(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "slow", number) for number in range(1, 5)]

    def stop_when_it_runs() -> None:
        with local_pool(2, 3, COMMAND) as submit:
            futures.extend(submit(each) for each in jobs)
            while not all((each.output / "pid").exists() for each in jobs[:2]):
                time.sleep(0.05)
            raise KeyboardInterrupt

    futures: list[Future[JobResult]] = []
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        stop_when_it_runs()
    assert time.monotonic() - began < 30
    assert [future.cancelled() for future in futures] == [False, False, True, True]
    assert [(future.result().status, future.result().attempts) for future in futures[:2]] == [("failed", 1)] * 2


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_on_a_local_ray_cluster(tmp_path: Path) -> None:
    jobs = [job(tmp_path, name, number) for number, name in enumerate(["good", "bad", "once"], start=1)]
    with ray_pool("local", 1, command=COMMAND) as submit:
        assert in_order(list(run_batch(jobs, submit))) == ["done", "failed", "done"]


def test_without_ray_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="--ray needs Ray"), ray_pool("local", 1):
        pass
