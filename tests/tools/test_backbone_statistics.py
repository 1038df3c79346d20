"""Estimated BatchNorm statistics, against torch's own BatchNorm in training mode."""

import torch
from torch import nn
from torch.testing import assert_close

from tools.backbone_statistics import reestimated


class Plain(nn.Module):
    """Two convolutions, as a backbone without BatchNorm has them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2(self.conv1(x).relu())


def test_statistics_are_those_of_batchnorm_in_training() -> None:
    torch.manual_seed(0)
    conv1, bn1, conv2, bn2 = (
        nn.Conv2d(3, 4, 3, bias=False),
        nn.BatchNorm2d(4, momentum=None),
        nn.Conv2d(4, 5, 3, bias=False),
        nn.BatchNorm2d(5, momentum=None),
    )
    for norm in (bn1, bn2):
        nn.init.uniform_(norm.weight, 0.5, 2)
        nn.init.normal_(norm.bias)
    whole = nn.Sequential(conv1, bn1, nn.ReLU(), conv2, bn2)
    state = {
        f"{name}.{key}": value.clone()
        for name, module in (("conv1", conv1), ("bn1", bn1), ("conv2", conv2), ("bn2", bn2))
        for key, value in module.state_dict().items()
    }
    batches = [3 * torch.randn(4, 3, 12, 12) + 1 for _ in range(3)]
    new = reestimated(Plain(), state, batches)
    for batch in batches:
        whole(batch)
    for name, norm in (("bn1", bn1), ("bn2", bn2)):
        assert_close(new[f"{name}.running_mean"], norm.running_mean)
        assert_close(new[f"{name}.running_var"], norm.running_var)
    assert_close(new["bn2.weight"], state["bn2.weight"])
