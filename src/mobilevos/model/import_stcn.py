"""The published weights of STCN (Cheng et al., NeurIPS 2021) in our teacher.

The file is what the authors' training writes: a PyTorch state dict, or a checkpoint with one under `network`. BatchNorm
is folded into the convolutions before it, as in all our backbones; names are changed, numbers are not.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mobilevos.errors import InputError
from mobilevos.model.backbones import fold_batchnorm
from mobilevos.model.teacher import STCN

BACKBONES = {"key_encoder.": "backbone.", "value_encoder.": "value_backbone."}
"""Where the authors' networks with BatchNorm are in ours."""

PARTS = {
    "value_encoder.fuser.attention.ChannelGate.mlp.1.": "fuse.attention.channel.0.",
    "value_encoder.fuser.attention.ChannelGate.mlp.3.": "fuse.attention.channel.2.",
    "value_encoder.fuser.attention.SpatialGate.spatial.conv.": "fuse.attention.spatial.",
    "value_encoder.fuser.": "fuse.",
    "key_proj.key_proj.": "key.",
    "key_comp.": "compress_key.",
    "decoder.compress.": "compress.",
    "decoder.up_16_8.skip_conv.": "up8.skip.",
    "decoder.up_16_8.out_conv.": "up8.out.",
    "decoder.up_8_4.skip_conv.": "up4.skip.",
    "decoder.up_8_4.out_conv.": "up4.out.",
    "decoder.pred.": "logits.",
}
"""The authors' other parts and ours; the first that fits counts."""

FRAME_AND_MASKS = 5
"""Channels that the value encoder sees: the frame, the object and the others."""


def import_stcn(path: Path | str, top_k: int | None = None) -> STCN:
    """Our teacher with the weights of the authors' file.

    Args:
        path: the authors' file.
        top_k: how many memory positions are read when it is used; the authors evaluate with 20 and train with all.
    """
    network = STCN(stride_in_1x1=False, top_k=top_k)
    state, own = renamed(_read(Path(path))), network.state_dict()
    missing, unknown = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
    if missing or unknown:
        what = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is not part of it"
        raise InputError(f"{str(path)!r} does not hold the weights of STCN: {what}")
    if state["value_backbone.conv1.weight"].shape[1] == FRAME_AND_MASKS - 1:
        raise InputError(
            f"{str(path)!r} is of STCN's stage on static images, whose value encoder does not see other objects; "
            "take the weights of a later stage"
        )
    for name, tensor in own.items():
        if state[name].shape != tensor.shape:
            raise InputError(
                f"{str(path)!r} does not hold the weights of STCN: {name!r} is {tuple(state[name].shape)}, "
                f"expected {tuple(tensor.shape)}"
            )
    network.load_state_dict(state)
    return network.eval()


def renamed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The authors' state dict with our names, its BatchNorm folded away."""
    ours: dict[str, Tensor] = {}
    encoders: dict[str, dict[str, Tensor]] = {own: {} for own in BACKBONES.values()}
    for name, tensor in state.items():
        part = next((part for part in PARTS if name.startswith(part)), None)
        encoder = next((encoder for encoder in BACKBONES if name.startswith(encoder)), None)
        if part is not None:
            ours[PARTS[part] + name.removeprefix(part)] = tensor.float()
        elif encoder is not None:
            # the key encoder's first level has STM's name
            inside = name.removeprefix(encoder).replace("res2.", "layer1.")
            encoders[BACKBONES[encoder]][inside] = tensor
        else:
            ours[name] = tensor
    for own, backbone in encoders.items():
        ours |= {own + name: tensor for name, tensor in fold_batchnorm(backbone).items()}
    return ours


def _read(path: Path) -> dict[str, Tensor]:
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise InputError(f"{str(path)!r} is not a file of PyTorch weights") from error
    if isinstance(content, dict) and isinstance(content.get("network"), dict):
        content = content["network"]
    if not isinstance(content, dict) or not all(isinstance(tensor, Tensor) for tensor in content.values()):
        raise InputError(f"expected a state dict in {str(path)!r}, names and tensors, got something else")
    return content
