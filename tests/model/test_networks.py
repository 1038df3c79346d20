"""Every network: size, cost and shapes."""

import pytest
import torch

from mobilevos.model.checkpoint import NETWORKS, build
from mobilevos.model.cost import multiply_adds
from mobilevos.model.memory import Memory
from mobilevos.model.network import VOSNetwork, parameter_count
from mobilevos.model.student import STUDENTS

PAPER_PARAMETERS = {"resnet18": 8.1e6, "mobilenetv2": 2.5e6, "mobilenetv2-lite": 1.9e6, "stcn": 54.4e6}
MOST_MULTIPLY_ADDS = {"resnet18": 17e9, "mobilenetv2": 5.5e9, "mobilenetv2-lite": 4.5e9}


def random_memory(network: VOSNetwork, objects: int, slots: int, h: int, w: int, batch: int = 1) -> Memory:
    return Memory(
        torch.randn(batch, network.key_channels, slots, h, w),
        torch.randn(batch, objects, network.value_channels, slots, h, w),
        torch.linspace(0, 1, slots),
    )


@pytest.mark.parametrize("variant", NETWORKS)
def test_parameters_are_the_papers(variant: str) -> None:
    with torch.device("meta"):
        count = parameter_count(build(variant))
    assert count == pytest.approx(PAPER_PARAMETERS[variant], rel=0.05)


@pytest.mark.parametrize("variant", STUDENTS)
def test_a_step_costs_no_more_than_settled(variant: str) -> None:
    cost = multiply_adds(build(variant), 480, 864, objects=1, queue=2)
    assert cost["total"] == sum(cost[part] for part in ("encode", "read", "decode", "memorise"))
    assert 0.5 * MOST_MULTIPLY_ADDS[variant] < cost["total"] <= MOST_MULTIPLY_ADDS[variant]


def test_ten_objects_cost_less_than_four_times_one() -> None:
    one, ten = (multiply_adds(build("mobilenetv2-lite"), objects=n)["total"] for n in (1, 10))
    assert ten <= 4 * one


@pytest.mark.parametrize("variant", NETWORKS)
@pytest.mark.parametrize(("height", "width", "objects"), [(64, 96, 1), (48, 80, 3)])
def test_a_step_gives_probabilities_representation_and_memory(
    variant: str, height: int, width: int, objects: int
) -> None:
    torch.manual_seed(0)
    network = build(variant).eval()
    h, w = height // 16, width // 16
    memory = random_memory(network, objects, 2, h, w)
    with torch.no_grad():
        probabilities, z, key, values, rating = network(torch.rand(1, 3, height, width) * 255, memory)
    assert probabilities.shape == (1, 1 + objects, height, width)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(1, height, width))
    assert z.shape == (objects, network.z_channels, height // 4, width // 4)
    assert key.shape == (1, network.key_channels, h, w)
    assert values.shape == (1, objects, network.value_channels, h, w)
    assert rating.shape == (1, objects)
    assert bool(rating.isnan().all()) == (variant == "stcn")


@pytest.mark.parametrize("variant", NETWORKS)
def test_the_value_encoder_of_students_sees_masks_only(variant: str) -> None:
    """Given the features, the frame itself changes a student's values not at all, and the teacher's a lot."""
    torch.manual_seed(0)
    network = build(variant).eval()
    frames = torch.rand(1, 3, 64, 64) * 255
    stride = network.mask_stride
    masks = (torch.rand(1, 2, 64 // stride, 64 // stride) > 0.5).float()
    with torch.no_grad():
        features = network.encode(frames)
        values = network.memorise(frames, features, masks)
        other_frame = network.memorise(frames.flip(-1), features, masks)
        other_masks = network.memorise(frames, features, 1 - masks)
    assert torch.equal(values, other_frame) == (variant in STUDENTS)
    assert not torch.allclose(values, other_masks)


@pytest.mark.parametrize("variant", NETWORKS)
def test_objects_together_are_objects_alone(variant: str) -> None:
    """Before aggregation, an object's logits do not depend on which others are in the batch."""
    torch.manual_seed(0)
    network = build(variant).eval()
    frames = torch.rand(1, 3, 64, 96) * 255
    memory = random_memory(network, 3, 2, 4, 6)
    with torch.no_grad():
        features = network.encode(frames)
        together = network.predict(features, memory)
        for i in range(3):
            alone = network.predict(features, Memory(memory.keys, memory.values[:, i : i + 1], memory.nearness))
            torch.testing.assert_close(together.logits[:, i : i + 1], alone.logits, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(together.z[i : i + 1], alone.z, rtol=1e-4, atol=1e-4)
