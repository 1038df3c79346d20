"""The step for ExecuTorch and Core ML against that of TFLite."""

import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.export.plain_step import PlainStep, traced
from mobilevos.export.step import Shape
from mobilevos.export.tflite_step import TfliteStep, example_inputs
from mobilevos.model.student import STUDENTS
from tests.export.test_tflite import student


@pytest.mark.parametrize("use_given", [0.0, 1.0])
@pytest.mark.parametrize("objects", [1, 3])
@pytest.mark.parametrize("variant", STUDENTS)
def test_the_arrangement_changes_no_number(variant: str, objects: int, use_given: float) -> None:
    network = student(variant)
    *inputs, given, _ = example_inputs(network, 80, 112, objects, 3)
    inputs += [torch.rand_like(given), torch.tensor([use_given])]
    with torch.inference_mode():
        expected, found = TfliteStep(network)(*inputs), PlainStep(network)(*inputs)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


def test_shapes_are_fixed() -> None:
    with pytest.raises(InputError, match="expected a number of objects"):
        traced(PlainStep(student("mobilenetv2-lite")), Shape(64, 96))
