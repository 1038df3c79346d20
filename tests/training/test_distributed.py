"""Two processes train as one does."""

import dataclasses
import os
import socket
from pathlib import Path

import torch
import torch.multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mobilevos.clips.clip import Batch
from mobilevos.model.checkpoint import build
from mobilevos.training.distributed import processes
from mobilevos.training.objective import Objective
from mobilevos.training.recipe import Loss
from tests.training.clips import square_batch


def gradients(module: nn.Module, batch: Batch) -> dict[str, torch.Tensor]:
    module(batch, 0.5).total.backward()
    return {name.removeprefix("module."): p.grad for name, p in module.named_parameters() if p.grad is not None}


def objective() -> Objective:
    torch.manual_seed(1)
    return Objective(build("mobilenetv2-lite"), Loss(dice=1.0, rating=1.0))


def one_of_two(rank: int, port: int, results: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": "2"}
    torch.set_num_threads(1)
    with processes() as team:
        assert team.agree(10.0 + rank) == 10.0
        batch = square_batch()
        half = slice(2 * rank, 2 * rank + 2)
        part = dataclasses.replace(
            batch, frames=batch.frames[half], masks=batch.masks[half], prompts=batch.prompts[half]
        )
        found = gradients(DistributedDataParallel(objective()), part)
        if team.is_main:
            torch.save(found, results)


def test_two_processes_give_the_gradients_of_one(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(one_of_two, (port, str(tmp_path / "gradients.pt")), nprocs=2)
    expected = gradients(objective(), square_batch())
    found = torch.load(tmp_path / "gradients.pt")
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-5, msg=name)
