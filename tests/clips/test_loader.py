"""The stream of batches."""

import gc
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from mobilevos.clips import Batch, ClipConfig, PhotoSource, clip_loader
from mobilevos.clips.clip import Clip, ClipSource
from mobilevos.errors import InputError
from tests.builders.coloured import photo_folder

CONFIG = ClipConfig(size=64, frames=2)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> PhotoSource:
    root = tmp_path_factory.mktemp("photos")
    return PhotoSource(photo_folder(root / "data"), cache=root / "cache")


def _stream(source: ClipSource, **options: int | float) -> Iterator[Batch]:
    return clip_loader([(source, 1.0)], CONFIG, **{"batch_size": 2, "seed": 5, "workers": 0, **options})  # type: ignore[arg-type]


def _same(one: Batch, other: Batch) -> bool:
    pairs = ((one.frames, other.frames), (one.masks, other.masks), (one.prompts, other.prompts))
    return (one.index, one.objects) == (other.index, other.objects) and all(torch.equal(a, b) for a, b in pairs)


def test_batches_look_as_promised(photos: PhotoSource) -> None:
    for index, batch in enumerate(islice(_stream(photos, batch_size=3, multi_object=0.5), 12)):
        assert batch.index == index
        assert batch.objects in (1, 2)
        assert batch.frames.shape == (3, 2, 3, 64, 64)
        assert batch.masks.shape == (3, 2, 64, 64)
        assert batch.prompts.shape == (3, 2, batch.objects, 64, 64)
        assert batch.frames.dtype == batch.masks.dtype == batch.prompts.dtype == torch.uint8
        assert batch.frames.is_contiguous()
        assert set(batch.masks.unique().tolist()) <= {*range(batch.objects + 1), 255}
        assert set(batch.prompts.unique().tolist()) <= {0, 1}
        for sample in range(3):
            for label in range(1, batch.objects + 1):
                there = batch.masks[sample, 0] == label
                assert bool((batch.prompts[sample, 0, label - 1][there] > 0).any()) == bool(there.any())


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
def test_workers_do_not_change_the_stream(photos: PhotoSource) -> None:
    here = list(islice(_stream(photos), 6))
    there = list(islice(_stream(photos, workers=2), 6))
    resumed = list(islice(_stream(photos, workers=1, start=3), 3))
    assert all(_same(*pair) for pair in zip(here, there, strict=True))
    assert all(_same(*pair) for pair in zip(here[3:], resumed, strict=True))
    assert not any(_same(here[0], batch) for batch in here[1:])


class Threaded:
    """Garbage that must not be collected in a copy of this process, like a network with threads of its own."""

    def __init__(self, collected_in: list[int]) -> None:
        self.me, self.home, self.collected_in = self, os.getpid(), collected_in

    def __del__(self) -> None:
        if os.getpid() != self.home:
            os._exit(3)
        self.collected_in.append(self.home)


class Collecting:
    """A source that collects garbage as it draws."""

    def __init__(self, source: ClipSource) -> None:
        self.source = source

    def sample(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip:
        gc.collect()
        return self.source.sample(rng, config, objects)


def test_workers_leave_the_garbage_of_before_alone(photos: PhotoSource) -> None:
    collected_in: list[int] = []
    gc.disable()
    try:
        Threaded(collected_in)
        batches = list(islice(_stream(Collecting(photos), workers=1), 2))
    finally:
        gc.enable()
    assert [batch.index for batch in batches] == [0, 1]
    assert collected_in == [os.getpid()]


def test_seeds_and_ranks_differ(photos: PhotoSource) -> None:
    base = list(islice(_stream(photos), 4))
    other_seed = list(islice(_stream(photos, seed=6), 4))
    other_rank = list(islice(_stream(photos, rank=1, world_size=2), 4))
    for i in range(4):
        assert not torch.equal(base[i].frames, other_seed[i].frames)
        assert not torch.equal(base[i].frames, other_rank[i].frames)
        assert base[i].objects == other_rank[i].objects  # ranks are equally busy


def test_part_of_multi_object_batches(photos: PhotoSource) -> None:
    assert {batch.objects for batch in islice(_stream(photos, batch_size=1, multi_object=0.0), 10)} == {1}
    assert {batch.objects for batch in islice(_stream(photos, batch_size=1, multi_object=1.0), 10)} == {2}


class _Named:
    """A source that only says who it is, by a gray value."""

    def __init__(self, value: int) -> None:
        self.value = value

    def sample(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip:
        frames = np.full((config.frames, 64, 64, 3), self.value, np.uint8)
        return Clip(frames, np.zeros((config.frames, 64, 64), np.uint8), str(self.value))


def test_sources_are_drawn_by_weight() -> None:
    sources: list[tuple[ClipSource, float]] = [(_Named(1), 3.0), (_Named(2), 0.0), (_Named(3), 1.0)]
    stream = clip_loader(sources, CONFIG, batch_size=20, seed=0, workers=0)
    values = torch.cat([batch.frames[:, 0, 0, 0, 0] for batch in islice(stream, 20)])
    counts = torch.bincount(values.int(), minlength=4).tolist()
    assert counts[2] == 0
    assert counts[1] + counts[3] == 400
    assert 270 < counts[1] < 330


def test_the_number_of_objects_says_nothing_about_the_source() -> None:
    sources: list[tuple[ClipSource, float]] = [(_Named(1), 1.0), (_Named(2), 1.0)]
    stream = clip_loader(sources, CONFIG, batch_size=1, seed=0, workers=0, multi_object=0.5)
    several = [int(batch.frames[0, 0, 0, 0, 0]) for batch in islice(stream, 60) if batch.objects == 2]
    assert 20 < len(several) < 40
    assert 5 < several.count(1) < len(several) - 5


def test_bad_arguments(photos: PhotoSource, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="weights above zero"):
        clip_loader([], CONFIG, batch_size=1, seed=0)
    with pytest.raises(InputError, match="weights above zero"):
        clip_loader([(photos, 0.0)], CONFIG, batch_size=1, seed=0)
    with pytest.raises(InputError, match="rank below the world size 2, got 2"):
        _stream(photos, rank=2, world_size=2)
    with pytest.raises(InputError, match="batch_size >= 1"):
        _stream(photos, batch_size=0)


@pytest.mark.parametrize("bad", [{"size": 8}, {"frames": 0}, {"max_skip": 0}, {"crop_min": 0.9, "crop_max": 0.5}])
def test_bad_configurations(bad: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected"):
        ClipConfig(**bad)  # type: ignore[arg-type]
