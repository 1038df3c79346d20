"""The built app in the package is that of the source: the build's own digest, computed here again without Node.js."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mobilevos.app.files import FOLDER

ROOT = Path(__file__).parents[2]
MADE_BY_THE_BUILD = ("sw.js", "files.json")


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    if not (ROOT / "web" / "src").is_dir():
        pytest.skip("no source of the browser app beside the tests")
    path = FOLDER / "files.json"
    assert path.is_file(), "the browser app is not built into the package, or only as a draft: run `make web`"
    return json.loads(path.read_text())


def sources() -> list[Path]:
    """Everything the app is made from: its source, the tools and their versions, and the model."""
    web, package = ROOT / "web", ROOT / "src" / "mobilevos"
    names = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
    scripts = ("fingerprint.mjs", "pwa.mjs", "sample.py")
    made = {"model", *(path.name for path in (web / "public").glob("sample*.mp4"))}
    public = [path for path in (web / "public").iterdir() if path.name not in made]
    folders = [*public, web / "src", package / "export" / "templates" / "mobilenetv2-lite"]
    return [
        *(web / name for name in names),
        *(web / "scripts" / name for name in scripts),
        *(path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_file()),
        package / "weights" / "mobilenetv2-lite.safetensors",
    ]


def test_the_built_app_is_that_of_its_source(listed: dict[str, Any]) -> None:
    contents = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sources()}
    lines = [f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents)]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert listed["source"] == digest, (
        f"src/mobilevos/web was built from another state of web/ or of the weights: run `make web` and commit it "
        f"(built from {listed['source'][:12]}, the source is {digest[:12]})"
    )


def test_every_built_file_is_as_it_was_built(listed: dict[str, Any]) -> None:
    files = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.is_file()}
    found = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path.suffix != ".br" and name not in MADE_BY_THE_BUILD
    }
    assert found == listed["files"], "src/mobilevos/web was changed by hand or in part: run `make web` and commit it"
    assert {name.removesuffix(".br") for name in files if name.endswith(".br")} <= files.keys()


def test_the_app_has_the_shipped_weights(tmp_path: Path) -> None:
    """Not those of a `web/public/model` that was left from before."""
    pytest.importorskip("torch")
    from mobilevos.export.tflite import write_web_bundle
    from mobilevos.export.tflite_template import read_manifest, read_weights
    from mobilevos.model.checkpoint import load_checkpoint
    from mobilevos.model.student import Student
    from mobilevos.weights import find_checkpoint

    network = load_checkpoint(find_checkpoint("mobilenetv2-lite"))
    assert isinstance(network, Student)
    write_web_bundle(network, tmp_path)
    manifest = read_manifest(tmp_path)
    assert read_manifest(FOLDER / "model") == manifest, "run `make web` and commit it"
    for ours, theirs in zip(read_weights(tmp_path, manifest), read_weights(FOLDER / "model", manifest), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg="run `make web` and commit it")
