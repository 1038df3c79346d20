"""The fastest form of the shipped model: measured once for a machine, and kept; what cannot be kept is no error."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from mobilevos.errors import InputError
from mobilevos.runtime import fastest as module
from mobilevos.runtime.base import Runtime
from mobilevos.runtime.fastest import FORMS, Fastest, fastest, milliseconds
from mobilevos.runtime.onnx_runtime import OnnxRuntime
from mobilevos.weights import find_model


def timed(**times: float) -> object:
    """Measures as told, and counts how often it was asked."""

    def measure(runtimes: Mapping[str, Runtime]) -> dict[str, float]:
        measure.asked += 1  # type: ignore[attr-defined]
        return {name: times["int8" if "int8" in name else "float"] for name in runtimes}

    measure.asked = 0  # type: ignore[attr-defined]
    return measure


def chosen(kept: Path, measure: object) -> Fastest:
    return fastest("onnx", kept, measure)  # type: ignore[arg-type]


def test_it_is_measured_once(tmp_path: Path) -> None:
    measure = timed(int8=20, float=30)
    first, again = chosen(tmp_path / "a" / "kept.json", measure), chosen(tmp_path / "a" / "kept.json", measure)
    assert first.names == again.names == ("mobilenetv2-lite-int8", "onnx")
    assert (first.measured, again.measured, measure.asked) == (True, False, 1)  # type: ignore[attr-defined]
    assert str(first) == ("Measured once, ms a frame: mobilenetv2-lite-int8 on onnx 20, mobilenetv2-lite on onnx 30.")


def test_int8_only_where_it_is_faster(tmp_path: Path) -> None:
    assert chosen(tmp_path / "kept.json", timed(int8=60, float=30)).names == ("mobilenetv2-lite", "onnx")


def test_it_is_measured_again_where_something_else_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, kept = timed(int8=20, float=30), tmp_path / "kept.json"
    chosen(kept, measure)
    monkeypatch.setattr(module.importlib.metadata, "version", lambda package: "0")
    assert chosen(kept, measure).measured
    kept.write_text("{ half a file")
    assert chosen(kept, measure).measured
    assert measure.asked == 3  # type: ignore[attr-defined]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert chosen(tmp_path / "file" / "kept.json", timed(int8=20, float=30)).measured


def test_a_runtime_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runtime is called 'abacus'"):
        fastest("abacus", tmp_path / "kept.json")


def test_a_frame_is_really_computed() -> None:
    """All of them, and each takes some time."""
    files = [find_model(name).graph for name in FORMS]
    found = milliseconds({str(number): OnnxRuntime(file, 1) for number, file in enumerate(files) if file})
    assert found.keys() == {"0", "1"}
    assert all(value > 0 for value in found.values())
