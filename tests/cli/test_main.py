"""The command line as a user meets it: help at once, one line for mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest


def mobilevos(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mobilevos", *arguments], capture_output=True, text=True, cwd=cwd)


def test_help_needs_no_heavy_import() -> None:
    code = (
        "import sys; sys.argv = ['mobilevos', '--help']\n"
        "from mobilevos.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'onnxruntime', 'openvino', 'cv2', 'av', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


def test_the_product_needs_no_torch(tmp_path: Path) -> None:
    """Tracking, media and evaluation work where torch cannot be imported."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from mobilevos.runtime import load_runtime; from mobilevos.tracking import Tracker\n"
        "from mobilevos.demo import run_demo; from pathlib import Path\n"
        f"result = run_demo(Tracker(load_runtime('mobilenetv2-lite', 'onnx')), Path({str(tmp_path / 'out')!r}),"
        " frames=3, height=96, width=128, objects=2)\n"
        "print(result.j_and_f)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 0.5 < float(done.stdout) <= 1
    assert (tmp_path / "out" / "overlay.mp4").stat().st_size > 1000
    assert len(list((tmp_path / "out" / "masks").glob("*.png"))) == 3


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("train", "none.yaml"), "mobilevos: cannot read the recipe 'none.yaml': No such file or directory"),
        (("demo", "--model", "nonsense"), "mobilevos: 'nonsense' is neither a shipped model"),
        (("demo", "--runtime", "abacus"), "mobilevos: no runtime is called 'abacus'"),
        (("export", "nonsense", "-o", "out"), "mobilevos: 'nonsense' is neither a shipped model"),
        (("export", "mobilenetv2-lite", "-o", "out", "--frame", "big"), "mobilevos: expected a frame size such as"),
        (("export", "mobilenetv2-lite", "-o", "out", "--to", "zip"), "mobilevos: cannot export to 'zip'"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments: tuple[str, ...], line: str, tmp_path: Path) -> None:
    done = mobilevos(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith(line)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
