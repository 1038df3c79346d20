"""Backbones: folding, loading, and where they are cut."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from mobilevos.errors import InputError
from mobilevos.model.backbones import MobileNetV2, begin_from_nothing, fold_batchnorm, load_backbone, resnet18, resnet50

FILES = {
    "mobilenet_v2.imagenet.features0-13.safetensors": (MobileNetV2, 1e-5),
    "resnet18.imagenet.to-layer3.safetensors": (resnet18, 1e-5),
    "resnet50.imagenet.to-layer3.safetensors": (lambda: resnet50(stride_in_1x1=True), 1e-3),
}


def with_batchnorm(backbone: nn.Module) -> dict[str, torch.Tensor]:
    """A made-up torchvision checkpoint: the backbone's convolutions without bias, a random BatchNorm after each."""
    state = {}
    for name, tensor in backbone.state_dict().items():
        conv, _, kind = name.rpartition(".")
        if kind != "weight":
            continue
        parent, _, last = conv.rpartition(".")
        norm = ".".join(filter(None, [parent, str(int(last) + 1) if last.isdigit() else last.replace("conv", "bn")]))
        state[name] = torch.randn_like(tensor) * 0.1
        for part in ("weight", "bias", "running_mean"):
            state[f"{norm}.{part}"] = torch.randn(len(tensor))
        state[f"{norm}.running_var"] = torch.rand(len(tensor)) + 0.5
    return state


@pytest.mark.parametrize("bias", [False, True])
def test_folding_is_convolution_then_batchnorm(bias: bool) -> None:
    torch.manual_seed(0)
    conv, norm = nn.Conv2d(3, 5, 3, bias=bias), nn.BatchNorm2d(5).eval()
    for tensor in (norm.weight.data, norm.bias.data, norm.running_mean):
        nn.init.normal_(tensor)  # type: ignore[arg-type]
    nn.init.uniform_(norm.running_var, 0.5, 2)  # type: ignore[arg-type]
    state = {f"conv1.{k}": v for k, v in conv.state_dict().items()} | {
        f"bn1.{k}": v for k, v in norm.state_dict().items()
    }
    folded = fold_batchnorm(state, eps=norm.eps)
    x = torch.randn(1, 3, 8, 8)
    torch.testing.assert_close(F.conv2d(x, folded["conv1.weight"], folded["conv1.bias"]), norm(conv(x)))


@pytest.mark.parametrize("make", [MobileNetV2, resnet18, resnet50])
def test_every_convolution_finds_its_batchnorm(make: type[nn.Module]) -> None:
    backbone = make()
    state = with_batchnorm(backbone)
    folded = fold_batchnorm(state)
    assert folded.keys() == backbone.state_dict().keys()
    assert all(folded[name].abs().sum() > 0 for name in folded if name.endswith("bias"))


@pytest.mark.parametrize(
    ("make", "channels"), [(MobileNetV2, (24, 32, 96)), (resnet18, (64, 128, 256)), (resnet50, (256, 512, 1024))]
)
def test_levels(make: type[nn.Module], channels: tuple[int, int, int]) -> None:
    with torch.device("meta"):
        out = make()(torch.empty(1, 3, 64, 96))
    for level, stride, width in zip((out.f4, out.f8, out.f16), (4, 8, 16), channels, strict=True):
        assert level.shape == (1, width, 64 // stride, 96 // stride)


def test_stride_placement_is_an_option() -> None:
    first = resnet50(stride_in_1x1=True).layer2[0]
    assert (first.conv1.stride, first.conv2.stride) == ((2, 2), (1, 1))
    first = resnet50(stride_in_1x1=False).layer2[0]
    assert (first.conv1.stride, first.conv2.stride) == ((1, 1), (2, 2))


def test_layers_behind_stride_16_are_ignored_and_masks_take_the_mean_colour(tmp_path: Path) -> None:
    state = with_batchnorm(MobileNetV2()) | {"features.14.conv.2.weight": torch.randn(4, 4, 1, 1)}
    save_file(state, tmp_path / "weights.safetensors")
    frames, masks = MobileNetV2(), MobileNetV2(in_channels=2)
    load_backbone(frames, tmp_path / "weights.safetensors")
    load_backbone(masks, tmp_path / "weights.safetensors")
    colours = frames.features[0][0].weight
    torch.testing.assert_close(masks.features[0][0].weight, colours.mean(1, keepdim=True).expand(-1, 2, -1, -1))
    both = resnet18(in_channels=5)
    save_file(with_batchnorm(resnet18()), tmp_path / "resnet.safetensors")
    load_backbone(both, tmp_path / "resnet.safetensors")
    torch.testing.assert_close(
        both.conv1.weight[:, 3:], both.conv1.weight[:, :3].mean(1, keepdim=True).expand(-1, 2, -1, -1)
    )


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read backbone weights"):
        load_backbone(resnet18(), tmp_path / "none.safetensors")
    save_file(with_batchnorm(MobileNetV2()), tmp_path / "weights.safetensors")
    with pytest.raises(InputError, match="does not fit ResNet"):
        load_backbone(resnet18(), tmp_path / "weights.safetensors")


@pytest.mark.parametrize("name", FILES)
def test_real_weights_fold_exactly(shared_data: Path, name: str) -> None:
    """The folded backbone gives what convolutions and BatchNorm of the file give, layer for layer at the stem."""
    path = shared_data.parent / "weights" / name
    make, eps = FILES[name]
    backbone = make()
    load_backbone(backbone, path, eps=eps)
    state = {key: tensor.float() for key, tensor in load_file(path).items()}
    mobile = "features.0.0.weight" in state
    conv, norm = ("features.0.0", "features.0.1") if mobile else ("conv1", "bn1")
    stem = backbone.features[0][0] if mobile else backbone.conv1
    x = torch.randn(1, 3, 32, 32)
    parts = (state[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias"))
    expected = F.batch_norm(F.conv2d(x, state[f"{conv}.weight"], None, stem.stride, stem.padding), *parts, eps=eps)
    torch.testing.assert_close(stem(x), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [MobileNetV2, resnet18, resnet50])
def test_from_nothing_two_pictures_are_still_told_apart_at_the_end(make: Callable[[], nn.Module]) -> None:
    """With torch's own first weights next to nothing of their difference is left."""
    torch.manual_seed(0)
    backbone, pictures = make(), torch.randn(2, 3, 64, 64)

    @torch.no_grad()
    def apart() -> float:
        f16 = backbone(pictures).f16
        return float((f16[0] - f16[1]).std())

    assert apart() < 0.1
    begin_from_nothing(backbone)
    assert 0.5 < apart() < 5
