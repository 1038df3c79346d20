"""The endless stream of training batches."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from mobilevos.arrays import VOID
from mobilevos.clips.clip import Batch, Clip, ClipConfig, ClipSource
from mobilevos.clips.prompts import draw_prompt
from mobilevos.errors import InputError


def clip_loader(
    sources: Sequence[tuple[ClipSource, float]],
    config: ClipConfig,
    *,
    batch_size: int,
    seed: int,
    start: int = 0,
    workers: int = 1,
    multi_object: float = 0.3,
    rank: int = 0,
    world_size: int = 1,
) -> Iterator[Batch]:
    """Draw batches for ever.

    Batch i depends on the sources, the configuration, (seed, i) and the rank only, whatever the number of workers:
    a stream that starts at i continues an interrupted one exactly. All ranks have the same number of objects in
    batch i, so that none waits for another.

    Args:
        sources: where clips come from, with weights.
        start: position of the first batch.
        workers: processes that draw batches ahead; 0 draws them in this one.
        multi_object: part of the batches with two objects or more.
        rank, world_size: which of how many processes that train together this is.
    """
    if not sources or any(weight < 0 for _, weight in sources) or not sum(weight for _, weight in sources) > 0:
        raise InputError(f"expected sources with weights above zero, got {[weight for _, weight in sources]}")
    if not 0 <= rank < world_size:
        raise InputError(f"expected a rank below the world size {world_size}, got {rank}")
    if batch_size < 1 or start < 0 or workers < 0 or not 0 <= multi_object <= 1:
        raise InputError(
            "expected batch_size >= 1, start >= 0, workers >= 0 and multi_object in 0..1, "
            f"got {batch_size}, {start}, {workers} and {multi_object}"
        )
    stream = _Stream(sources, config, batch_size, seed, multi_object, rank)
    if workers == 0:
        return (stream[i] for i in itertools.count(start))
    # a copy of this process that collects its garbage waits for threads that are not there, such as OpenVINO's
    gc.collect()
    loader = DataLoader(
        stream,
        batch_size=None,
        sampler=_From(start),
        num_workers=workers,
        worker_init_fn=_start_worker,
        prefetch_factor=4,
    )
    return iter(loader)


def _start_worker(_: int) -> None:
    gc.freeze()  # what was there before is not this process's to collect
    cv2.setNumThreads(0)


class _From:
    """The natural numbers from `start`; unlike `itertools.count` it can be iterated over again."""

    def __init__(self, start: int) -> None:
        self.start = start

    def __iter__(self) -> Iterator[int]:
        return itertools.count(self.start)


class _Stream(Dataset[Batch]):
    """Batch i as a function of i."""

    def __init__(
        self,
        sources: Sequence[tuple[ClipSource, float]],
        config: ClipConfig,
        batch_size: int,
        seed: int,
        multi_object: float,
        rank: int,
    ) -> None:
        self.sources = [source for source, _ in sources]
        self.edges = np.cumsum([weight for _, weight in sources])
        self.config = config
        self.batch_size = batch_size
        self.seed = seed
        self.multi_object = multi_object
        self.rank = rank

    def __getitem__(self, index: int) -> Batch:
        shared = np.random.default_rng([self.seed, index])
        objects = 1
        if shared.random() < self.multi_object and self.config.max_objects > 1:
            objects = int(shared.integers(2, self.config.max_objects + 1))
        clips, prompts = [], []
        for sample in range(self.batch_size):
            # Not rank itself: numpy reads [seed, index] as [seed, index, 0, 0], and what is drawn for all would then
            # decide what is drawn for the first sample.
            rng = np.random.default_rng([self.seed, index, self.rank + 1, sample])
            chosen = int(np.searchsorted(self.edges, rng.uniform(0, self.edges[-1]), side="right"))
            source = self.sources[min(chosen, len(self.sources) - 1)]
            clip = source.sample(rng, self.config, objects)
            clips.append(clip)
            prompts.append(_prompts(rng, clip, objects))
        frames = np.stack([clip.frames for clip in clips]).transpose(0, 1, 4, 2, 3)
        return Batch(
            frames=torch.from_numpy(np.ascontiguousarray(frames)),
            masks=torch.from_numpy(np.stack([clip.masks for clip in clips])),
            prompts=torch.from_numpy(np.stack(prompts)),
            objects=objects,
            index=index,
            far=torch.tensor([clip.far for clip in clips]) if self.config.far else None,
        )


def _prompts(rng: np.random.Generator, clip: Clip, objects: int) -> np.ndarray:
    """(2, objects, S, S) uint8 positive and negative prompts of frame 0."""
    first = clip.masks[0]
    known = (first > 0) & (first < VOID)
    prompts = [draw_prompt(first == i, known & (first != i), rng) for i in range(1, objects + 1)]
    return np.stack([np.stack(part) for part in zip(*prompts, strict=True)])
