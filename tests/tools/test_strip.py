"""A smaller network out of a larger one."""

from pathlib import Path

import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, save_checkpoint
from tools.strip import strip


def test_what_is_left_is_the_same_network_without_its_aspp(tmp_path: Path) -> None:
    large = build("mobilenetv2")
    save_checkpoint(tmp_path / "large.safetensors", large, recipe={"bypass": 0.5}, notes={"j_and_f": 0.9})
    strip(tmp_path / "large.safetensors", tmp_path / "lite.safetensors")
    lite = load_checkpoint(tmp_path / "lite.safetensors")
    assert lite.variant == "mobilenetv2-lite"
    mine = large.state_dict()
    assert all(torch.equal(tensor, mine[name]) for name, tensor in lite.state_dict().items())


def test_a_network_that_never_went_around_it_is_refused(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "large.safetensors", build("mobilenetv2"), recipe={"bypass": 0.0})
    with pytest.raises(InputError, match="trained with bypass"):
        strip(tmp_path / "large.safetensors", tmp_path / "lite.safetensors")
