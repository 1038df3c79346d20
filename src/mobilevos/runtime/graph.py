"""What all runtimes of exported step graphs share (see `mobilevos.export.step`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.errors import InputError
from mobilevos.runtime.base import MemoryArrays, Step, written

MASK_STRIDE = 4
FAR_AWAY = 100.0
"""In every channel of a key: so far from any real one that its weight is exactly zero."""


class GraphRuntime:
    """A step graph behind the runtime's interface; subclasses run it."""

    name: str
    variant: str
    key_channels: int
    value_channels: int
    precision: str
    slots: int | None = None

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        """The graph: probabilities, keys, values and rating."""
        raise NotImplementedError

    def describe(self, model: Path | str, settings: Mapping[str, str], outputs: Sequence[str]) -> None:
        """Take over what the file says of itself."""
        if settings.get("format") != "mobilevos-step":
            raise InputError(f"{str(model)!r} is an ONNX model, but not one of mobilevos")
        if "rating" not in outputs:
            raise InputError(f"{str(model)!r} was made by an earlier version, which had no rating: export it again")
        self.variant = settings["variant"]
        self.precision = settings.get("precision", "float32")
        self.key_channels, self.value_channels = int(settings["key_channels"]), int(settings["value_channels"])

    def memorise(self, frame: Image, masks: Array, others: Array | None = None) -> tuple[Array, Array]:
        others = masks.sum(0, keepdims=True) - masks if others is None else others
        given = np.stack([reduced(masks), reduced(others)], 1)
        h, w = frame.shape[0] // 16, frame.shape[1] // 16
        empty = MemoryArrays(
            np.zeros((self.key_channels, 1, h, w), np.float32),
            np.zeros((len(masks), self.value_channels, 1, h, w), np.float32),
            np.zeros(1, np.float32),
        )
        _, keys, values, _ = self.run(graph_inputs(frame, empty, 0, given))
        return keys[:, 0], values[:, :, 0]

    def step(self, frame: Image, memory: MemoryArrays, slot: int) -> Step:
        inside = min(slot, memory.slots - 1)
        probabilities, keys, values, rating = self.run(graph_inputs(frame, memory, inside, None))
        if slot == memory.slots:
            return Step(probabilities, written(memory, slot, keys[:, inside], values[:, :, inside]), rating)
        nearness = memory.nearness.copy()
        nearness[slot] = 1
        return Step(probabilities, MemoryArrays(keys, values, nearness), rating)


def graph_inputs(frame: Image, memory: MemoryArrays, slot: int, given: Array | None) -> dict[str, np.ndarray]:
    """The inputs of a step graph; `given` (N, 2, H/4, W/4) are masks to remember instead of the predicted ones."""
    shape = (len(memory.values), 2, frame.shape[0] // MASK_STRIDE, frame.shape[1] // MASK_STRIDE)
    return {
        "frame": np.ascontiguousarray(frame),
        "keys": np.ascontiguousarray(memory.keys),
        "values": np.ascontiguousarray(memory.values),
        "nearness": memory.nearness,
        "slot": np.array(slot, np.int64),
        "given": np.zeros(shape, np.float32) if given is None else given,
        "use_given": np.array(given is not None, np.float32),
    }


def fitted(inputs: Mapping[str, np.ndarray], shapes: Mapping[str, Sequence[int | None]]) -> Mapping[str, np.ndarray]:
    """The inputs as an ONNX graph of these shapes (None is open) takes them: a shorter memory is filled up."""
    slots = shapes["nearness"][0]
    if slots is not None and slots > len(inputs["nearness"]):
        inputs = filled_up(inputs, slots - len(inputs["nearness"]))
    for name, array in inputs.items():
        if any(made not in (None, came) for made, came in zip(shapes[name], array.shape, strict=True)):
            made_for = ", ".join("any" if made is None else str(made) for made in shapes[name])
            raise InputError(f"this ONNX model was made for {name} ({made_for}), got {array.shape}")
    return inputs


def filled_up(inputs: Mapping[str, np.ndarray], more: int) -> dict[str, np.ndarray]:
    """The inputs of a step with so many more slots of memory, which are never read."""

    def longer(name: str, axis: int, fill: float) -> np.ndarray:
        array = inputs[name]
        shape = (*array.shape[:axis], more, *array.shape[axis + 1 :])
        return np.concatenate([array, np.full(shape, fill, array.dtype)], axis)

    return {
        **inputs,
        "keys": longer("keys", 1, FAR_AWAY),
        "values": longer("values", 2, 0),
        "nearness": longer("nearness", 0, 0),
    }


def reduced(masks: Array) -> Array:
    """(N, H, W) to (N, H/4, W/4), each the mean of 4 x 4 pixels."""
    size = (masks.shape[2] // MASK_STRIDE, masks.shape[1] // MASK_STRIDE)
    return np.stack([cv2.resize(mask, size, interpolation=cv2.INTER_AREA) for mask in masks])
