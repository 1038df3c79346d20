"""The parts of a step are the step: chained together they give its logits."""

import pytest
import torch
from torch.testing import assert_close

from mobilevos.benchmark.parts import benchmark_parts, parts_of
from mobilevos.model.checkpoint import build
from mobilevos.model.cost import multiply_adds
from mobilevos.model.memory import Memory
from mobilevos.model.student import Student


def network() -> Student:
    torch.manual_seed(0)
    built = build("mobilenetv2-lite")
    assert isinstance(built, Student)
    return built.eval()


@torch.no_grad()
def test_parts_together_are_the_step() -> None:
    net = network()
    parts = {name: part for name, (part, _) in parts_of(net, 48, 64).items()}
    frame = torch.randint(0, 256, (1, 3, 48, 64)).float()
    keys, values = torch.randn(1, 64, 2, 3, 4), torch.randn(1, 1, 64, 2, 3, 4)
    memory = Memory(keys, values, torch.tensor([0.0, 1.0]))
    features = net.encode(frame)
    key, value, s16, s8, s4 = parts["encode"](frame)
    logits = parts["decode"](parts["read"](key, keys, values), s16, s8, s4)
    assert_close(logits, net.predict(features, memory).logits)
    mask = torch.rand(1, 1, 12, 16)
    assert_close(parts["memorise"](value, mask), net.memorise(frame, features, mask, 1 - mask))


@pytest.mark.slow
def test_the_table_counts_what_the_step_costs() -> None:
    report = benchmark_parts(network(), height=48, width=64, repeats=1)
    rows = {row["part"]: row for row in report.rows}
    counts = multiply_adds(network(), 48, 64)
    assert list(rows)[:5] == ["encode", "read", "decode", "memorise", "output"]
    assert rows["total"]["multiply_adds_m"] == round(counts["total"] / 1e6)
    assert list(rows.values())[-1]["of_peak"] == 1
