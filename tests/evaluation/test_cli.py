"""mobilevos evaluate."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mobilevos.cli.evaluate import app
from mobilevos.errors import InputError
from mobilevos.tracking import Tracker
from tests.evaluation.reference_cases import cases, write_dataset
from tests.evaluation.test_prediction import Still
from tests.evaluation.youtube_case import PREDICTIONS, TRUTHS, write


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments), "--processes", "1"])


def complaint(*arguments: object) -> str:
    """What is wrong with the arguments."""
    result = run(*arguments)
    assert isinstance(result.exception, InputError)
    return str(result.exception)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """Models are trackers that stand still; the list has what they were loaded with."""
    loaded: list[tuple] = []

    def load(model: str, runtime: str, *, queue: int | None, size: int | None, window: str) -> Still:
        loaded.append((model, runtime, queue, size, window))
        return Still()

    monkeypatch.setattr(Tracker, "load", load)
    return loaded


def test_davis_predictions_with_every_output(tmp_path: Path) -> None:
    write_dataset(tmp_path, {"three": cases()["three"]}, without_pictures=["three"])
    out = {name: tmp_path / f"out.{name}" for name in ("json", "csv", "html", "zip")}
    result = run(
        *("davis", "--root", tmp_path, "--predictions", tmp_path / "predictions", "--submission", out["zip"]),
        *("--json", out["json"], "--csv", out["csv"], "--report", out["html"]),
    )
    assert result.exit_code == 0, result.exception
    figures = json.loads(out["json"].read_text())["figures"]
    assert f"{figures['J&F-Mean']:.3f}" in result.stdout
    assert "scoring: 10 of 10 frames" in result.stderr
    assert out["csv"].read_text().startswith("sequence,object")
    assert "three, frame" in out["html"].read_text()
    with zipfile.ZipFile(out["zip"]) as archive:
        assert archive.namelist() == [f"three/{time:05d}.png" for time in range(12)]


def test_youtube_predictions(youtube: Path, tmp_path: Path) -> None:
    write(tmp_path / "predictions", PREDICTIONS)
    (tmp_path / "seen.txt").write_text("dog\n")
    result = run(
        "youtube", "--root", youtube, "--predictions", tmp_path / "predictions", "--seen", tmp_path / "seen.txt"
    )
    assert result.exit_code == 0, result.exception
    assert "Unseen" in result.stdout


def test_a_model_saves_resumes_and_says_its_speed(youtube: Path, tmp_path: Path, still: list) -> None:
    arguments = ("youtube", "--root", youtube, "--model", "small", "--save", tmp_path / "out", "--queue", "unbounded")
    result = run(*arguments)
    assert result.exit_code == 0, result.exception
    assert still == [("small", "auto", None, 320, "auto")]
    assert "frames per second tracking" in result.stdout
    assert (tmp_path / "out" / "late" / "00015.png").is_file()
    assert "is not empty" in complaint(*arguments)
    result = run(*arguments, "--resume")
    assert result.exit_code == 0, result.exception
    assert "frames per second" not in result.stdout
    assert "cannot resume" in complaint(*arguments, "--resume", "--size", 240)


def test_a_changed_model_file_does_not_resume(youtube: Path, tmp_path: Path, still: list) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"one")
    arguments = ("youtube", "--root", youtube, "--model", model, "--save", tmp_path / "out", "--resume")
    assert run(*arguments).exit_code == 0
    model.write_bytes(b"two")
    assert "cannot resume" in complaint(*arguments)


def test_hidden_ground_truth_gives_a_submission(youtube: Path, tmp_path: Path, still: list) -> None:
    for name in TRUTHS:
        if name not in ("late/00000", "late/00005", "plain/00010"):
            (youtube / "Annotations" / f"{name}.png").unlink()
    arguments = ("youtube", "--root", youtube, "--model", "small")
    assert "hidden" in complaint(*arguments)
    assert "hidden" in complaint(*arguments, "--save", tmp_path / "out", "--json", tmp_path / "out.json")
    assert not still
    result = run(*arguments, "--submission", tmp_path / "out.zip")
    assert result.exit_code == 0, result.exception
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert "Annotations/late/00015.png" in archive.namelist()


def test_a_file_in_the_way_of_the_predictions(youtube: Path, tmp_path: Path, still: list) -> None:
    (tmp_path / "file.yaml").write_text("mine")
    arguments = ("youtube", "--root", youtube, "--model", "small", "--save", tmp_path / "file.yaml" / "x")
    assert complaint(*arguments).startswith(f"cannot make the folder {tmp_path / 'file.yaml' / 'x'}: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of --model and --predictions"),
        (("--model", "a", "--predictions", "b"), "one of --model and --predictions"),
        (("--predictions", "b", "--save", "c"), "go with --model"),
        (("--model", "a", "--resume"), "--resume needs"),
        (("--model", "a", "--json", "nowhere/out.json"), "there is no folder nowhere"),
        (("--model", "a"), "expected a DAVIS folder"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert message in complaint("davis", "--root", tmp_path, *arguments)
