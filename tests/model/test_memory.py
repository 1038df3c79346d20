"""The memory read against loops written from the formula."""

import math

import pytest
import torch

from mobilevos.model.memory import Memory, MemoryRead


def naive_read(query: torch.Tensor, memory: Memory, sharpness: float | None, top_k: int | None = None) -> torch.Tensor:
    """The paper's read-out (and our position term), position by position."""
    _, channels, slots, h, w = memory.keys.shape
    objects, width = memory.values.shape[1:3]
    out = torch.zeros(1, objects, width, h, w)
    for y in range(h):
        for x in range(w):
            scores, values = [], []
            for t in range(slots):
                for v in range(h):
                    for u in range(w):
                        difference = query[0, :, y, x] - memory.keys[0, :, t, v, u]
                        score = -float((difference**2).sum()) / math.sqrt(channels)
                        if sharpness is not None:
                            score -= sharpness * float(memory.nearness[t]) * ((y - v) ** 2 + (x - u) ** 2)
                        scores.append(score)
                        values.append(memory.values[0, :, :, t, v, u])
            chosen = sorted(range(len(scores)), key=lambda i: -scores[i])[:top_k]
            highest = max(scores)
            weights = {i: math.exp(scores[i] - highest) for i in chosen}
            total = sum(weights.values())
            for i in chosen:
                out[0, :, :, y, x] += weights[i] / total * values[i]
    return out


@pytest.fixture
def memory() -> Memory:
    torch.manual_seed(0)
    return Memory(torch.randn(1, 8, 3, 3, 4), torch.randn(1, 2, 5, 3, 3, 4), torch.tensor([0.0, 1.0, 0.25]))


@pytest.mark.parametrize("top_k", [None, 4, 1000])
def test_read_is_the_papers_formula(memory: Memory, top_k: int | None) -> None:
    query = torch.randn(1, 8, 3, 4)
    read = MemoryRead(locality=False)(query, memory, top_k)
    torch.testing.assert_close(read, naive_read(query, memory, None, top_k), rtol=1e-5, atol=1e-5)


def test_positions_count_for_recent_slots(memory: Memory) -> None:
    query = torch.randn(1, 8, 3, 4)
    module = MemoryRead(locality=True, spread=1.5)
    assert module.sharpness is not None
    sharpness = float(module.sharpness.detach().exp())
    assert sharpness == pytest.approx(1 / (2 * 1.5**2))
    read = module(query, memory)
    torch.testing.assert_close(read, naive_read(query, memory, sharpness), rtol=1e-5, atol=1e-5)
    plain = MemoryRead(locality=False)(query, memory)
    assert not torch.allclose(read, plain, atol=1e-3)


def test_without_nearness_the_position_term_vanishes(memory: Memory) -> None:
    query = torch.randn(1, 8, 3, 4)
    still = Memory(memory.keys, memory.values, torch.zeros(3))
    torch.testing.assert_close(MemoryRead(True)(query, still), MemoryRead(False)(query, still))


def test_a_batch_is_its_parts(memory: Memory) -> None:
    torch.manual_seed(1)
    query, keys, values = torch.randn(2, 8, 3, 4), torch.randn(2, 8, 3, 3, 4), torch.randn(2, 2, 5, 3, 3, 4)
    module = MemoryRead()
    both = module(query, Memory(keys, values, memory.nearness))
    for b in range(2):
        one = module(query[b : b + 1], Memory(keys[b : b + 1], values[b : b + 1], memory.nearness))
        torch.testing.assert_close(both[b : b + 1], one)


def test_a_slot_twice_reads_like_once() -> None:
    """The first frame fills two slots at the start: without the position term that changes nothing."""
    torch.manual_seed(0)
    keys, values = torch.randn(1, 8, 1, 3, 4), torch.randn(1, 1, 5, 1, 3, 4)
    query = torch.randn(1, 8, 3, 4)
    once = MemoryRead()(query, Memory(keys, values, torch.zeros(1)))
    twice = MemoryRead()(query, Memory(keys.repeat(1, 1, 2, 1, 1), values.repeat(1, 1, 1, 2, 1, 1), torch.zeros(2)))
    torch.testing.assert_close(once, twice)
