"""The arithmetic of the forward pass: what a recipe asks for, where the processor has it."""

from __future__ import annotations

import platform

import torch

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies in bfloat16 itself; where it is imitated, a step takes many times as long."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if platform.machine().lower() in ("x86_64", "amd64"):
        # oneDNN calls bfloat16 supported from AVX-512 on, where it imitates it
        return torch.cpu._is_avx512_bf16_supported()
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def usable_precision(precision: str, device: torch.device) -> str:
    """The precision that was asked for, or float32 in place of a bfloat16 that the device only imitates."""
    return "float32" if precision == "bfloat16" and not has_bfloat16(device) else precision


def autocast(precision: str, device: torch.device) -> torch.autocast:
    """The context of a forward pass in a precision."""
    return torch.autocast(device.type, DTYPES.get(precision), enabled=precision != "float32")
