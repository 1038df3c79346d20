"""A grown network says what the narrow one says, until it is trained."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch

from mobilevos.errors import InputError
from mobilevos.model.features import Features
from mobilevos.model.memory import Memory
from mobilevos.model.student import mobilenetv2_lite, resnet18_student
from tools.grow import SIDE, batches, corner, fit, grown, imitate, pictures_in, square, unlikeness


def test_a_corner_knows_nothing_of_what_is_new() -> None:
    small, large = torch.arange(6.0).view(2, 3), torch.full((4, 5), 9.0)
    made = corner(small, large)
    assert torch.equal(made[:2, :3], small)
    assert not made[:2, 3:].any()
    assert (made[2:] == 9).all()


@pytest.mark.slow
def test_the_same_features_give_the_same_masks_and_the_same_rating() -> None:
    """New channels of the features are noise: nothing old may listen to them."""
    torch.manual_seed(0)
    narrow, wide = mobilenetv2_lite().eval(), resnet18_student().eval()
    for network in (narrow, wide):
        network.rating.out.weight.data.normal_()
    torch.nn.init.normal_(wide.decoder.aspp.project.weight)  # of an ASPP that was trained
    frames, masks = torch.rand(1, 3, 64, 96) * 255, torch.rand(1, 2, 16, 24)
    with torch.no_grad():
        grown(narrow, wide)
        known = narrow.encode(frames)
        said = wide.encode(frames)
        joined = Features(
            *(
                torch.cat([old, torch.randn_like(new[:, old.shape[1] :])], 1)
                for old, new in ((getattr(known, f.name), getattr(said, f.name)) for f in fields(Features))
            )
        )
        results = []
        for network, features in ((narrow, known), (wide, joined)):
            values = network.memorise(frames, features, masks)
            memory = Memory(features.key[:, :, None], values[:, :, :, None], torch.ones(1))
            prediction = network.predict(features, memory)
            results.append((values, prediction.logits, network.rate(features, memory, prediction, masks)))
    (values, logits, rating), (wide_values, wide_logits, wide_rating) = results
    torch.testing.assert_close(wide_values[:, :, : values.shape[2]], values, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(wide_logits, logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(wide_rating, rating, rtol=1e-4, atol=1e-4)


def test_unlikeness_is_the_part_of_the_variance_that_is_missed() -> None:
    torch.manual_seed(0)
    wanted = Features(*(torch.randn(4, 3, 8, 8) for _ in fields(Features)))
    assert all(value < 1e-6 for value in unlikeness(wanted, wanted).values())
    constant = wanted.map(lambda x: x.mean((0, 2, 3), keepdim=True).expand_as(x))
    for value in unlikeness(constant, wanted).values():
        assert value == pytest.approx(1, abs=0.01)
    wider = wanted.map(lambda x: torch.cat([x, torch.full_like(x, 99)], 1))
    assert all(value < 1e-6 for value in unlikeness(wider, wanted).values())


@pytest.mark.slow
def test_imitating_brings_features_nearer(tmp_path: Path) -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    for index in range(2):
        (tmp_path / "clip").mkdir(exist_ok=True)
        noise = cv2.resize(rng.integers(0, 255, (9, 12, 3), np.uint8), (320, 288))
        cv2.imwrite(str(tmp_path / "clip" / f"{index}.png"), noise)
    narrow, wide = mobilenetv2_lite().eval(), resnet18_student().eval()
    grown(narrow, wide)
    met: list[float] = []
    imitate(
        narrow,
        wide,
        batches(pictures_in([tmp_path]), 1),
        0.15,
        report=lambda step, missed: met.append(sum(missed.values())),
        every=2,
    )
    assert len(met) >= 2
    assert met[-1] < met[0]


def test_a_fit_finds_what_is_a_linear_function() -> None:
    """Here the narrow one's features are: it has the same backbone."""
    torch.manual_seed(0)
    narrow, wide = mobilenetv2_lite().eval(), mobilenetv2_lite().eval()
    wide.backbone.load_state_dict(narrow.backbone.state_dict())
    pictures = [torch.rand(2, 3, 128, 128) * 255 for _ in range(16)]
    fit(narrow, wide, pictures, ridge=1e-9)
    with torch.no_grad():
        missed = unlikeness(wide.encode(pictures[0]), narrow.encode(pictures[0]))
    assert all(value < 0.02 for value in missed.values()), missed


def test_pictures_of_excluded_folders_are_not_looked_at(tmp_path: Path) -> None:
    for clip in ("seen", "held"):
        (tmp_path / clip).mkdir()
        cv2.imwrite(str(tmp_path / clip / "0.jpg"), np.zeros((8, 8, 3), np.uint8))
    (group,) = pictures_in([tmp_path], ["held"])
    assert [path.parent.name for path in group] == ["seen"]
    with pytest.raises(InputError, match="no pictures"):
        pictures_in([tmp_path], ["held", "seen"])


@pytest.mark.parametrize("shape", [(100, 700, 3), (900, 300, 3), (256, 256, 3)])
def test_squares_have_their_size(shape: tuple[int, int, int]) -> None:
    picture = np.full(shape, 100, np.uint8)
    for seed in range(5):
        assert square(picture, np.random.default_rng(seed)).shape == (SIDE, SIDE, 3)
