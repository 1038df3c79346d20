"""What the authors' own code makes of the weights and the clip of `tests/builders/stcn.py`: stcn_reference.json.

    git clone https://github.com/hkchengrex/STCN
    python -m tests.model.stcn_reference STCN

runs their `model/network.py` (commit eb83102) as they train it: each frame is segmented from all frames before it, with
the masks that came out. torchvision is not needed: its ResNet50 is their own `mod_resnet` without biases, which has the
same layers and names. The second line of output compares the same with weights of their own initialisation.
"""

import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mobilevos.model.aggregation import aggregate
from mobilevos.model.import_stcn import import_stcn
from mobilevos.model.network import upsample
from mobilevos.training.unroll import unroll
from tests.builders.stcn import stcn_clip, stcn_state

EVERY = 16
"""Of the pixels of the logits, so many apart in both directions are kept."""


def ours(path: Path) -> Tensor:
    """Logits (T - 1, 1 + N, H, W) of the imported network, at full size."""
    frames, masks = stcn_clip()
    with torch.no_grad():
        logits = unroll(import_stcn(path), frames, masks, queue=None).logits[0]
    return aggregate(upsample(logits[:, 1:], 4))


def authors_network(checkout: Path) -> nn.Module:
    """Theirs, with weights of its own initialisation."""
    sys.path.insert(0, str(checkout))
    torchvision, models = types.ModuleType("torchvision"), types.ModuleType("torchvision.models")
    torchvision.models = models  # type: ignore[attr-defined]
    sys.modules |= {"torchvision": torchvision, "torchvision.models": models}
    from model import mod_resnet  # type: ignore[import-not-found]

    make: Callable[..., nn.Module] = mod_resnet.resnet18

    def resnet50(pretrained: bool = True) -> nn.Module:
        network: nn.Module = mod_resnet.resnet50(pretrained=False)
        for module in network.modules():
            if isinstance(module, nn.Conv2d):
                module.bias = None
        return network

    models.resnet50 = resnet50  # type: ignore[attr-defined]
    mod_resnet.resnet18 = lambda pretrained=True, extra_chan=1: make(pretrained=False, extra_chan=extra_chan)
    from model.network import STCN  # type: ignore[import-not-found]

    network: nn.Module = STCN(single_object=False).eval()
    return network


@torch.no_grad()
def theirs(network: Any) -> Tensor:
    """Logits (T - 1, 1 + N, H, W)."""
    frames, masks = stcn_clip()
    mean, std = (torch.tensor(x).view(3, 1, 1) for x in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    frames = (frames / 255 - mean) / std
    key, thin, f16, f8, f4 = network("encode_key", frames)

    def remember(t: int, seen: Tensor) -> Tensor:
        one, two = seen[:, :1], seen[:, 1:]
        pairs = ((one, two), (two, one))
        return torch.stack([network("encode_value", frames[:, t], f16[:, t], *pair) for pair in pairs], 1)

    values, found, both = remember(0, masks[:, 0]), [], torch.ones(1, 2)
    for t in range(1, frames.shape[1]):
        query = key[:, :, t], thin[:, t], f8[:, t], f4[:, t]
        logits, seen = network("segment", *query, key[:, :, :t], values, both)
        found.append(logits[0])
        values = torch.cat([values, remember(t, seen)], 3)
    return torch.stack(found)


def main() -> None:
    network = authors_network(Path(sys.argv[1]))
    files = Path("stcn-random.pth"), Path("stcn-own.pth")
    torch.save(network.state_dict(), files[1])
    own = theirs(network)
    torch.save(stcn_state(), files[0])
    network.load_state_dict(stcn_state())
    reference = theirs(network)
    for file, expected in zip(files, (reference, own), strict=True):
        print(f"{file}: differs by at most {(ours(file) - expected).abs().max():.2g} of {expected.abs().max():.3g}")
    kept = reference[..., 5::EVERY, 5::EVERY]
    text = json.dumps({"shape": list(kept.shape), "logits": [round(x, 5) for x in kept.flatten().tolist()]})
    Path(__file__).with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
