"""Checkpoints say what they are; wrong ones are told in a sentence."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint, save_checkpoint


def test_round_trip(tmp_path: Path) -> None:
    network = build("mobilenetv2-lite", locality=False)
    path = tmp_path / "new folder" / "weights.safetensors"
    save_checkpoint(path, network, recipe={"name": "x"}, notes={"j_and_f": 0.5})
    loaded = load_checkpoint(path)
    assert loaded.read.sharpness is None
    for name, tensor in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)
    metadata, _ = read_checkpoint(path)
    assert metadata["variant"] == "mobilenetv2-lite"
    assert "0.5" in metadata["notes"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_half_precision_halves_the_file(tmp_path: Path) -> None:
    network = build("mobilenetv2-lite")
    save_checkpoint(tmp_path / "full", network)
    save_checkpoint(tmp_path / "half", network, half=True)
    assert (tmp_path / "half").stat().st_size < 0.55 * (tmp_path / "full").stat().st_size
    weight = load_checkpoint(tmp_path / "half").key.weight  # type: ignore[union-attr]
    torch.testing.assert_close(weight, network.key.weight, rtol=1e-3, atol=1e-4)  # type: ignore[union-attr]


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no checkpoint"):
        load_checkpoint(tmp_path / "none")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InputError, match="damaged or not a safetensors"):
        load_checkpoint(tmp_path / "text")
    save_checkpoint(tmp_path / "whole", build("mobilenetv2-lite"))
    content = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="damaged"):
        load_checkpoint(tmp_path / "cut")
    save_file({"a": torch.zeros(1)}, tmp_path / "foreign")
    with pytest.raises(InputError, match="not one of mobilevos"):
        load_checkpoint(tmp_path / "foreign")
    save_file({"a": torch.zeros(1)}, tmp_path / "other", {"format": "mobilevos", "variant": "mobilenetv2-lite"})
    with pytest.raises(InputError, match="does not fit"):
        load_checkpoint(tmp_path / "other")
    with pytest.raises(InputError, match="no variant is called 'vgg'"):
        build("vgg")
