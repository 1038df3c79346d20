"""The benchmark of the window: the rows that are promised, from the runtime that is really run."""

import pytest

from mobilevos.benchmark.window import benchmark_window


def test_sizes_with_and_without_a_window_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mobilevos.benchmark.window.WARM_UP", 1)
    said: list[str] = []
    report = benchmark_window(
        "mobilenetv2-lite", runtime="onnx", sizes=((96, 160), (192, 320)), frames=2, progress=said.append
    )
    assert [(row["size"], row["window"]) for row in report.rows] == [
        ("160 x 96", "off"),
        ("160 x 96", "auto"),
        ("320 x 192", "off"),
        ("320 x 192", "auto"),
    ]
    for row in report.rows:
        assert 0 < row["network_ms"] < 1.5 * row["frame_ms"]
        assert row["against_off"] == 1.0 or row["window"] == "auto"
    assert any("cutting a window out" in line for line in said)
