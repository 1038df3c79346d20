"""Through the converter to TFLite: litert-torch, which needs a virtual environment of its own."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from typing import Any

import numpy as np
import torch

from mobilevos.errors import InputError
from mobilevos.export.tflite_step import INPUTS, OUTPUTS, TfliteStep, example_inputs

METADATA = "mobilevos"
"""The entry of a file's metadata that says what it is, as JSON"""


def convert(step: TfliteStep, height: int, width: int, objects: int, slots: int) -> bytes:
    """A step with the given sizes as a TFLite model. Takes a minute or two: the graph is traced several times."""
    try:
        import litert_torch
    except ImportError as error:
        raise InputError(
            "this TFLite export needs litert-torch, which is not installed: "
            "pip install 'mobilevos[tflite]' in a virtual environment of its own"
        ) from error
    network = step.network
    example = dict(zip(INPUTS, example_inputs(network, height, width, objects, slots), strict=True))
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        converted: Any = litert_torch.convert(step.eval(), sample_kwargs=example)
        data = converted.model_content()
    return _named(
        data,
        {
            "format": "mobilevos-step",
            "variant": network.variant,
            "key_channels": network.key_channels,
            "value_channels": network.value_channels,
        },
    )


def _named(data: bytes, settings: dict[str, Any]) -> bytes:
    """The same model with our names for outputs, short ones for everything inside, and settings as metadata."""
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(data)
    (graph,), (signature,) = model.subgraphs, model.signatureDefs
    for i, tensor in enumerate(graph.tensors):
        tensor.name = f"t{i}"  # the converter's tell where each came from: 100 kB of them
    for entry, name in zip(signature.outputs, OUTPUTS, strict=True):
        entry.name = name
    by_name = {_text(entry.name): entry for entry in signature.inputs}
    signature.inputs = [by_name[name] for name in INPUTS]
    for entry in (*signature.inputs, *signature.outputs):
        graph.tensors[entry.tensorIndex].name = entry.name
    model.metadata.append(schema.MetadataT(name=METADATA, buffer=len(model.buffers)))
    model.buffers.append(schema.BufferT(data=list(json.dumps(settings).encode())))
    return packed(model)


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


def packed(model: Any) -> bytes:
    """A model of the flatbuffer schema as bytes. The generated code forgets that buffers are aligned to 16 bytes."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    class AlignedBuffer(schema.BufferT):
        def Pack(self, builder: Any) -> int:
            at = None
            if self.data is not None and len(self.data):
                content = np.asarray(self.data, np.uint8).tobytes()
                builder.StartVector(1, len(content), 16)
                builder.head -= len(content)
                builder.Bytes[builder.head : builder.head + len(content)] = content
                at = builder.EndVector()
            schema.BufferStart(builder)
            if at is not None:
                schema.BufferAddData(builder, at)
            return schema.BufferEnd(builder)

    model.buffers = [AlignedBuffer(buffer.data) for buffer in model.buffers]
    builder = flatbuffers.Builder(1 << 24)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
