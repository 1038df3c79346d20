"""What a run begins with."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from mobilevos.clips import PhotoSource, VideoSource
from mobilevos.errors import InputError
from mobilevos.model.backbones import resnet18
from mobilevos.model.checkpoint import build, save_checkpoint
from mobilevos.model.teacher import STCN
from mobilevos.training.recipe import Loss, Optimizer, Recipe
from mobilevos.training.start import freeze, initial_network, open_sources, untrained_network


def test_freezing(tiny_recipe: Recipe) -> None:
    network = build("mobilenetv2-lite")
    freeze(network, dataclasses.replace(tiny_recipe, optimizer=Optimizer(freeze=4)))
    assert not any(p.requires_grad for p in network.backbone.features[:4].parameters())  # type: ignore[union-attr,index]
    assert all(p.requires_grad for p in network.backbone.features[4:].parameters())  # type: ignore[union-attr,index]


def test_one_part_is_trained_alone(tiny_recipe: Recipe) -> None:
    network = build("mobilenetv2-lite")
    recipe = dataclasses.replace(tiny_recipe, loss=Loss(rating=1.0), optimizer=Optimizer(only="rating"))
    freeze(network, recipe)
    trained = {name.split(".")[0] for name, p in network.named_parameters() if p.requires_grad}
    assert trained == {"rating"}
    with pytest.raises(InputError, match="no part 'ratings'; it has backbone, key"):
        freeze(network, dataclasses.replace(recipe, optimizer=Optimizer(only="ratings")))


def test_a_rating_that_nothing_is_learned_about_is_left_alone(tiny_recipe: Recipe) -> None:
    """Processes that train together wait for the gradients of everything that is trained."""
    network = build("mobilenetv2-lite")
    freeze(network, dataclasses.replace(tiny_recipe, loss=Loss(rating=0.0)))
    assert not any(p.requires_grad for p in network.rating.parameters())  # type: ignore[union-attr]
    assert all(p.requires_grad for p in network.decoder.parameters())  # type: ignore[union-attr]


def test_a_larger_network_grows_from_a_smaller_one(tiny_recipe: Recipe, tmp_path: Path) -> None:
    """mobilenetv2 begins as the mobilenetv2-lite it was made from."""
    lite = build("mobilenetv2-lite").eval()
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    recipe = dataclasses.replace(tiny_recipe, model="mobilenetv2", init=str(tmp_path / "lite.safetensors"))
    grown = initial_network(recipe).eval()
    features = [network.encode(torch.rand(1, 3, 64, 64) * 0 + 99) for network in (lite, grown)]
    readout = torch.randn(1, 1, 64, 4, 4)
    ours, theirs = (n.decode(readout, f) for n, f in zip((lite, grown), features, strict=True))
    torch.testing.assert_close(ours.logits, theirs.logits)
    with pytest.raises(InputError, match="do not fit"):
        initial_network(dataclasses.replace(recipe, model="stcn"))


def test_a_network_of_another_kind_takes_the_value_encoder_and_a_backbone_of_its_own(
    tiny_recipe: Recipe, tmp_path: Path
) -> None:
    lite, trained = build("mobilenetv2-lite"), resnet18()
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    save_file(trained.state_dict(), tmp_path / "key.safetensors")
    recipe = dataclasses.replace(
        tiny_recipe,
        model="resnet18",
        init=str(tmp_path / "lite.safetensors"),
        backbone="key.safetensors",
        weights_root=str(tmp_path),
    )
    network = initial_network(recipe)
    for ours, theirs in ((network.value_backbone, lite.value_backbone), (network.backbone, trained)):
        for name, tensor in theirs.state_dict().items():
            assert torch.equal(ours.state_dict()[name], tensor), name
    with pytest.raises(InputError, match="do not fit"):
        initial_network(dataclasses.replace(recipe, backbone=""))


def test_a_checkpoint_of_the_same_kind_needs_no_backbones(tiny_recipe: Recipe, tmp_path: Path) -> None:
    lite = build("mobilenetv2-lite")
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    recipe = dataclasses.replace(
        tiny_recipe, model="mobilenetv2-lite", init=str(tmp_path / "lite.safetensors"), backbone="missing.safetensors"
    )
    for name, tensor in initial_network(recipe).state_dict().items():
        assert torch.equal(tensor, lite.state_dict()[name])


def test_sources_are_opened_as_the_recipe_says(tiny_recipe: Recipe) -> None:
    """Pictures of 120 x 160 pixels, as they are or smaller; the cut-outs of videos come from the first photos."""
    assert tiny_recipe.sources[1].short_side == 0
    for short_side, height in ((0, 120), (60, 60), (500, 120)):
        sources = [dataclasses.replace(each, short_side=short_side, weight=3.0) for each in tiny_recipe.sources]
        (photos, weight), (videos, _) = open_sources(dataclasses.replace(tiny_recipe, sources=tuple(sources)))
        assert weight == 3
        assert isinstance(photos, PhotoSource)
        assert isinstance(videos, VideoSource)
        assert photos.texture(np.random.default_rng(0)).shape[0] == height
        assert videos.texture(np.random.default_rng(0)).shape[0] == height
        assert videos._cutouts is photos


def test_nothing_is_pasted_where_the_recipe_says_so(tiny_recipe: Recipe) -> None:
    """A clip of one object in a batch of two keeps to its own."""
    rng, config = np.random.default_rng(0), tiny_recipe.phases[0].clip
    found = []
    for paste in (True, False):
        source = dataclasses.replace(tiny_recipe.sources[1], paste=paste)
        ((opened, _),) = open_sources(dataclasses.replace(tiny_recipe, sources=(source,)))
        clips = [opened.sample(rng, dataclasses.replace(config, distractor=0.0, occluder=0.0), 2) for _ in range(6)]
        found.append({int(clip.masks[clip.masks < 255].max()) for clip in clips})
    assert found == [{1, 2}, {1}] or found == [{2}, {1}]


def test_a_teacher_keeps_its_strides(tiny_recipe: Recipe, tmp_path: Path) -> None:
    """Weights that were imported have them elsewhere than those that are trained from Keras' backbone."""
    recipe = dataclasses.replace(tiny_recipe, model="stcn")
    assert untrained_network(recipe).stride_in_1x1
    save_checkpoint(tmp_path / "imported.safetensors", build("stcn", stride_in_1x1=False, top_k=20))
    network = untrained_network(dataclasses.replace(recipe, init=str(tmp_path / "imported.safetensors")))
    assert isinstance(network, STCN)
    assert (network.stride_in_1x1, network.top_k) == (False, None)
