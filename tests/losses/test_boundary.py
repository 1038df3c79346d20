from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import ndimage

from mobilevos.losses import boundary_mask, sample_pixels


def square(size: int, first: int, last: int) -> torch.Tensor:
    labels = torch.zeros(1, size, size, dtype=torch.uint8)
    labels[:, first : last + 1, first : last + 1] = 1
    return labels


def filled(size: int, first: int, last: int) -> torch.Tensor:
    return square(size, first, last).bool()


def test_square_by_hand() -> None:
    # Rows and columns 3..6 of 10: the edge is 2..7 (just outside, with corners) without the inside 4..5.
    ring = filled(10, 2, 7) & ~filled(10, 4, 5)
    assert torch.equal(boundary_mask(square(10, 3, 6), width=0), ring)
    assert ring.sum() == 32
    # One more on each side: 1..8, and the inside is gone.
    assert torch.equal(boundary_mask(square(10, 3, 6), width=1), filled(10, 1, 8))


def test_wide_band_of_a_large_square() -> None:
    band = boundary_mask(square(64, 20, 49), width=4)
    assert torch.equal(band, filled(64, 19 - 4, 50 + 4) & ~filled(64, 21 + 4, 48 - 4))


def test_labels_and_masks_of_one_object_agree() -> None:
    labels = square(16, 5, 10)
    expected = boundary_mask(labels, width=1)
    for mask in (labels.bool(), labels, labels.float(), labels.bfloat16(), labels.double()):
        assert torch.equal(boundary_mask(mask.unsqueeze(1), width=1), expected)


@pytest.mark.parametrize("label", [0, 1, 255])
def test_flat_ground_truth_has_no_boundary(label: int) -> None:
    assert not boundary_mask(torch.full((2, 9, 9), label, dtype=torch.uint8), width=3).any()


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_flat_mask_has_no_boundary(value: float) -> None:
    assert not boundary_mask(torch.full((2, 1, 9, 9), value), width=3).any()


def test_border_of_the_picture_is_no_boundary() -> None:
    labels = torch.zeros(1, 8, 12, dtype=torch.uint8)
    labels[..., 6:] = 1
    expected = torch.zeros(1, 8, 12, dtype=torch.bool)
    expected[..., 5:7] = True
    assert torch.equal(boundary_mask(labels, width=0), expected)


def test_touching_objects_have_a_boundary() -> None:
    labels = torch.ones(1, 6, 8, dtype=torch.int64)
    labels[..., 4:] = 2
    assert boundary_mask(labels, width=0)[0, 0].int().tolist() == [0, 0, 0, 1, 1, 0, 0, 0]


def test_objects_do_not_cancel_out() -> None:
    # The gradient of these ids is zero at the centre; that of object 1 alone is not.
    labels = torch.tensor([[[0, 0, 2], [1, 0, 0], [0, 1, 0]]])
    assert boundary_mask(labels, width=0)[0, 1, 1]


def test_soft_edges_count_and_rounding_errors_do_not() -> None:
    mask = torch.zeros(1, 1, 5, 9)
    mask[..., 3:] = 1 - 1e-6 * torch.rand(5, 6)
    mask[..., 2] = 1 / 16
    assert boundary_mask(mask, width=0)[0, 2].int().tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0]


def test_void_is_never_selected_but_reached_across() -> None:
    labels = torch.tensor([[[1, 1, 1, 255, 255, 0, 0, 0]]])
    assert boundary_mask(labels, width=2)[0, 0].int().tolist() == [1, 1, 1, 0, 0, 1, 0, 0]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**16), width=st.integers(0, 4), objects=st.integers(0, 3))
def test_against_scipy(seed: int, width: int, objects: int) -> None:
    labels = np.random.default_rng(seed).integers(0, objects + 1, (13, 17))
    edges = np.zeros(labels.shape, bool)
    for label in range(1, objects + 1):
        mask = (labels == label).astype(float)
        edges |= np.hypot(ndimage.sobel(mask, 0, mode="nearest"), ndimage.sobel(mask, 1, mode="nearest")) > 1e-9
    size = 2 * width + 1
    expected = ndimage.maximum_filter(edges, size=size, mode="constant")
    assert np.array_equal(boundary_mask(torch.from_numpy(labels)[None], width)[0].numpy(), expected)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    share=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    count=st.integers(1, 80),
    size=st.tuples(st.integers(1, 7), st.integers(1, 9)),
)
def test_sample_is_valid_distinct_and_complete(seed: int, share: float, count: int, size: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(3, *size, generator=generator) < share
    sample = sample_pixels(mask, count, generator)
    assert sample.indices.shape == sample.valid.shape == (3, count)
    assert sample.indices.min() >= 0
    assert sample.indices.max() < size[0] * size[1]
    for b in range(3):
        chosen = sample.indices[b, sample.valid[b]]
        assert mask[b].flatten()[chosen].all()
        assert len(chosen.unique()) == len(chosen) == min(count, int(mask[b].sum()))


def test_sample_repeats_with_its_generator_only() -> None:
    mask = torch.ones(2, 20, 20, dtype=torch.bool)
    draws = [sample_pixels(mask, 50, torch.Generator().manual_seed(seed)).indices for seed in (1, 1, 2)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_sample_is_uniform() -> None:
    mask = torch.zeros(4000, 2, 5, dtype=torch.bool)
    mask[:, :, 1:] = True
    sample = sample_pixels(mask, 2, torch.Generator().manual_seed(0))
    hits = sample.indices.flatten().bincount(minlength=10)
    assert hits[[0, 5]].sum() == 0
    # 8 pixels, 8,000 draws: 1,000 each, with a standard deviation of about 28.
    assert (hits[hits > 0] - 1000).abs().max() < 130


def test_values_of_the_sample() -> None:
    maps = torch.arange(2 * 3 * 4 * 5).view(2, 3, 4, 5)
    sample = sample_pixels(torch.ones(2, 4, 5, dtype=torch.bool), 6)
    values = sample.of(maps)
    assert values.shape == (2, 6, 3)
    for b in range(2):
        for k, index in enumerate(sample.indices[b].tolist()):
            assert torch.equal(values[b, k], maps[b, :, index // 5, index % 5])


@pytest.mark.parametrize(
    ("truth", "width", "message"),
    [
        (torch.zeros(4, 4), 1, r"\(B, H, W\) or masks \(B, 1, H, W\), got \(4, 4\)"),
        (torch.zeros(1, 2, 4, 4), 1, r"got \(1, 2, 4, 4\)"),
        (torch.zeros(1, 4, 4), 1, "integer labels"),
        (torch.zeros(1, 4, 4).long(), -1, "width of at least 0, got -1"),
    ],
)
def test_bad_ground_truth_is_named(truth: torch.Tensor, width: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        boundary_mask(truth, width)


def test_bad_sampling_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(B, H, W\) of bool, got \(1, 4, 4\) torch.int64"):
        sample_pixels(torch.zeros(1, 4, 4).long(), 3)
    with pytest.raises(ValueError, match="count of at least 1, got 0"):
        sample_pixels(torch.ones(1, 4, 4).bool(), 0)
    with pytest.raises(ValueError, match=r"expected maps \(1, C, H, W\), got \(2, 3, 4, 4\)"):
        sample_pixels(torch.ones(1, 4, 4).bool(), 3).of(torch.zeros(2, 3, 4, 4))


def test_real_boundaries_show_both_classes(shared_data: Path) -> None:
    """Photos whose objects are ringed with void: a band that reaches across it has object and background."""
    for path in sorted((shared_data / "voc-objects" / "masks").glob("*.png"))[:8]:
        labels = torch.from_numpy(np.array(Image.open(path)))[None]
        assert (labels == 255).any()
        band = boundary_mask(labels, width=4)
        assert set(labels[band].unique().tolist()) == set(labels.unique().tolist()) - {255}
        assert band.float().mean() < 0.6
