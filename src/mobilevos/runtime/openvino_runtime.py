"""The step on OpenVINO: the fastest on Intel and AMD processors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import openvino

from mobilevos.errors import InputError
from mobilevos.runtime.base import Array
from mobilevos.runtime.graph import GraphRuntime


class OpenVinoRuntime(GraphRuntime):
    """An exported step graph (ONNX).

    OpenVINO compiles for fixed sizes, so the graph is compiled anew when the size of the frame, the number of objects
    or the length of the memory changes.

    Args:
        model: the file.
        threads: to compute with; None takes all cores.
        bfloat16: whether what is not int8 is computed in bfloat16, on processors that can; None does so for graphs in
            int8, which gave up exactness already.
    """

    name = "openvino"

    def __init__(self, model: Path | str, threads: int | None = None, bfloat16: bool | None = None) -> None:
        self._core = openvino.Core()
        self._config = {"PERFORMANCE_HINT": "LATENCY"}
        if threads:
            self._config["INFERENCE_NUM_THREADS"] = str(threads)
        try:
            self._model = self._core.read_model(str(model))
        except RuntimeError as error:
            raise InputError(f"{str(model)!r} is damaged or not an ONNX model") from error
        info = self._model.get_rt_info()
        framework = info["framework"] if "framework" in info else {}  # noqa: SIM401 (not a dict)
        self.describe(model, {name: framework[name].astype(str) for name in framework})
        wanted = self.precision == "int8" if bfloat16 is None else bfloat16
        able = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        self._config["INFERENCE_PRECISION_HINT"] = "bf16" if wanted and able else "f32"
        self._compiled: tuple[tuple[tuple[int, ...], ...], openvino.InferRequest] | None = None

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array]:
        shapes = tuple(array.shape for array in inputs.values())
        if self._compiled is None or self._compiled[0] != shapes:
            model = self._model.clone()
            model.reshape({name: array.shape for name, array in inputs.items()})
            compiled = self._core.compile_model(model, "CPU", self._config)
            self._compiled = (shapes, compiled.create_infer_request())
        request = self._compiled[1]
        outputs = request.infer(dict(inputs), share_inputs=True)
        probabilities, keys, values = (np.array(outputs[i]) for i in range(3))
        return probabilities, keys, values
