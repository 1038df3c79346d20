"""Names for the arrays that travel between packages, and the one label that is no object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
"""Numbers of the network: probabilities, keys, values."""
Image = NDArray[np.uint8]
"""A picture (H, W, 3) RGB, or a plane of one."""
Ids = NDArray[np.uint8]
"""(H, W): which object has each pixel, 0 for none."""
Bits = NDArray[np.bool_]
"""(H, W): where something is."""

VOID = 255
"""The label of pixels that belong to nothing in particular: they are neither trained nor scored on."""
