"""The step on onnxruntime: the default, and all that the base install needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime

from mobilevos.arrays import Array
from mobilevos.errors import InputError
from mobilevos.runtime.graph import GraphRuntime, fitted
from mobilevos.threads import cores


class OnnxRuntime(GraphRuntime):
    """An exported step graph.

    Args:
        model: the file.
        threads: to compute with; None takes all cores.
    """

    name = "onnx"

    def __init__(self, model: Path | str, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or cores()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no common base class for its errors
            raise InputError(
                f"{str(model)!r} is damaged or not an ONNX model ({str(error).splitlines()[0]})"
            ) from error
        self.describe(
            model,
            self._session.get_modelmeta().custom_metadata_map,
            [entry.name for entry in self._session.get_outputs()],
        )
        self._shapes = {
            entry.name: [size if isinstance(size, int) else None for size in entry.shape]
            for entry in self._session.get_inputs()
        }
        self.slots = self._shapes["nearness"][0]

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        slots = len(inputs["nearness"])
        probabilities, keys, values, rating = self._session.run(None, dict(fitted(inputs, self._shapes)))
        return probabilities, keys[:, :slots], values[:, :, :slots], rating
