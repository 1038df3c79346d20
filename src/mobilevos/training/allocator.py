"""Large tensors come and go with every iteration; glibc would hand each back to the kernel and fault it in again."""

from __future__ import annotations

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
LIMIT = 2**30


def keep_freed_memory() -> None:
    """Lets glibc keep freed memory for the next iteration; does nothing on other systems."""
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_THRESHOLD, LIMIT)
    libc.mallopt(M_TRIM_THRESHOLD, LIMIT)
