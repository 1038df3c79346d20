"""A network followed through a clip."""

import pytest
import torch
from torch import Tensor

from mobilevos.model.aggregation import aggregate
from mobilevos.model.memory import Memory
from mobilevos.model.network import VOSNetwork
from mobilevos.training import unroll as module
from mobilevos.training.unroll import Slot, one_hot, unroll
from tests.training.clips import moving_batch, square_batch, trained


def clip(length: int) -> tuple[Tensor, Tensor]:
    """Frames (1, T, 3, 64, 64) and masks (1, T, 2, 64, 64)."""
    batch = moving_batch(length)
    return batch.frames.float(), one_hot(batch.masks, 2)


@pytest.fixture
def network() -> VOSNetwork:
    return trained()


def by_hand(network: VOSNetwork, frames: Tensor, masks: Tensor, *, bound: bool, forcing: bool) -> Tensor:
    """One frame after the other. The memory is the first frame and the last one, or each frame once."""
    features = [network.encode(frame) for frame in frames.unbind(1)]
    given = [network.given_masks(mask) for mask in masks.unbind(1)]
    kept = [(0, network.memorise(frames[:, 0], features[0], given[0]))]
    logits = []
    for t in range(1, frames.shape[1]):
        slots = kept[-1:] if bound else kept[1:]
        times = [0, *(time for time, _ in slots)]
        memory = Memory(
            torch.stack([features[time].key for time in times], 2),
            torch.stack([kept[0][1], *(value for _, value in slots)], 3),
            torch.tensor([0.0, *(1 / (t - time) ** 2 for time, _ in slots)]),
        )
        logits.append(aggregate(network.predict(features[t], memory).logits))
        seen = given[t] if forcing else network.own_masks(logits[-1])
        kept.append((t, network.memorise(frames[:, t], features[t], seen)))
    return torch.stack(logits, 1)


@pytest.mark.parametrize("forcing", [False, True])
@pytest.mark.parametrize("queue", [2, None])
@torch.no_grad()
def test_each_frame_is_predicted_from_the_memory_it_should_have(
    network: VOSNetwork, queue: int | None, forcing: bool
) -> None:
    frames, masks = clip(4)
    found = unroll(network, frames, masks, queue=queue, teacher_forcing=forcing)
    expected = by_hand(network, frames, masks, bound=queue is not None, forcing=forcing)
    torch.testing.assert_close(found.logits, expected, rtol=1e-3, atol=1e-3)
    for bound, other in ((queue is None, forcing), (queue is not None, not forcing)):
        wrong = by_hand(network, frames, masks, bound=bound, forcing=other)
        assert (found.logits - wrong).abs().max() > 0.1


def gradients(network: VOSNetwork, loss: Tensor) -> dict[str, Tensor]:
    network.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("prefix", [1, 2])
def test_a_prefix_is_a_memory_that_is_detached(
    network: VOSNetwork, prefix: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, masks = clip(5)
    whole = unroll(network, frames, masks, queue=3)
    found = unroll(network, frames, masks, queue=3, prefix=prefix)
    assert found.logits.shape[1] == 4 - prefix
    torch.testing.assert_close(found.logits, whole.logits[:, prefix:], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(found.z, whole.z[2 * prefix :], rtol=1e-3, atol=1e-3)
    ours = gradients(network, found.logits.square().mean())
    through = gradients(network, whole.logits[:, prefix:].square().mean())

    def detached(time: int | None, key: Tensor, value: Tensor) -> Slot:
        followed = time is not None and 1 <= time <= prefix
        return Slot(time, key.detach(), value.detach()) if followed else Slot(time, key, value)

    monkeypatch.setattr(module, "Slot", detached)
    cut = unroll(network, frames, masks, queue=3)
    expected = gradients(network, cut.logits[:, prefix:].square().mean())
    assert ours.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(ours[name], gradient, rtol=1e-3, atol=1e-4 * float(gradient.abs().max()), msg=name)
    assert any((ours[name] - through[name]).abs().max() > 1e-2 * ours[name].abs().max() for name in ours)


def test_the_prefix_is_encoded_without_gradient(network: VOSNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first frame and those with a loss have one."""
    frames, masks = clip(5)
    encoded = []
    encode = network.encode

    def counted(x: Tensor) -> object:
        encoded.append((len(x), torch.is_grad_enabled()))
        return encode(x)

    monkeypatch.setattr(network, "encode", counted)
    unroll(network, frames, masks, prefix=2)
    assert sorted(encoded) == [(2, False), (3, True)]
    with torch.no_grad():
        unroll(network, frames, masks, prefix=2)
    assert encoded[2:] == [(5, False)]


def test_every_weight_learns_after_a_prefix_in_half_precision(network: VOSNetwork) -> None:
    """Autocast keeps rounded weights. Rounded in the prefix, without gradient, they must not be used after it.

    Even if all frames but one are prefix: processes that train together wait for the gradient of every weight.
    """
    frames, masks = clip(4)
    learned = []
    for prefix in (0, 2):
        with torch.autocast("cpu", torch.bfloat16):
            loss = unroll(network, frames, masks, prefix=prefix).logits.float().square().mean()
        learned.append(gradients(network, loss).keys())
    assert learned[0] == learned[1]


@torch.no_grad()
def test_spoiled_masks_are_remembered(network: VOSNetwork) -> None:
    batch = square_batch()
    frames, masks = batch.frames.float(), one_hot(batch.masks, 1)
    spoil = torch.full((4, 3, 1, 16, 16), float("nan"))
    same = unroll(network, frames, masks, spoil=spoil)
    spoil[1, 1] = 0
    found = unroll(network, frames, masks, spoil=spoil)
    differs = [not torch.equal(one, other) for one, other in zip(found.logits[:, 1], same.logits[:, 1], strict=True)]
    assert differs == [False, True, False, False]
    assert torch.equal(found.logits[:, 0], same.logits[:, 0])
