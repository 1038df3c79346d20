"""Models on the Hugging Face Hub, from a cache that lies in a folder here: nothing is downloaded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mobilevos import InputError, Tracker
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.weights import find_checkpoint, find_model
from mobilevos.weights import hub as hub_module
from mobilevos.weights.hub import fetched, read_repository, write_repository

pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`owner/name` in the cache of huggingface_hub, as a download leaves it: blobs, and links to them."""
    files = find_model("mobilenetv2-lite")
    write_repository(tmp_path / "upload", checkpoint=files.checkpoint, graph=files.graph, licence="CC BY-NC 4.0")
    root = tmp_path / "cache" / "models--owner--name"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(COMMIT)
    (root / "blobs").mkdir()
    snapshot = root / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for path in (tmp_path / "upload").iterdir():
        path.rename(root / "blobs" / f"blob-{path.name}")
        (snapshot / path.name).symlink_to(Path("../../blobs") / f"blob-{path.name}")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    fetched.cache_clear()
    yield snapshot
    fetched.cache_clear()
    for copies in hub_module._COPIES:
        copies.cleanup()
    hub_module._COPIES.clear()


@pytest.mark.parametrize("runtime", ["onnx", "torch", "openvino"])
def test_it_follows_like_the_shipped_one(cache: Path, runtime: str) -> None:
    pytest.importorskip({"onnx": "onnxruntime"}.get(runtime, runtime))
    frames, ids = synthetic_clip(frames=2, height=96, width=160, objects=2)
    masks = []
    for model in ("hf://owner/name", "mobilenetv2-lite"):
        tracker = Tracker.load(model, runtime, size=96)
        tracker.start(frames[0], ids[0])
        masks.append(tracker.step(frames[1]).mask)
    assert set(np.unique(masks[0])) == {0, 1, 2}
    assert np.array_equal(*masks)


def test_the_files(cache: Path) -> None:
    assert find_checkpoint("hf://owner/name").read_bytes() == find_checkpoint("mobilenetv2-lite").read_bytes()
    for revision in (COMMIT, "main"):
        graph = find_model(f"hf://owner/name@{revision}").graph
        assert graph is not None
        assert graph.read_bytes() == (cache / graph.name).read_bytes()
        assert not graph.is_symlink(), "runtimes refuse weights behind links"


def test_damage_is_noticed(cache: Path) -> None:
    graph = (cache / "mobilenetv2-lite.onnx").resolve()
    graph.write_bytes(graph.read_bytes()[:-1] + b"x")
    with pytest.raises(
        InputError, match=r"mobilenetv2-lite\.onnx of hf://owner/name is not what its config\.json says"
    ):
        find_model("hf://owner/name")


@pytest.mark.parametrize("address", ["hf://name", "hf://", "hf://a/b/c", "hf://a/b@", "hf:/a/b"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InputError, match="hf://"):
        find_model(address)


def test_what_is_not_there(cache: Path) -> None:
    with pytest.raises(InputError, match="cannot get hf://owner/other: "):
        find_model("hf://owner/other")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda config: config.pop("library_name"), "is no model of mobilevos"),
        (lambda config: (config.pop("graph"), config.pop("checkpoint")), "neither a checkpoint nor a graph"),
        (lambda config: config.update(graph="../x.onnx"), r"expected a file \*\.onnx as the graph"),
        (lambda config: config.update(graph="x.safetensors"), r"expected a file \*\.onnx as the graph"),
        (lambda config: config.update(graph="x.onnx"), r"has no x\.onnx"),
        (lambda config: config.pop("sha256"), "is not what its config.json says"),
    ],
)
def test_configurations_that_make_no_sense(tmp_path: Path, edit: Edit, message: str) -> None:
    (tmp_path / "a.onnx").write_bytes(b"graph")
    (tmp_path / "a.safetensors").write_bytes(b"weights")
    folder = tmp_path / "repository"
    write_repository(folder, graph=tmp_path / "a.onnx", checkpoint=tmp_path / "a.safetensors", licence="mine")
    assert read_repository(folder, "it") == {
        "checkpoint": folder / "a.safetensors",
        "graph": folder / "a.onnx",
    }
    config = json.loads((folder / "config.json").read_text())
    edit(config)
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=message):
        read_repository(folder, "it")


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a checkpoint, a graph or both"):
        write_repository(tmp_path, licence="mine")
    with pytest.raises(InputError, match=r"expected a config\.json in it"):
        read_repository(tmp_path, "it")


def test_without_it_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched.cache_clear()
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"hf://a/b needs huggingface_hub: pip install 'mobilevos\[hub\]'"):
        find_model("hf://a/b")
