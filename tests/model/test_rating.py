"""The head that judges masks."""

import torch

from mobilevos.model.memory import Memory
from mobilevos.model.rating import Rating


def rating() -> Rating:
    torch.manual_seed(0)
    head = Rating(12, 8, 6)
    torch.nn.init.normal_(head.out.weight)
    return head


def inputs(objects: int = 2) -> tuple[torch.Tensor, torch.Tensor, Memory, torch.Tensor]:
    torch.manual_seed(1)
    memory = Memory(torch.randn(1, 8, 3, 4, 5), torch.randn(1, objects, 6, 3, 4, 5), torch.linspace(0, 1, 3))
    return torch.randn(objects, 12, 4, 5), torch.randn(1, 8, 4, 5), memory, torch.rand(1, objects, 16, 20)


def test_a_new_head_says_nothing() -> None:
    assert Rating(12, 8, 6)(*inputs()).tolist() == [[0.0, 0.0]]


def test_objects_are_rated_apart() -> None:
    context, key, memory, masks = inputs()
    both = rating()(context, key, memory, masks)
    second = Memory(memory.keys, memory.values[:, 1:], memory.nearness)
    torch.testing.assert_close(rating()(context[1:], key, second, masks[:, 1:]), both[:, 1:])


def test_it_looks_at_mask_features_keys_and_the_first_frame_only() -> None:
    context, key, memory, masks = inputs()
    before = rating()(context, key, memory, masks)
    first, later = memory.values.clone(), memory.values.clone()
    first[:, :, :, 0] += 1
    later[:, :, :, 1:] += 1
    changed = {
        "masks": rating()(context, key, memory, 1 - masks),
        "context": rating()(context + 1, key, memory, masks),
        "key": rating()(context, key + 1, memory, masks),
        "first frame": rating()(context, key, Memory(memory.keys, first, memory.nearness), masks),
    }
    for name, after in changed.items():
        assert not torch.allclose(after, before), name
    torch.testing.assert_close(rating()(context, key, Memory(memory.keys, later, memory.nearness), masks), before)


def test_a_look_alike_outside_of_the_mask_is_seen() -> None:
    """What changes is one cell far from the mask, which takes the keys of the object."""
    context, key, memory, masks = inputs(1)
    masks[:] = 0
    masks[..., :8, :8] = 1
    context[:] = 1
    key[..., :2, :2] = 5
    memory.keys[:] = 5
    alike = key.clone()
    alike[..., 3, 4] = 5
    assert not torch.allclose(rating()(context, alike, memory, masks), rating()(context, key, memory, masks))
