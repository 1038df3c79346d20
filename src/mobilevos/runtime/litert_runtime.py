"""The step on LiteRT, to check TFLite files: the engine of phones and, as LiteRT.js, of the browser app."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from mobilevos.arrays import Array
from mobilevos.errors import InputError
from mobilevos.runtime.graph import GraphRuntime, filled_up


class LiteRtRuntime(GraphRuntime):
    """A TFLite file (see `mobilevos.export.tflite_step`). Its frame size, objects and slots of memory are fixed.

    Args:
        model: the file, or what is in it.
        threads: to compute with; None takes all cores.
    """

    name = "litert"

    def __init__(self, model: Path | str | bytes, threads: int | None = None) -> None:
        data, name = (model, "the model") if isinstance(model, bytes) else (Path(model).read_bytes(), str(model))
        try:
            interpreter = Interpreter(model_content=data, num_threads=threads or os.cpu_count() or 1)
            interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{name!r} is damaged or not a TFLite model ({error})") from error
        self._interpreter, self._run = interpreter, interpreter.get_signature_runner()
        self.describe(name, _settings(data, name), list(self._run.get_output_details()))
        self._shapes = {key: tuple(entry["shape"].tolist()) for key, entry in self._run.get_input_details().items()}
        self.slots: int | None = self._shapes["nearness"][0]

    @property
    def frame_size(self) -> tuple[int, int]:
        """Height and width it was made for."""
        return self._shapes["frame"][0], self._shapes["frame"][1]

    @property
    def delegated(self) -> tuple[int, int]:
        """Parts that XNNPACK took over, and operations there are in all: (1, n) if it took the whole graph."""
        names = [entry["op_name"] for entry in self._interpreter._get_ops_details()]
        parts = names.count("DELEGATE")
        return parts, len(names) - parts

    def run(self, inputs: Mapping[str, np.ndarray]) -> tuple[Array, Array, Array, Array]:
        slots, (h, w) = len(inputs["nearness"]), inputs["keys"].shape[2:]
        room = self._shapes["nearness"][0]
        if slots < room:
            inputs = filled_up(inputs, room - slots)
        keys, values = inputs["keys"], inputs["values"]
        arrays = {
            "frame": inputs["frame"].astype(np.float32),
            "keys": keys.reshape(*keys.shape[:2], h * w),
            "values": np.ascontiguousarray(values.reshape(*values.shape[:3], h * w).transpose(0, 2, 3, 1)),
            "nearness": inputs["nearness"],
            "write": np.eye(room, dtype=np.float32)[int(inputs["slot"])],
            "given": inputs["given"],
            "use_given": inputs["use_given"].reshape(1),
        }
        for key, array in arrays.items():
            if array.shape != self._shapes[key]:
                raise InputError(f"this TFLite model was made for {key} {self._shapes[key]}, got {array.shape}")
        outputs = self.feed(arrays)
        keys = outputs["keys_out"].reshape(*keys.shape[:2], h, w)
        values = outputs["values_out"].transpose(0, 3, 1, 2).reshape(*values.shape[:2], room, h, w)
        return outputs["probabilities"], keys[:, :slots], values[:, :, :slots], outputs["rating"]

    def feed(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, Array]:
        """The model on its own inputs, by name."""
        return self._run(**inputs)


def _settings(data: bytes, name: str) -> dict[str, str]:
    """What a file of ours says of itself."""
    model = schema.Model.GetRootAs(data)
    for i in range(model.MetadataLength()):
        if model.Metadata(i).Name() == b"mobilevos":
            settings = json.loads(model.Buffers(model.Metadata(i).Buffer()).DataAsNumpy().tobytes())
            return {key: str(value) for key, value in settings.items()}
    raise InputError(f"{name!r} is a TFLite model, but not one of mobilevos")
