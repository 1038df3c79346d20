"""The batch on a Ray cluster of this machine: a worker is killed in the middle, a job fails, the rest is as ever."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.batch import Job, run_batch
from mobilevos.batch.ray_pool import ray_pool, run_there
from mobilevos.batch.run import local_pool
from mobilevos.errors import InputError
from mobilevos.media.video import VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.synthetic.clip import synthetic_clip

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(os.name == "nt", reason="there are no such signals on Windows"),
    pytest.mark.slow,
]

# `mobilevos segment` that leaves a note: the process that started it (a worker of Ray), its own, and how many earlier
# ones of the same job still run (where the system tells).
NOTED = """
import os, pathlib, sys
from mobilevos.cli import main
def runs(process):
    state = pathlib.Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"
with open(sys.argv[3] + ".processes", "a+") as notes:
    notes.seek(0)
    others = sum(runs(line.split()[1]) for line in notes)
    print(os.getppid(), os.getpid(), others, file=notes)
sys.argv = ["mobilevos", "segment", *sys.argv[1:]]
main()
"""
COMMAND = (sys.executable, "-c", NOTED)

# Stands for it where only its end matters: the source `slow` waits to be killed.
SLEEP = """
import json, os, pathlib, sys, time
output = pathlib.Path(sys.argv[3])
output.mkdir()
if sys.argv[1] == "slow":
    (output / "part").write_text(str(os.getppid()))
    (output / "part").rename(output / "parent")
    time.sleep(60)
said = {"complete": False, "frames": 5, "frames_per_second": 9.9, "alarms": []}
pathlib.Path(sys.argv[-1]).write_text(json.dumps(said))
"""
SLEEPY = (sys.executable, "-c", SLEEP)


def write_clip(folder: Path, frames: int, seed: int) -> tuple[str, ...]:
    """A video and the options that follow its two animals."""
    pictures, ids = synthetic_clip(frames=frames, height=96, width=160, objects=2, seed=seed)
    rate = Fraction(24)
    with VideoWriter(folder / f"{seed}.mp4", VideoInfo(160, 96, rate, 1 / rate, frames, frames / rate)) as writer:
        for index, picture in enumerate(pictures):
            writer.write(picture, index / rate)
    Image.fromarray(ids[0]).save(folder / f"{seed}.png")
    return "--mask", str(folder / f"{seed}.png"), "--size", "96", "--runtime", "onnx", "--format", "masks"


def processes(job: Job) -> list[list[int]]:
    """Of each try so far: the worker, the process, and how many of the earlier ones still ran."""
    return [list(map(int, line.split())) for line in Path(f"{job.output}.processes").read_text().splitlines()]


def masks(job: Job) -> dict[str, np.ndarray]:
    found = {}
    for path in sorted((job.output / "masks").glob("*.png")):
        with Image.open(path) as picture:
            found[path.name] = np.array(picture)
    return found


def test_a_killed_worker_a_failing_job_and_the_masks_of_a_plain_run(tmp_path: Path) -> None:
    long, short = write_clip(tmp_path, 60, 0), write_clip(tmp_path, 5, 1)

    def table(name: str) -> list[Job]:
        return [
            Job(1, str(tmp_path / "0.mp4"), tmp_path / name / "long", long),
            Job(2, str(tmp_path / "none.mp4"), tmp_path / name / "bad", short),
            Job(3, str(tmp_path / "1.mp4"), tmp_path / name / "short", short),
        ]

    jobs, plain = table("ray"), table("plain")
    for folder in ("ray", "plain"):
        (tmp_path / folder).mkdir()

    def kill_the_worker_in_the_middle() -> None:
        while len(list((jobs[0].output / "masks").glob("*.png"))) < 5:
            time.sleep(0.02)
        done_by_then.append(len(list((jobs[0].output / "masks").glob("*.png"))))
        os.kill(processes(jobs[0])[0][0], signal.SIGKILL)

    done_by_then: list[int] = []
    killer = threading.Thread(target=kill_the_worker_in_the_middle, daemon=True)
    killer.start()
    with ray_pool("local", 1, command=COMMAND) as submit:
        results = {result.job.number: result for result in run_batch(jobs, submit)}
    killer.join(timeout=60)

    assert done_by_then
    assert done_by_then[0] < 60, "it was killed in the middle"
    first, second = processes(jobs[0])
    assert first[0] != second[0]
    assert second[2] == 0, "the process of the killed worker went on beside the second try"
    assert [results[number].status for number in (1, 2, 3)] == ["done", "failed", "done"]
    assert "none.mp4" in results[2].message
    assert results[2].attempts == 1, "bad input is not tried again"

    with local_pool(2, 0) as submit:
        assert sorted(result.status for result in run_batch(plain, submit)) == ["done", "done", "failed"]
    for number, frames in ((0, 60), (2, 5)):
        ours, theirs = masks(jobs[number]), masks(plain[number])
        assert len(ours) == frames
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_a_worker_that_dies_too_often_is_one_failed_job(tmp_path: Path) -> None:
    victim, good = (Job(n, name, tmp_path / name, ()) for n, name in enumerate(("slow", "good"), start=1))

    def kill_the_worker() -> None:
        while not (victim.output / "parent").exists():
            time.sleep(0.05)
        os.kill(int((victim.output / "parent").read_text()), signal.SIGKILL)

    threading.Thread(target=kill_the_worker, daemon=True).start()
    with ray_pool("local", 0, command=SLEEPY) as submit:
        results = {result.job.source: result for result in run_batch([victim, good], submit)}
        assert (results["good"].status, results["slow"].status) == ("done", "failed")
        assert results["slow"].attempts == 1
        assert results["slow"].message


def test_another_version_is_refused(tmp_path: Path) -> None:
    job = Job(1, "good", tmp_path / "out", ())
    refused = run_there("0.0.1", job, 0, 1, COMMAND)
    assert (refused.status, refused.attempts) == ("failed", 0)
    assert refused.message.endswith("the batch was started with 0.0.1")
    assert not job.output.exists()


def test_a_cluster_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"cannot reach a Ray cluster at nowhere"), ray_pool("nowhere://1", 0):
        pass
