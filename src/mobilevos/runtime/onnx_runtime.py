"""The step on onnxruntime: the default, and all that the base install needs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime

from mobilevos.errors import InputError
from mobilevos.runtime.base import Array, Image, Memory, written

MASK_STRIDE = 4


class OnnxRuntime:
    """An exported step graph.

    Args:
        model: the file.
        threads: to compute with; None takes all cores.
    """

    name = "onnx"

    def __init__(self, model: Path | str, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or os.cpu_count() or 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises its own kinds, and plain ones
            raise InputError(f"{str(model)!r} is damaged or not an ONNX model ({str(error).splitlines()[0]})") from error
        settings = self._session.get_modelmeta().custom_metadata_map
        if settings.get("format") != "mobilevos-step":
            raise InputError(f"{str(model)!r} is an ONNX model, but not one of mobilevos")
        self.variant = settings["variant"]
        self.key_channels, self.value_channels = int(settings["key_channels"]), int(settings["value_channels"])

    def memorise(self, frame: Image, masks: Array, others: Array | None = None) -> tuple[Array, Array]:
        others = masks.sum(0, keepdims=True) - masks if others is None else others
        given = np.stack([reduced(masks), reduced(others)], 1)
        h, w = frame.shape[0] // 16, frame.shape[1] // 16
        empty = Memory(
            np.zeros((self.key_channels, 1, h, w), np.float32),
            np.zeros((len(masks), self.value_channels, 1, h, w), np.float32),
            np.zeros(1, np.float32),
        )
        _, keys, values = self._run(frame, empty, 0, given, 1)
        return keys[:, 0], values[:, :, 0]

    def step(self, frame: Image, memory: Memory, slot: int) -> tuple[Array, Memory]:
        height, width = frame.shape[:2]
        nothing = np.zeros((len(memory.values), 2, height // MASK_STRIDE, width // MASK_STRIDE), np.float32)
        inside = min(slot, memory.slots - 1)
        probabilities, keys, values = self._run(frame, memory, inside, nothing, 0)
        if slot == memory.slots:
            return probabilities, written(memory, slot, keys[:, inside], values[:, :, inside])
        nearness = memory.nearness.copy()
        nearness[slot] = 1
        return probabilities, Memory(keys, values, nearness)

    def _run(self, frame: Image, memory: Memory, slot: int, given: Array, use_given: float) -> tuple[Any, Any, Any]:
        return self._session.run(  # type: ignore[no-any-return]
            None,
            {
                "frame": frame,
                "keys": memory.keys,
                "values": memory.values,
                "nearness": memory.nearness,
                "slot": np.array(slot, np.int64),
                "given": given,
                "use_given": np.array(use_given, np.float32),
            },
        )


def reduced(masks: Array) -> Array:
    """(N, H, W) to (N, H/4, W/4), each the mean of 4 x 4 pixels."""
    size = (masks.shape[2] // MASK_STRIDE, masks.shape[1] // MASK_STRIDE)
    return np.stack([cv2.resize(mask, size, interpolation=cv2.INTER_AREA) for mask in masks])
