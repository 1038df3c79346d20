import pytest
import torch

from mobilevos.model.checkpoint import build
from mobilevos.runtime.torch_runtime import TorchRuntime


@pytest.fixture(scope="session")
def runtime() -> TorchRuntime:
    torch.manual_seed(0)
    return TorchRuntime(build("mobilenetv2-lite"))
