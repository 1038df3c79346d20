"""Benchmarks run and say what they measured; how fast is no matter here."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from mobilevos.benchmark import benchmark_queue, benchmark_speed, time_tracking
from mobilevos.benchmark.measure import random_mask
from mobilevos.benchmark.picture import draw
from mobilevos.benchmark.tables import benchmark_memory, benchmark_runtimes
from mobilevos.cli.benchmark import _finish, app
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, save_checkpoint
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.tracking import Tracker

SIZE = {"height": 48, "width": 64}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "lite.safetensors"
    torch.manual_seed(0)
    save_checkpoint(path, build("mobilenetv2-lite"))
    return str(path)


def test_every_frame_is_timed(model: str) -> None:
    timing = time_tracking(Tracker(TorchRuntime(model)), frames=5, objects=2, **SIZE)
    assert timing.frames == 5
    assert 0 < timing.fastest <= timing.median
    assert timing.fps == pytest.approx(5 / timing.total)
    assert timing.best_fps >= timing.fps


def test_objects_are_all_there() -> None:
    assert set(random_mask(48, 64, 10).flatten().tolist()) == set(range(11))


def test_reports(model: str, tmp_path: Path) -> None:
    speed = benchmark_speed([model], lengths=(2, 4), teacher_lengths=(2,), runtimes=("torch",), **SIZE)
    assert [(Path(row["model"]).stem, row["frames"]) for row in speed.rows] == [("lite", 2), ("lite", 4), ("stcn", 2)]
    queue = benchmark_queue(model, queues=(1, 3), frames=2, runtime="torch", score=lambda tracker: 0.5, **SIZE)
    assert [(row["queue"], row["j_and_f"]) for row in queue.rows] == [(1, 0.5), (3, 0.5)]
    memory = benchmark_memory(model, frames=4, runtime="torch", **SIZE)
    assert [row["frame"] for row in memory.rows] == [0, 1, 2, 3, 4]
    assert all(row["resident_mb"] > 10 for row in memory.rows)
    queue.write(tmp_path / "queue.json")
    written = json.loads((tmp_path / "queue.json").read_text())
    assert written["rows"] == queue.rows
    assert "key encoder" in written["includes"]
    assert written["machine"]["cores"] >= 1


def test_without_torch_the_teacher_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mobilevos.benchmark.tables.is_installed", lambda name: name != "torch")
    lines: list[str] = []
    report = benchmark_speed(
        ["mobilenetv2-lite"], lengths=(1,), teacher_lengths=(1,), runtimes=("onnx",), progress=lines.append, **SIZE
    )
    assert [row["model"] for row in report.rows] == ["mobilenetv2-lite"]
    assert lines[0] == "stcn is left out: it needs torch, which is not installed"


def test_memory_is_unknown_where_no_system_tells(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on Windows, which has neither /proc nor the module resource."""
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr("mobilevos.benchmark.tables.STATUS", tmp_path / "none")
    report = benchmark_memory(model, frames=1, runtime="torch", **SIZE)
    assert report.rows == [{"frame": 0, "resident_mb": None}, {"frame": 1, "resident_mb": None}]
    _finish(report, None, None)
    assert capfd.readouterr().out.count("unknown") == 2
    if importlib.util.find_spec("matplotlib"):
        draw(report, tmp_path / "memory.png")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("speed", "--json", "file/speed.json"), "file is a file"),
        (("runtimes", "--json", "folder"), "expected a file to write, got the folder folder"),
        (("memory", "--picture", "file/memory.png"), "file is a file"),
        (("queue", "--picture", "queue.xyz"), "ends in .png or .svg, got queue.xyz"),
        (("speed", "--frames", "0"), "Invalid value for '--frames'"),
    ],
)
def test_what_cannot_be_written_is_said_before_measuring(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "queue.xyz" in arguments:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mobilevos.benchmark.tables.load_runtime", None)
    Path("file").write_text("")
    Path("folder").mkdir()
    result = CliRunner().invoke(app, list(arguments))
    assert sentence in (str(result.exception) if isinstance(result.exception, InputError) else result.output)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}


def test_what_was_measured_is_kept_when_a_length_fails(model: str, tmp_path: Path) -> None:
    def score(tracker: Tracker) -> float:
        if tracker.queue == 3:
            raise KeyboardInterrupt
        return 0.5

    path = tmp_path / "queue.json"
    with pytest.raises(KeyboardInterrupt):
        benchmark_queue(
            model, queues=(1, 3), frames=2, runtime="torch", score=score, keep=lambda report: report.write(path), **SIZE
        )
    assert [row["queue"] for row in json.loads(path.read_text())["rows"]] == [1]


def test_runtimes_that_can_run_the_model(model: str) -> None:
    report = benchmark_runtimes(model, threads=(1,), objects=(1, 2), frames=2, **SIZE)
    assert [(row["runtime"], row["objects"]) for row in report.rows] == [("torch", 1), ("torch", 2)]
