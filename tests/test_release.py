"""A release: one version, bounds that were tried, and a package that works in an empty environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import mobilevos
from tests.test_layers import TORCH

yaml = pytest.importorskip("yaml")

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OPTIONAL = {"runtime.openvino_runtime", "runtime.litert_runtime"}
"""Modules that need an extra as soon as they are imported, beside those that need torch."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version() -> None:
    """It stands in pyproject.toml; what has a copy has the same."""
    version = PROJECT["version"]
    assert mobilevos.__version__ == version, "install the package anew"
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    assert json.loads(read("web/package.json"))["version"] == version
    lock = json.loads(read("web/package-lock.json"))
    assert (lock["version"], lock["packages"][""]["version"]) == (version, version)
    newest = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", read("CHANGELOG.md"), re.M)
    assert newest
    assert newest[1] == version


def test_the_oldest_are_the_lower_bounds() -> None:
    lines = [line for line in read("constraints/oldest.txt").splitlines() if not line.startswith("#")]
    assert lines == [text.replace(">=", "==") for text in PROJECT["dependencies"]]


APART = {"tflite", "executorch"}
"""Extras that have environments of their own."""


def test_ci_has_a_version_for_all_that_is_asked_for() -> None:
    pinned = {}
    for line in read("constraints/ci.txt").splitlines():
        if not line.startswith("#"):
            requirement = Requirement(line)
            (exact,) = requirement.specifier
            assert exact.operator == "=="
            pinned[requirement.name] = exact.version
    extras = PROJECT["optional-dependencies"]
    asked = [text for name, texts in extras.items() if name not in APART for text in texts]
    for text in (*PROJECT["dependencies"], *asked):
        wanted = Requirement(text)
        name = wanted.name.lower().replace("_", "-")
        assert name == "mobilevos" or wanted.specifier.contains(pinned[name]), text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_what_is_there(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    assert jobs
    for job in jobs.values():
        commands = "\n".join(step["run"] for step in job["steps"] if "run" in step)
        for target in re.findall(r"^make (\S+)", commands, re.M):
            assert re.search(rf"^{target}:", read("Makefile"), re.M), f"no target {target}"
        for name in re.findall(r"(?:tests|constraints)/[\w./]+", commands):
            assert (ROOT / name).exists(), name
        for names in re.findall(r"\.\[([\w,]+)\]", commands):
            assert set(names.split(",")) <= PROJECT["optional-dependencies"].keys()
        for script in re.findall(r"npm --prefix web (?:run )?([\w:]+)", commands):
            assert script == "ci" or script in json.loads(read("web/package.json"))["scripts"]


def test_every_python_that_is_promised_is_tried() -> None:
    ci = yaml.safe_load(read(".github/workflows/ci.yml"))
    tried = ci["jobs"]["base"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={tried[0]}"
    assert [f"Programming Language :: Python :: {version}" for version in tried] == [
        line for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)
    ]


def test_the_image_has_what_it_copies() -> None:
    """Nothing here can build it; this much can be said."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", read("Dockerfile"), re.M)
    names = {name for line in copied for name in line.split()}
    assert names == {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in names)


def test_hooks_are_well_formed() -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    assert subprocess.run(command, check=False).returncode == 0


IMPORT_ALL = """
import importlib, json, pkgutil, sys, mobilevos
failed = {}
for module in pkgutil.walk_packages(mobilevos.__path__, "mobilevos.", onerror=lambda name: None):
    if module.name == "mobilevos.__main__":
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        failed[module.name.removeprefix("mobilevos.")] = error.name
print(json.dumps({"failed": failed, "torch": "torch" in sys.modules}))
"""


def built(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    about = f"mobilevos-{PROJECT['version']}.dist-info"
    assert {name.split("/")[0] for name in inside} == {"mobilevos", about}
    tracked = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()}
    assert {name for name in inside if not name.startswith(about)} == {
        name for name in tracked if "__pycache__" not in name
    }
    assert {f"{about}/licenses/{name}" for name in PROJECT["license-files"]} <= inside
    with tarfile.open(sdist) as archive:
        folders = {name.split("/")[1] for name in archive.getnames() if "/" in name}
        ours = [name for name in archive.getnames() if "node_modules" in name or "/web/public/model" in name]
    assert {"src", "tests", "web", "recipes", "CHANGELOG.md"} <= folders
    assert not {".venv", "runs", "out", "dist", ".git"} & folders
    assert not ours


@pytest.mark.slow
def test_the_package_works_in_an_empty_environment(tmp_path: Path) -> None:
    pytest.importorskip("build", reason="build is not installed")
    sdist, wheel = built(tmp_path / "dist")
    check_contents(sdist, wheel)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "empty")], check=True)
    scripts = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        words = [str(scripts / command[0]), *command[1:]]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    pip = ("python", "-m", "pip", "--disable-pip-version-check")
    if run(*pip, "download", "--quiet", "--no-deps", "--dest", "any", PROJECT["dependencies"][0]).returncode:
        pytest.skip("no package index can be reached")
    installed = run(*pip, "install", "--quiet", str(wheel))
    assert installed.returncode == 0, installed.stderr
    names = {entry["name"] for entry in json.loads(run(*pip, "list", "--format", "json").stdout)}
    assert "mobilevos" in names
    assert not {"torch", "onnx", "openvino"} & names

    imports = json.loads(run("python", "-c", IMPORT_ALL).stdout)
    missing = {name for name in imports["failed"] if not {name, name.partition(".")[0]} & (TORCH | OPTIONAL)}
    assert not missing, {name: imports["failed"][name] for name in missing}
    assert not imports["torch"]

    demo = run("mobilevos", "demo", "--output", "demo", "--frames", "3", "--size", "96")
    assert demo.returncode == 0, demo.stderr
    assert re.search(r"J&F 0\.[89]", demo.stdout + demo.stderr)
    assert len(list((tmp_path / "demo" / "masks").glob("*.png"))) == 3
    refused = run("mobilevos", "train", "none.yaml")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
