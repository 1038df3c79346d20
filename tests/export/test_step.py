"""The exported step's own arithmetic."""

import torch
from torch.testing import assert_close

from mobilevos.export.step import enlarge
from mobilevos.model.network import upsample


def test_enlarging_by_convolution_is_bilinear_interpolation() -> None:
    for shape in ((1, 1, 1), (2, 1, 5), (3, 6, 7)):
        logits = 16 * torch.randn(shape, generator=torch.Generator().manual_seed(0))
        assert_close(enlarge(logits), upsample(logits[None], 4)[0], rtol=0, atol=1e-5)
