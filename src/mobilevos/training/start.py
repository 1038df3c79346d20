"""What a run begins with: the network of its recipe, the teacher, and where its clips come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from torch import Tensor

from mobilevos.clips import ClipSource, PhotoSource, VideoSource
from mobilevos.clips.layers import Layer
from mobilevos.errors import InputError
from mobilevos.model.backbones import MobileNetV2, begin_from_nothing, load_backbone
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.model.teacher import STCN
from mobilevos.training.recipe import DataSource, Recipe
from mobilevos.weights import find_checkpoint


def untrained_network(recipe: Recipe) -> VOSNetwork:
    """The network of a recipe, with random weights. Where an STCN has its strides is up to what it begins with."""
    if recipe.model != STCN.variant:
        return build(recipe.model, locality=recipe.locality)
    stored = read_checkpoint(find_checkpoint(recipe.init))[0] if recipe.init else {}
    options = json.loads(stored.get("options", "{}")) if stored.get("variant") == STCN.variant else {}
    return build(recipe.model, **{name: options[name] for name in ("stride_in_1x1",) if name in options})


def initial_network(recipe: Recipe) -> VOSNetwork:
    """The network a stage begins with: a checkpoint, or ImageNet backbones and the rest from scratch, or nothing.

    A checkpoint may be of a related variant: what fits is taken over (`mobilenetv2` grows from `mobilenetv2-lite`,
    `resnet18` takes the value encoder of either and gets its key encoder from ImageNet).
    """
    network = untrained_network(recipe)
    own = network.state_dict()
    fitting: dict[str, Tensor] = {}
    if recipe.init:
        _, state = read_checkpoint(find_checkpoint(recipe.init))
        fitting = {name: t.float() for name, t in state.items() if name in own and own[name].shape == t.shape}
    wanted = set(own)
    prefixes = {module: f"{name}." for name, module in network.named_modules()}
    for backbone, file in ((network.backbone, recipe.backbone), (network.value_backbone, recipe.value_backbone)):
        names = {name for name in own if name.startswith(prefixes[backbone])}
        if file and not names <= fitting.keys():
            load_backbone(backbone, Path(recipe.weights_root) / file, eps=1e-3 if "resnet50" in file else 1e-5)
            wanted -= names
        elif not recipe.init:
            begin_from_nothing(backbone)
    if recipe.init and len(wanted & fitting.keys()) < len(wanted) / 2:
        raise InputError(f"the weights of {recipe.init!r} do not fit a {recipe.model!r}")
    network.load_state_dict(fitting, strict=False)
    return network


def freeze(network: VOSNetwork, recipe: Recipe) -> None:
    """Leave out of the training what the recipe says, and the rating where nothing is learned about it."""
    backbone, settings = network.backbone, recipe.optimizer
    blocks = list(backbone.features) if isinstance(backbone, MobileNetV2) else list(backbone.children())
    for block in blocks[: settings.freeze]:
        block.requires_grad_(False)
    if settings.only and settings.only not in (parts := [name for name, _ in network.named_children()]):
        raise InputError(f"a {recipe.model!r} has no part {settings.only!r}; it has {', '.join(parts)}")
    for name, part in network.named_children():
        if (settings.only and name != settings.only) or (name == "rating" and not recipe.loss.rating):
            part.requires_grad_(False)
    if settings.only:
        for parameter in network.parameters(recurse=False):
            parameter.requires_grad_(False)


def load_teacher(recipe: Recipe) -> VOSNetwork | None:
    """The frozen network that is learned from, where the recipe names one."""
    if not recipe.teacher.checkpoint:
        return None
    return load_checkpoint(find_checkpoint(recipe.teacher.checkpoint)).requires_grad_(False)


class Nothing:
    """Where objects to paste come from if none are to be pasted."""

    def cutout(self, rng: np.random.Generator) -> Layer | None:
        return None

    def texture(self, rng: np.random.Generator) -> np.ndarray:
        return np.full((64, 64, 3), 127, np.uint8)


def open_sources(recipe: Recipe) -> list[tuple[ClipSource, float]]:
    """The datasets of a recipe; objects to paste into clips come from the first folder of photos."""
    root = Path(recipe.data_root)
    photos = {
        source: PhotoSource(root / source.root, short_side=source.short_side or None)
        for source in recipe.sources
        if source.kind == "photos"
    }
    videos = {
        source: VideoSource(
            source.kind,
            root / source.root,
            split=source.split,
            exclude=source.exclude,
            cutouts=next(iter(photos.values()), None) if source.paste else Nothing(),
            short_side=source.short_side or None,
        )
        for source in recipe.sources
        if source.kind != "photos"
    }
    opened: dict[DataSource, ClipSource] = {**photos, **videos}
    return [(opened[source], source.weight) for source in recipe.sources]
