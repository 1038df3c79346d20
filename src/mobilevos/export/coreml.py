"""The step as a Core ML program, for Apple's systems: fixed shapes, weights inside.

Inputs and outputs are those of `mobilevos.export.tflite_step`, by the same names.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import torch

from mobilevos.errors import InputError
from mobilevos.export.plain_step import PlainStep, traced
from mobilevos.export.quiet import quietly
from mobilevos.export.tflite_step import OUTPUTS
from mobilevos.files import replace_folder
from mobilevos.model.student import Student

if TYPE_CHECKING:
    from mobilevos.export.step import Shape


def export_coreml(network: Student, path: Path, shape: Shape) -> None:
    """Write the step of a network as one Core ML package, a folder, for one frame size and number of objects.

    It needs iOS 16 or macOS 13, and computes in single precision: the memory's addresses are differences of large
    numbers.
    """
    try:
        with quietly():
            import coremltools
    except ImportError as error:
        raise InputError(
            "the export to Core ML needs coremltools, which is not installed: pip install 'mobilevos[coreml]'"
        ) from error
    with torch.no_grad(), quietly():
        model = coremltools.convert(
            traced(PlainStep(network), shape).run_decompositions({}),
            outputs=[coremltools.TensorType(name=name) for name in OUTPUTS],
            convert_to="mlprogram",
            minimum_deployment_target=coremltools.target.iOS16,
            compute_precision=coremltools.precision.FLOAT32,
            skip_model_load=True,
        )
        model.short_description = f"One step of {network.variant}: frame and memory in, masks and memory out."
        model.user_defined_metadata.update(
            {
                "format": "mobilevos-step",
                "variant": network.variant,
                "key_channels": str(network.key_channels),
                "value_channels": str(network.value_channels),
            }
        )
        with TemporaryDirectory() as scratch:
            made = Path(scratch) / "step.mlpackage"
            model.save(str(made))
            (made / "executorch_debug_handle_mapping.json").unlink(missing_ok=True)  # no part of a package
            replace_folder(made, path)
