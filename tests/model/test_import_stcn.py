"""The authors' STCN in our teacher: the same numbers come out."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
import typer
from torch import Tensor
from typer.testing import CliRunner

from mobilevos.cli.import_stcn import import_stcn as command
from mobilevos.errors import InputError
from mobilevos.model.aggregation import aggregate
from mobilevos.model.checkpoint import load_checkpoint
from mobilevos.model.import_stcn import import_stcn, renamed
from mobilevos.model.teacher import STCN
from tests.builders.stcn import stcn_state
from tests.model.stcn_reference import EVERY, ours

REFERENCE = json.loads((Path(__file__).parent / "stcn_reference.json").read_text())
"""Logits of the authors' code; `stcn_reference.py` says how they were made."""


@pytest.fixture(scope="module")
def state() -> dict[str, Tensor]:
    return stcn_state()


@pytest.fixture(scope="module")
def file(state: dict[str, Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("authors") / "stcn.pth"
    torch.save(state, path)
    return path


def test_the_logits_are_those_of_the_authors_code(file: Path) -> None:
    """Five frames, two objects, each frame from all before it."""
    expected = torch.tensor(REFERENCE["logits"]).view(REFERENCE["shape"])
    assert expected.shape == (4, 3, 4, 6)
    assert expected.std() > 0.1
    torch.testing.assert_close(ours(file)[..., 5::EVERY, 5::EVERY], expected, rtol=0, atol=1e-4)


def test_every_number_has_a_place(state: dict[str, Tensor]) -> None:
    own = {name: tensor.shape for name, tensor in STCN(stride_in_1x1=False).state_dict().items()}
    assert {name: tensor.shape for name, tensor in renamed(state).items()} == own


def test_the_command_writes_a_checkpoint(file: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(command)
    target = tmp_path / "teacher.safetensors"
    done = CliRunner().invoke(app, [str(file), "-o", str(target), "--top-k", "20"])
    assert done.exit_code == 0, done.output
    assert "54.4 M parameters" in done.output
    network = load_checkpoint(target)
    assert isinstance(network, STCN)
    assert (network.stride_in_1x1, network.top_k) == (False, 20)
    torch.testing.assert_close(network.state_dict(), import_stcn(file).state_dict())


def test_files_that_are_none_of_theirs_are_named(state: dict[str, Tensor], tmp_path: Path) -> None:
    path = tmp_path / "file.pth"
    with pytest.raises(InputError, match="cannot read"):
        import_stcn(path)
    path.write_text("no weights")
    with pytest.raises(InputError, match="is not a file of PyTorch weights"):
        import_stcn(path)
    small = {name: tensor for name, tensor in state.items() if tensor.numel() < 5000}
    for content, message in (
        ([1, 2], "expected a state dict"),
        ({"network": small}, "is missing"),
    ):
        torch.save(content, path)
        with pytest.raises(InputError, match=message):
            import_stcn(path)


def test_weights_of_other_networks_are_named(state: dict[str, Tensor], tmp_path: Path) -> None:
    path, first = tmp_path / "file.pth", "value_encoder.conv1.weight"
    for changed, message in (
        ({"decoder.extra.weight": torch.zeros(1)}, "'decoder.extra.weight' is not part of it"),
        ({first: state[first][:, :4]}, "of STCN's stage on static images"),
        ({"decoder.pred.weight": torch.zeros(2, 256, 3, 3)}, r"'logits.weight' is \(2, 256, 3, 3\), expected \(1, 256"),
    ):
        torch.save({"network": {**state, **changed}, "it": 1}, path)
        with pytest.raises(InputError, match=message):
            import_stcn(path)


def test_objects_compete_at_full_size() -> None:
    """As the authors' `aggregate` has it: enlarged one by one, then odds against the background and each other."""
    torch.manual_seed(0)
    logits = 3 * torch.randn(1, 2, 4, 6)
    p = F.interpolate(logits, scale_factor=4, mode="bilinear", align_corners=False).sigmoid()
    every = torch.cat([(1 - p).prod(1, keepdim=True), p], 1)
    odds = every / (1 - every)
    expected = (odds / odds.sum(1, keepdim=True))[:, 1:]
    torch.testing.assert_close(STCN.own_masks(None, aggregate(logits)), expected)  # type: ignore[arg-type]
