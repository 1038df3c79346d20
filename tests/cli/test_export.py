"""mobilevos export: what the files are called, and that a failure leaves none."""

import sys
from pathlib import Path
from typing import Any

import pytest

from mobilevos.cli.export import export
from mobilevos.errors import InputError
from mobilevos.export.step import Shape
from tests.cli.command import Ran, run_command
from tests.evaluation.reference_cases import cases, write_dataset


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """The command with exporters that write nothing but the shape."""

    def write(network: Any, path: Path, shape: Shape | None = None) -> None:
        path.write_text(str(shape))

    def write_package(network: Any, path: Path, shape: Shape) -> None:
        path.mkdir()
        (path / "shape").write_text(str(shape))

    def told(*arguments: str) -> Ran:
        command = ["mobilenetv2-lite", "-o", str(tmp_path / "out"), *arguments]
        return run_command(export, command, monkeypatch, capfd)

    monkeypatch.setattr("mobilevos.export.onnx.export_onnx", write)
    monkeypatch.setattr("mobilevos.export.tflite.export_tflite", write)
    monkeypatch.setattr("mobilevos.export.executorch.export_executorch", write)
    monkeypatch.setattr("mobilevos.export.coreml.export_coreml", write_package)
    return told


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["mobilenetv2-lite.onnx"]),
        (("--to", "tflite"), ["mobilenetv2-lite-864x480-1.tflite"]),
        (("--to", "tflite", "--queue", "2"), ["mobilenetv2-lite-864x480-1-queue2.tflite"]),
        (("--to", "executorch"), ["mobilenetv2-lite-864x480-1.pte"]),
        (
            ("--to", "coreml,executorch", "--frame", "160x128", "--objects", "2"),
            ["mobilenetv2-lite-160x128-2.mlpackage", "mobilenetv2-lite-160x128-2.pte"],
        ),
        (("--frame", "160x128"), ["mobilenetv2-lite-160x128.onnx"]),
        (
            ("--frame", "160x128", "--objects", "2", "--queue", "1", "--to", "onnx,tflite"),
            ["mobilenetv2-lite-160x128-2-queue1.onnx", "mobilenetv2-lite-160x128-2-queue1.tflite"],
        ),
        (
            ("--frame", "160x128", "--queue", "3", "--to", "tflite,onnx"),
            ["mobilenetv2-lite-160x128.onnx", "mobilenetv2-lite-160x128-1.tflite"],
        ),
    ],
)
def test_names_say_what_is_fixed(run: Any, tmp_path: Path, arguments: tuple[str, ...], names: list[str]) -> None:
    ran = run(*arguments)
    assert ran.code == 0
    assert ran.out.splitlines() == [str(tmp_path / "out" / name) for name in names]
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(names)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--objects", "1"), "--objects and --queue need --frame"),
        (("--queue", "2", "--to", "onnx,tflite"), "--objects and --queue need --frame"),
        (("--int8",), "expected --davis"),
        (("--frame", "160x128", "--objects", "2", "--int8", "--davis", "davis"), "calibrated on one object"),
        (("--to", "onnx,coreml", "--int8", "--davis", "davis"), "for onnx and tflite, not for coreml"),
        (("--to", "coreml,pdf"), "cannot export to 'pdf'; there are onnx, tflite, executorch, coreml"),
        (("--frame", "160x100"), "multiples of 16, got 160 x 100"),
    ],
)
def test_what_would_be_ignored_is_refused(run: Any, tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert sentence in ran.err
    assert not (tmp_path / "out").exists()


def test_a_failure_leaves_nothing(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise InputError("no luck")

    write_dataset(tmp_path / "davis", {"one": cases()["one"]})
    monkeypatch.setattr("mobilevos.export.quantise.quantise", fail)
    split = tmp_path / "davis" / "ImageSets" / "2017" / "val.txt"
    ran = run("--int8", "--davis", str(tmp_path / "davis"), "--split", str(split))
    assert (ran.code, ran.out, ran.err) == (2, "", "mobilevos: no luck\n")
    assert not (tmp_path / "out").exists()


def test_a_package_takes_the_place_of_the_one_before(run: Any, tmp_path: Path) -> None:
    """A Core ML package is a folder; nothing of the earlier one stays in it."""
    package = tmp_path / "out" / "mobilenetv2-lite-160x128-1.mlpackage"
    package.mkdir(parents=True)
    (package / "old").write_text("of before")
    ran = run("--to", "coreml", "--frame", "160x128")
    assert (ran.code, ran.out) == (0, f"{package}\n")
    assert [path.name for path in package.iterdir()] == ["shape"]
    assert [path.name for path in package.parent.iterdir()] == [package.name]


def test_a_file_in_place_of_the_folder(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ran = run()
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"{tmp_path / 'out'} is a file" in ran.err
    assert (tmp_path / "out").read_text() == "mine"


def test_tflite_needs_no_onnx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("onnx", "mobilevos.export.onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    arguments = ["mobilenetv2-lite", "-o", str(tmp_path), "--to", "tflite", "--frame", "96x64"]
    assert run_command(export, arguments, monkeypatch, capfd).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mobilenetv2-lite-96x64-1.tflite"]
