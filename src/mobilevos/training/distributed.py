"""One process or many, through the same code: torchrun's environment decides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Processes:
    """This process among those that train together."""

    rank: int = 0
    count: int = 1
    device: torch.device = CPU

    @property
    def is_main(self) -> bool:
        """Whether this one writes logs and checkpoints."""
        return self.rank == 0

    def agree(self, value: float) -> float:
        """The main process's value, for all: clocks differ, and all change phases and stop at the same iteration."""
        if self.count == 1:
            return value
        shared = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.broadcast(shared, 0)
        return shared.item()


@contextmanager
def processes() -> Iterator[Processes]:
    """Joins the group that torchrun started, if any; nccl on GPUs, gloo elsewhere."""
    count, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    if count > 1:
        dist.init_process_group("nccl" if gpu else "gloo")
    try:
        yield Processes(rank, count, device)
    finally:
        if count > 1:
            dist.destroy_process_group()
