"""A wide network that begins as a narrow one, so that what the narrow one took days to learn is not learned again.

The narrow network's decoder, value encoder and rating become a corner of the wide one's: what is new there is random
and nothing old listens to it, so it changes nothing until it is trained. The wide key encoder then learns, from
pictures without masks, to say what the narrow one says: its last convolutions by least squares, then all of it.

python -m tools.grow mobilenetv2-lite resnet18 runs/grown/last.safetensors DATA/duts-full/images DATA/mots/JPEGImages
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mobilevos.arrays import Image
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, save_checkpoint
from mobilevos.model.features import Features
from mobilevos.model.student import Student
from mobilevos.weights import find_checkpoint

FROM_FRAMES = ("backbone.", "key.", "frame_value.", "skip16.", "skip8.", "skip4.")
"""Parts of the key encoder: these are learned from the narrow network's features, not taken over."""

SIDE = 256
"""Of the squares that are looked at."""
SHORTEST, LONGEST = 256, 480
"""Of a picture's short side, before a square is cut out."""
MOST_POSITIONS = 256
"""Of a picture's features that a fit looks at."""
FITTED = 60
"""Batches for a fit."""
AHEAD = 4
"""Batches that are read while one is learned from."""


def grown(narrow: Student, wide: Student) -> None:
    """Make the narrow network's memory, decoder and rating a corner of the wide one's, whose ASPP does nothing."""
    old, new = narrow.state_dict(), wide.state_dict()
    for name, tensor in new.items():
        if name.startswith((*FROM_FRAMES, "decoder.aspp.")):
            continue
        if name == "rating.hidden.weight":
            new[name] = _rating_corner(narrow, wide, old[name], tensor)
        else:
            new[name] = corner(old[name], tensor)
    if "decoder.aspp.project.weight" in new:
        for part in ("weight", "bias"):
            new[f"decoder.aspp.project.{part}"] = torch.zeros_like(new[f"decoder.aspp.project.{part}"])
    wide.load_state_dict(new)


def corner(small: Tensor, large: Tensor) -> Tensor:
    """Weights (O, I, ...) or biases (O,), smaller ones in their corner, whose outputs know none of the new inputs."""
    result = large.clone()
    outputs = small.shape[:1]
    if small.ndim > 1:
        result[: outputs[0]] = 0.0
    result[tuple(slice(0, length) for length in small.shape)] = small
    return result


def _rating_corner(narrow: Student, wide: Student, small: Tensor, large: Tensor) -> Tensor:
    """The rating's inputs are four rows one after the other: the context twice, the key, and four numbers."""
    result, at, to = torch.zeros_like(large), 0, 0
    c, wide_c = narrow.decoder.readout.out_channels, wide.decoder.readout.out_channels
    for length, room in ((c, wide_c), (c, wide_c), (narrow.key_channels, wide.key_channels), (4, 4)):
        result[: len(small), to : to + length] = small[:, at : at + length]
        at, to = at + length, to + room
    return result


def unlikeness(said: Features, wanted: Features) -> dict[str, Tensor]:
    """For each feature the part of its variance that is not met: 0 where both say the same, 1 where a constant would do
    as well. Channels that only the first one has count nowhere."""
    result = {}
    for field in fields(Features):
        mine, theirs = getattr(said, field.name), getattr(wanted, field.name)
        error = (mine[:, : theirs.shape[1]] - theirs).square().mean((0, 2, 3))
        result[field.name] = (error / (theirs.var((0, 2, 3)) + 1e-6)).mean()
    return result


@torch.no_grad()
def fit(narrow: Student, wide: Student, pictures: Iterable[Tensor], ridge: float = 1e-3) -> None:
    """Set the convolutions after the wide backbone to the linear functions of its features that come nearest."""
    places = {"key": "f16", "value": "f16", "s16": "f16", "s8": "f8", "s4": "f4"}
    layers = dict(zip(places, (wide.key, wide.frame_value, wide.skip16, wide.skip8, wide.skip4), strict=True))
    products: dict[str, tuple[Tensor, Tensor]] = {}
    for batch in pictures:
        pyramid, wanted = wide.backbone(wide.normalise(batch)), narrow.encode(batch)
        for name, level in places.items():
            side = layers[name].kernel_size[0]
            columns = F.unfold(getattr(pyramid, level), side, padding=side // 2)  # (B, C * side^2, h * w)
            targets = getattr(wanted, name).flatten(2)
            kept = torch.randperm(columns.shape[-1])[:MOST_POSITIONS]
            x, y = (part[..., kept].transpose(1, 2).flatten(0, 1) for part in (columns, targets))
            x = torch.cat([x, torch.ones_like(x[:, :1])], 1)
            square, product = x.t() @ x, x.t() @ y
            before = products.get(name)
            products[name] = (square, product) if before is None else (before[0] + square, before[1] + product)
    for name, (square, product) in products.items():
        square.diagonal().add_(ridge * square.diagonal().mean())
        solution = torch.linalg.solve(square.double(), product.double()).float().t()  # (channels, C * side^2 + 1)
        layer, count = layers[name], solution.shape[0]
        layer.weight[:count] = solution[:, :-1].reshape(count, *layer.weight.shape[1:])
        assert layer.bias is not None
        layer.bias[:count] = solution[:, -1]


def pictures_in(folders: Sequence[Path], exclude: Sequence[str] = ()) -> list[list[Path]]:
    """The pictures at any depth of each folder, without those in folders of these names."""
    found = []
    for folder in folders:
        files = (path for path in sorted(folder.rglob("*")) if path.suffix in (".jpg", ".png", ".webp"))
        if not (kept := [path for path in files if not set(path.parts) & set(exclude)]):
            raise InputError(f"there are no pictures in {str(folder)!r}")
        found.append(kept)
    return found


def square(picture: Image, rng: np.random.Generator) -> Image:
    """(SIDE, SIDE, 3) of a picture at any scale, perhaps mirrored, a little lighter or darker."""
    short = rng.uniform(SHORTEST, LONGEST)
    factor = short / min(picture.shape[:2])
    size = tuple(max(SIDE, round(length * factor)) for length in picture.shape[1::-1])
    sized = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR)
    top, left = (int(rng.integers(length - SIDE + 1)) for length in sized.shape[:2])
    cut = sized[top : top + SIDE, left : left + SIDE]
    cut = cut[:, ::-1] if rng.random() < 0.5 else cut
    return np.clip(cut * rng.uniform(0.7, 1.3, 3), 0, 255).astype(np.uint8)


def batches(groups: Sequence[Sequence[Path]], size: int, seed: int = 0) -> Iterator[Tensor]:
    """(size, 3, SIDE, SIDE), 0..255, without end; a group of n pictures is drawn from sqrt(n) times as often as one."""
    rng = np.random.default_rng(seed)
    weights = np.sqrt([len(group) for group in groups])
    weights /= weights.sum()

    def one(path: Path, seed: int) -> Image:
        picture = cv2.imread(str(path))
        if picture is None:
            raise InputError(f"{str(path)!r} is no picture")
        return square(np.ascontiguousarray(picture[..., ::-1]), np.random.default_rng(seed))

    def read() -> list:
        chosen = [groups[index] for index in rng.choice(len(groups), size, p=weights)]
        return [pool.submit(one, group[int(rng.integers(len(group)))], int(rng.integers(2**31))) for group in chosen]

    with ThreadPoolExecutor(1) as pool:
        waiting = [read() for _ in range(AHEAD)]
        while True:
            batch = np.stack([picture.result() for picture in waiting.pop(0)])
            waiting.append(read())
            yield torch.from_numpy(batch).permute(0, 3, 1, 2).float().contiguous(memory_format=torch.channels_last)


def imitate(
    narrow: Student,
    wide: Student,
    pictures: Iterator[Tensor],
    minutes: float,
    rate: float = 1e-3,
    report: Callable[[int, Mapping[str, float]], None] = lambda step, met: None,
    every: int = 50,
) -> int:
    """Train the wide key encoder until the time is over, at a rate that falls to nothing; how many steps it took.

    The backbone, which knows much already, learns at a third of the rate of the convolutions after it.
    """
    parts = [wide.key, wide.frame_value, wide.skip16, wide.skip8, wide.skip4]
    groups = [
        {"params": list(wide.backbone.parameters()), "full": rate / 3},
        {"params": [parameter for part in parts for parameter in part.parameters()], "full": rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=1e-4)
    began, step, sums = time.monotonic(), 0, dict.fromkeys((field.name for field in fields(Features)), 0.0)
    while (done := (time.monotonic() - began) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = group["full"] * min(1.0, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * done))
        batch = next(pictures)
        with torch.no_grad():
            wanted = narrow.encode(batch)
        missed = unlikeness(wide.encode(batch), wanted)
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(missed.values())).mean().backward()
        optimizer.step()
        step += 1
        for name, value in missed.items():
            sums[name] += value.item() / every
        if step % every == 0:
            report(step, sums)
            sums = dict.fromkeys(sums, 0.0)
    return step


if __name__ == "__main__":
    import typer

    def main(
        narrow: str,
        wide: str,
        output: Path,
        folders: list[Path],
        minutes: float = 20.0,
        batch: int = 8,
        init: Annotated[str, typer.Option(help="weights whose backbone the wide one begins with")] = "",
        exclude: Annotated[list[str] | None, typer.Option(help="folders of these names are left out")] = None,
    ) -> None:
        """Grow WIDE from NARROW, learning from the pictures of FOLDERS; the weights are written to OUTPUT."""
        torch.manual_seed(0)
        teacher, student = load_checkpoint(find_checkpoint(narrow)), build(wide)
        if not isinstance(teacher, Student) or not isinstance(student, Student):
            raise InputError("only students are grown")
        if init:
            student.load_state_dict(load_checkpoint(find_checkpoint(init)).state_dict())
            fresh = build(wide).state_dict()
            student.load_state_dict({n: t for n, t in fresh.items() if not n.startswith(FROM_FRAMES)}, strict=False)
        grown(teacher, student)
        for network in (teacher, student):
            network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

        def report(step: int, missed: Mapping[str, float]) -> None:
            print(step, *(f"{name} {1 - value:.3f}" for name, value in missed.items()), flush=True)
            save_checkpoint(output, student, notes={"grown from": narrow, "steps": step})

        pictures = batches(pictures_in(folders, exclude or ()), batch)
        fit(teacher, student, islice(pictures, FITTED))
        steps = imitate(teacher, student, pictures, minutes, report=report)
        save_checkpoint(output, student, notes={"grown from": narrow, "steps": steps})

    typer.run(main)
