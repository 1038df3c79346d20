"""BatchNorm statistics of ImageNet weights, estimated anew on the photos a network will be trained on.

BatchNorm is folded into the convolutions when a backbone is loaded, so its statistics have to be right before.

python -m tools.backbone_statistics resnet18.imagenet.to-layer3.safetensors data/duts runs/weights
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mobilevos.clips.photos import PhotoSource
from mobilevos.files import replacing
from mobilevos.model.backbones import BATCHNORM_EPS, norm_of, resnet18
from mobilevos.model.network import IMAGENET_MEAN, IMAGENET_STD


@torch.no_grad()
def reestimated(
    backbone: nn.Module, state: dict[str, Tensor], batches: Iterable[Tensor], eps: float = BATCHNORM_EPS
) -> dict[str, Tensor]:
    """A torchvision state dict with the means and variances that its convolutions really have.

    Args:
        backbone: of the same layer names, without BatchNorm; its weights are overwritten.
        state: weights and BatchNorms.
        batches: normalised pictures (B, 3, H, W); every batch counts the same.
    """
    means: dict[str, list[Tensor]] = {}
    variances: dict[str, list[Tensor]] = {}

    def normalise(norm: str, _module: nn.Module, _inputs: tuple[Tensor, ...], x: Tensor) -> Tensor:
        """BatchNorm as in training: by this batch's own statistics, which are kept."""
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
        means.setdefault(norm, []).append(mean)
        variances.setdefault(norm, []).append(x.var((0, 2, 3)))  # unbiased, as BatchNorm keeps it
        scale = state[f"{norm}.weight"].float() / torch.sqrt(variance + eps)
        shift = state[f"{norm}.bias"].float() - mean * scale
        return x * scale[:, None, None] + shift[:, None, None]

    hooks = []
    for name, module in backbone.named_modules():
        if isinstance(module, nn.Conv2d):
            module.weight.copy_(state[f"{name}.weight"])
            if module.bias is not None:
                module.bias.zero_()
            hooks.append(module.register_forward_hook(partial(normalise, norm_of(name))))
    for batch in batches:
        backbone(batch)
    for hook in hooks:
        hook.remove()
    result = {name: tensor.clone() for name, tensor in state.items()}
    for norm in means:
        result[f"{norm}.running_mean"] = torch.stack(means[norm]).mean(0)
        result[f"{norm}.running_var"] = torch.stack(variances[norm]).mean(0)
    return result


def photo_batches(source: PhotoSource, count: int, side: int = 224, batch: int = 25) -> Iterator[Tensor]:
    """Random photos of a folder, cut to squares and normalised: (batch, 3, side, side) each."""
    import cv2

    rng = np.random.default_rng(0)
    mean, std = (255 * np.array(part, np.float32) for part in (IMAGENET_MEAN, IMAGENET_STD))
    order = rng.permutation(len(source))[:count]
    for start in range(0, len(order) - batch + 1, batch):
        pictures = []
        for index in order[start : start + batch]:
            photo = source.photo(int(index))
            edge = min(photo.shape[:2])
            top, left = (np.array(photo.shape[:2]) - edge) // 2
            pictures.append(cv2.resize(photo[top : top + edge, left : left + edge], (side, side)))
        normal = (np.stack(pictures).astype(np.float32) - mean) / std
        yield torch.from_numpy(normal).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


if __name__ == "__main__":
    import typer

    def main(weights: Path, photos: Path, output: Path, count: int = 4000) -> None:
        """Estimate a ResNet18's statistics on photos; the file of the same name is written to the folder OUTPUT."""
        state = load_file(weights)
        new = reestimated(resnet18(), state, photo_batches(PhotoSource(photos), count))
        output.mkdir(parents=True, exist_ok=True)
        with replacing(output / weights.name) as part:
            save_file(new, part)
        pairs = [(new[n], state[n].float()) for n in new if n.endswith("running_var")]
        ratios = torch.cat([now[then > 0] / then[then > 0] for now, then in pairs])
        print(f"variances: new over old {ratios.quantile(0.05):.3f} to {ratios.quantile(0.95):.3f} (5% to 95%)")

    typer.run(main)
