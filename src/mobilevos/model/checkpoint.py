"""Networks by name, and their weights in files that say what they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.model.network import VOSNetwork
from mobilevos.model.student import STUDENTS
from mobilevos.model.teacher import STCN

NETWORKS: dict[str, Callable[..., VOSNetwork]] = {**STUDENTS, "stcn": STCN}


def build(variant: str, **options: Any) -> VOSNetwork:
    """An untrained network."""
    if variant not in NETWORKS:
        raise InputError(f"no variant is called {variant!r}; there are {', '.join(sorted(NETWORKS))}")
    return NETWORKS[variant](**options)


def save_checkpoint(
    path: Path | str,
    network: VOSNetwork,
    *,
    recipe: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
    half: bool = False,
) -> None:
    """Write the weights as safetensors with variant, recipe and notes in the metadata."""
    metadata = {
        "format": "mobilevos",
        "variant": network.variant,
        "options": json.dumps(network_options(network)),
        "recipe": json.dumps(recipe or {}),
        "notes": json.dumps(notes or {}),
    }
    state = {
        name: tensor.detach().to("cpu", torch.float16 if half and tensor.ndim > 1 else tensor.dtype).contiguous()
        for name, tensor in network.state_dict().items()
    }
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(save(state, metadata))


def load_checkpoint(path: Path | str) -> VOSNetwork:
    """The network a file holds, in float32 and evaluation mode. A wrong or damaged file gets one clear sentence."""
    metadata, state = read_checkpoint(path)
    network = build(metadata["variant"], **json.loads(metadata.get("options", "{}")))
    own = network.state_dict()
    rating = {name: tensor for name, tensor in own.items() if name.startswith("rating.")}
    if not rating.keys() & state.keys():  # of before there was one: a new one says nothing yet
        state = rating | state
    wrong = sorted(own.keys() ^ state.keys()) or sorted(n for n in own if own[n].shape != state[n].shape)
    if wrong:
        raise InputError(
            f"{str(path)!r} holds weights of another {metadata['variant']!r} network: {wrong[0]!r} does not fit"
        )
    network.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return network.eval()


def read_checkpoint(path: Path | str) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Metadata and tensors of a checkpoint."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no checkpoint at {str(path)!r}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"{str(path)!r} is damaged or not a safetensors file ({error})") from error
    if metadata.get("format") != "mobilevos" or "variant" not in metadata:
        raise InputError(f"{str(path)!r} is a safetensors file, but not one of mobilevos")
    return metadata, state


def network_options(network: VOSNetwork) -> dict[str, Any]:
    """Constructor options that change the network's tensors or their meaning."""
    if isinstance(network, STCN):
        return {"stride_in_1x1": network.stride_in_1x1, "top_k": network.top_k}
    return {"locality": network.read.sharpness is not None}


def digest(path: Path | str) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
