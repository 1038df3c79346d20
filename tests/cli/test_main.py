"""The command line as a user meets it: help at once, one line for mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from mobilevos.cli import EXTRAS
from mobilevos.version import VERSION


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


def test_it_says_its_version() -> None:
    done = mobilevos("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mobilevos {VERSION}\n", "")


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
        (("export", "mobilenetv2-lite", "-o", "out", "--frame", "²x2"), "mobilevos: expected a frame size such as"),
        (
            ("export", "mobilenetv2-lite", "-o", "out", "--frame", "0x0"),
            "mobilevos: expected a frame size in multiples",
        ),
        (("export", "mobilenetv2-lite", "-o", "out", "--to", "zip"), "mobilevos: cannot export to 'zip'"),
        (("benchmark", "speed", "--json", "."), "mobilevos: expected a file to write, got the folder ."),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments: tuple[str, ...], line: str, tmp_path: Path) -> None:
    done = mobilevos(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith(line)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


BASE = (
    "import sys\n"
    "from mobilevos.cli import EXTRAS, main\n"
    "sys.modules.update(dict.fromkeys(EXTRAS))\n"
    "sys.argv = ['mobilevos', *sys.argv[1:]]\n"
    "main()"
)
"""The command line of the base install, which has none of the optional packages."""


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (("export", "mobilenetv2-lite", "-o", "out"), "onnx", "export"),
        (("export", "mobilenetv2-lite", "-o", "out", "--to", "tflite"), "torch", "train"),
        (("train", "recipe.yaml"), "torch", "train"),
        (("soup", "a.safetensors", "-o", "soup.safetensors", "--recipe", "recipe.yaml"), "torch", "train"),
        (("reproduce", "table1"), "torch", "train"),
        (("import-stcn", "stcn.pth"), "torch", "train"),
        (("benchmark", "parts"), "torch", "train"),
        (("benchmark", "training", "recipe.yaml"), "torch", "train"),
        (("benchmark", "queue", "--davis", "davis", "--clip", "clip"), "torch", "train"),
        (("benchmark", "speed", "--picture", "speed.png"), "matplotlib", "benchmark"),
    ],
)
def test_what_the_base_install_lacks_is_named(
    arguments: tuple[str, ...], package: str, extra: str, tmp_path: Path
) -> None:
    done = subprocess.run([sys.executable, "-c", BASE, *arguments], capture_output=True, text=True, cwd=tmp_path)
    line = f"mobilevos: this needs {package}, which is not installed: pip install 'mobilevos[{extra}]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert list(tmp_path.iterdir()) == []


def test_every_extra_is_one_of_the_project() -> None:
    known = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    for extra in EXTRAS.values():
        assert f"\n{extra} = [" in known, extra
