"""bfloat16 only where the processor has it: imitated, a step takes many times as long."""

import dataclasses
from pathlib import Path

import pytest
import torch

from mobilevos.training import arithmetic
from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.recipe import Recipe


def seen_dtype(trainer: Trainer) -> torch.dtype:
    """In what the key encoder's last layer multiplies during a step."""
    seen = []
    trainer.network.key.register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))  # type: ignore[union-attr,operator]
    trainer.step(next(trainer.batches(trainer.recipe.phases[0])), 1e-4)
    return seen[0]


@pytest.mark.parametrize(("has", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_bfloat16_where_there_is_one(
    tiny_recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    has: bool,
    dtype: torch.dtype,
) -> None:
    monkeypatch.setattr(arithmetic, "has_bfloat16", lambda device: has)
    recipe = dataclasses.replace(tiny_recipe, precision="bfloat16")
    assert seen_dtype(Trainer(recipe, tmp_path, Processes(), True)) == dtype
    line = "" if has else "this processor has no bfloat16: training in float32 instead\n"
    assert capfd.readouterr().err == line


def test_other_precisions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "has_bfloat16", lambda device: False)
    cpu = torch.device("cpu")
    assert [arithmetic.usable_precision(each, cpu) for each in ("float32", "float16")] == ["float32", "float16"]


def test_the_processor_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    for answer in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda answer=answer: answer)
        assert arithmetic.has_bfloat16(torch.device("cpu")) is answer
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert isinstance(arithmetic.has_bfloat16(torch.device("cpu")), bool)
