"""Computes a Core ML program with torch, operation by operation, from the package as it lies on the disk.

Core ML itself is on Apple's systems only. What an operation means is written here a second time, from the description
of the language (MIL), so that a test can tell whether the converted program is still our step.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


class Program:
    """The function `main` of a package."""

    def __init__(self, package: Path) -> None:
        import coremltools
        from coremltools.converters.mil.frontend.milproto.load import load

        model = coremltools.models.MLModel(str(package), skip_model_load=True)
        self.spec = model.get_spec()
        program = load(self.spec, self.spec.specificationVersion, model.weights_dir)
        self.function = program.functions["main"]

    def __call__(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        known: dict[str, Any] = dict(inputs)
        for operation in self.function.operations:
            if operation.op_type == "const":
                known[operation.outputs[0].name] = constant(operation.outputs[0].val)
                continue
            arguments = {name: value_of(given, known) for name, given in operation.inputs.items() if given is not None}
            (output,) = operation.outputs
            result = OPERATIONS[operation.op_type](**arguments)
            assert tuple(result.shape) == tuple(output.shape), operation.name
            known[output.name] = result
        return {output.name: known[output.name] for output in self.function.outputs}


def value_of(given: Any, known: Mapping[str, Any]) -> Any:
    return [known[item.name] for item in given] if isinstance(given, (list, tuple)) else known[given.name]


def constant(value: Any) -> Any:
    """Weights as tensors, settings as plain values."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return torch.from_numpy(np.array(value))
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def convolution(
    x: Tensor, weight: Tensor, strides: list[int], pad_type: str, pad: list[int], dilations: list[int], groups: int,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    if pad_type == "valid":
        pad = [0, 0, 0, 0]
    assert pad_type in ("valid", "custom")
    top, bottom, left, right = pad
    return F.conv2d(F.pad(x, (left, right, top, bottom)), weight, bias, strides, 0, dilations, groups)


def pooling(
    x: Tensor, kernel_sizes: list[int], strides: list[int], pad_type: str, pad: list[int], kind: str, **rest: Any
) -> Tensor:
    assert pad_type == "valid" or not any(pad)
    assert not rest.get("ceil_mode")
    return (F.avg_pool2d if kind == "avg" else F.max_pool2d)(x, kernel_sizes, strides)


def slice_by_index(
    x: Tensor, begin: list[int], end: list[int], stride: list[int] | None = None, begin_mask: list[bool] | None = None,
    end_mask: list[bool] | None = None, squeeze_mask: list[bool] | None = None,
) -> Tensor:  # fmt: skip
    assert stride is None or set(stride) == {1}
    none = [False] * x.ndim
    where: list[int | slice] = []
    for first, last, from_start, to_end, single in zip(
        begin, end, begin_mask or none, end_mask or none, squeeze_mask or none, strict=True
    ):
        where.append(first if single else slice(None if from_start else first, None if to_end else last))
    return x[tuple(where)]


def expanded(x: Tensor, axes: list[int]) -> Tensor:
    for axis in sorted(axis % (x.ndim + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x


def upsampled(
    x: Tensor, scale_factor_height: float, scale_factor_width: float, align_corners: bool, **rest: Any
) -> Tensor:
    assert not align_corners
    assert rest.get("half_pixel_centers") in (None, True)
    scale = (scale_factor_height, scale_factor_width)
    return F.interpolate(x, scale_factor=scale, mode="bilinear", align_corners=False)


def product(x: Tensor, y: Tensor, transpose_x: bool, transpose_y: bool) -> Tensor:
    return (x.mT if transpose_x else x) @ (y.mT if transpose_y else y)


def padded(x: Tensor, pad: list[int], mode: str, constant_val: float) -> Tensor:
    assert mode == "constant"
    ends = [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)]
    return F.pad(x, tuple(n for pair in reversed(ends) for n in pair), value=float(constant_val))


OPERATIONS: dict[str, Any] = {
    "abs": lambda x: x.abs(),
    "add": lambda x, y: x + y,
    "avg_pool": lambda **given: pooling(kind="avg", **given),
    "clip": lambda x, alpha, beta: x.clamp(float(alpha), float(beta)),
    "concat": lambda values, axis, interleave: torch.cat(values, axis),
    "conv": convolution,
    "exp": lambda x: x.exp(),
    "expand_dims": expanded,
    "inverse": lambda x, epsilon: 1 / (x + epsilon),
    "linear": lambda x, weight, bias: F.linear(x, weight, bias),
    "log": lambda x, epsilon: (x + epsilon).log(),
    "matmul": product,
    "max_pool": lambda **given: pooling(kind="max", **given),
    "mul": lambda x, y: x * y,
    "pad": padded,
    "real_div": lambda x, y: x / y,
    "reduce_mean": lambda x, axes, keep_dims: x.mean(axes, keepdim=keep_dims),
    "reduce_sum": lambda x, axes, keep_dims: x.sum(axes, keepdim=keep_dims),
    "relu": lambda x: x.relu(),
    "reshape": lambda x, shape: x.reshape(shape),
    "sigmoid": lambda x: x.sigmoid(),
    "slice_by_index": slice_by_index,
    "softmax": lambda x, axis: x.softmax(axis),
    "square": lambda x: x.square(),
    "stack": lambda values, axis: torch.stack(values, axis),
    "squeeze": lambda x, axes: x.squeeze(tuple(axes)),
    "sub": lambda x, y: x - y,
    "transpose": lambda x, perm: x.permute(perm),
    "upsample_bilinear": upsampled,
}
