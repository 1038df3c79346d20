"""Curves from a run's CSV."""

from pathlib import Path

import pytest
from PIL import Image

from mobilevos.errors import InputError
from tools.curves import draw_curves, read_curve, smoothed

CSV = """iteration,loss,iou,minutes,validation
20,0.5,0.8,1.0,
40,0.4,0.9,2.0,
45,,,,0.75
60,0.3,0.95,3.0,
"""


def test_a_curve_is_read_with_its_validations(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text(CSV)
    curve = read_curve(tmp_path)
    assert curve.minutes == [1, 2, 3]
    assert curve.iou == [0.8, 0.9, 0.95]
    assert (curve.validated, curve.j_and_f) == ([2], [0.75])
    pytest.importorskip("matplotlib")
    draw_curves([curve], tmp_path / "pictures" / "curve.png")
    with Image.open(tmp_path / "pictures" / "curve.png") as picture:
        assert picture.size == (990, 374)


def test_every_curve_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: colours come round again."""
    axes = pytest.importorskip("matplotlib.axes").Axes
    drawn = []
    plot = axes.plot
    monkeypatch.setattr(axes, "plot", lambda self, *args, **style: drawn.append(style) or plot(self, *args, **style))
    (tmp_path / "curve.csv").write_text(CSV)
    draw_curves([read_curve(tmp_path)] * 9, tmp_path / "curve.png")
    assert len(drawn) == 18


def test_a_folder_without_a_curve_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"curve\.csv"):
        read_curve(tmp_path)


def test_smoothing_looks_back_only() -> None:
    assert smoothed([1, 2, 6], 2) == [1, 1.5, 4]
