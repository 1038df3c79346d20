"""Weights with the names of STCN's authors, and a clip: the same numbers wherever they are made."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

Shapes = Iterator[tuple[str, tuple[int, ...]]]


def stcn_state(seed: int = 0) -> dict[str, Tensor]:
    """All 54 M numbers of the authors' network, random: weights by their fan-in, BatchNorm around 1 and 0."""
    random = np.random.RandomState(seed)  # its stream is frozen for good
    state = {}
    for name, shape in stcn_shapes():
        if name.endswith("num_batches_tracked"):
            state[name] = torch.tensor(0)
            continue
        numbers = random.random_sample(shape).astype(np.float32) - np.float32(0.5)
        if len(shape) > 1:
            numbers *= 2 * np.float32(np.sqrt(1.5 / np.prod(shape[1:])))
        elif name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
            numbers += 1
        else:
            numbers *= 0.2
        state[name] = torch.from_numpy(numbers)
    return state


def stcn_clip() -> tuple[Tensor, Tensor]:
    """Frames (1, 5, 3, 64, 96) in 0..255 and masks (1, 5, 2, 64, 96) of two objects that move."""
    random = np.random.RandomState(1)
    frames = random.randint(0, 256, (1, 5, 3, 8, 12)).astype(np.float32).repeat(8, 3).repeat(8, 4)
    masks = np.zeros((1, 5, 2, 64, 96), np.float32)
    for t in range(5):
        masks[0, t, 0, 8 + 2 * t : 36 + 2 * t, 10:40] = 1
        masks[0, t, 1, 20:50, 50 + 3 * t : 80 + 3 * t] = 1
    return torch.from_numpy(frames), torch.from_numpy(masks)


def stcn_shapes() -> Shapes:
    """Names and shapes of the authors' state dict."""
    yield from _convolution("key_encoder.conv1", 64, 3, 7, bias=False)
    yield from _norm("key_encoder.bn1", 64)
    width = 64
    for level, (planes, depth) in zip(("res2", "layer2", "layer3"), ((64, 3), (128, 4), (256, 6)), strict=True):
        for block in range(depth):
            name = f"key_encoder.{level}.{block}"
            for i, (out, size) in enumerate(((planes, 1), (planes, 3), (4 * planes, 1)), start=1):
                yield from _convolution(f"{name}.conv{i}", out, width if i == 1 else planes, size, bias=False)
                yield from _norm(f"{name}.bn{i}", out)
            if block == 0:
                yield from _convolution(f"{name}.downsample.0", 4 * planes, width, 1, bias=False)
                yield from _norm(f"{name}.downsample.1", 4 * planes)
            width = 4 * planes
    yield from _convolution("value_encoder.conv1", 64, 5, 7)
    yield from _norm("value_encoder.bn1", 64)
    width = 64
    for level, planes in enumerate((64, 128, 256), start=1):
        for block in range(2):
            name = f"value_encoder.layer{level}.{block}"
            for i in (1, 2):
                yield from _convolution(f"{name}.conv{i}", planes, width if i == 1 else planes, 3)
                yield from _norm(f"{name}.bn{i}", planes)
            if width != planes:
                yield from _convolution(f"{name}.downsample.0", planes, width, 1)
                yield from _norm(f"{name}.downsample.1", planes)
            width = planes
    yield from _block("value_encoder.fuser.block1", 1280, 512)
    yield from _linear("value_encoder.fuser.attention.ChannelGate.mlp.1", 32, 512)
    yield from _linear("value_encoder.fuser.attention.ChannelGate.mlp.3", 512, 32)
    yield from _convolution("value_encoder.fuser.attention.SpatialGate.spatial.conv", 1, 2, 7)
    yield from _block("value_encoder.fuser.block2", 512, 512)
    yield from _convolution("key_proj.key_proj", 64, 1024, 3)
    yield from _convolution("key_comp", 512, 1024, 3)
    yield from _block("decoder.compress", 1024, 512)
    yield from _convolution("decoder.up_16_8.skip_conv", 512, 512, 3)
    yield from _block("decoder.up_16_8.out_conv", 512, 256)
    yield from _convolution("decoder.up_8_4.skip_conv", 256, 256, 3)
    yield from _block("decoder.up_8_4.out_conv", 256, 256)
    yield from _convolution("decoder.pred", 1, 256, 3)


def _convolution(name: str, out: int, into: int, size: int, bias: bool = True) -> Shapes:
    yield f"{name}.weight", (out, into, size, size)
    if bias:
        yield f"{name}.bias", (out,)


def _linear(name: str, out: int, into: int) -> Shapes:
    yield f"{name}.weight", (out, into)
    yield f"{name}.bias", (out,)


def _norm(name: str, width: int) -> Shapes:
    for part in ("weight", "bias", "running_mean", "running_var"):
        yield f"{name}.{part}", (width,)
    yield f"{name}.num_batches_tracked", ()


def _block(name: str, into: int, out: int) -> Shapes:
    if into != out:
        yield from _convolution(f"{name}.downsample", out, into, 3)
    yield from _convolution(f"{name}.conv1", out, into, 3)
    yield from _convolution(f"{name}.conv2", out, out, 3)
