"""Mistakes that are put into the memory."""

import pytest
import torch

from mobilevos.model.checkpoint import build
from mobilevos.training.spoil import MISTAKES, _shifted, spoiled, with_a_false_positive

NETWORK = build("mobilenetv2-lite")


def squares(batch: int, length: int) -> torch.Tensor:
    """Two objects side by side near a corner."""
    masks = torch.zeros(batch, length, 2, 64, 64)
    masks[:, :, 0, 8:24, 8:20] = 1
    masks[:, :, 1, 8:24, 20:32] = 1
    return masks


def test_one_or_two_frames_of_some_clips() -> None:
    torch.manual_seed(0)
    bad = spoiled(NETWORK, squares(400, 5), 0.3)
    assert bad is not None
    assert bad.shape == (400, 5, 2, 16, 16)
    touched = ~bad.isnan().flatten(2).any(2)  # (B, T)
    assert torch.equal(touched, ~bad.isnan().flatten(2).all(2)), "a frame is spoiled as a whole or not at all"
    assert 90 < touched.any(1).sum() < 150  # 30% of 400, whatever their length
    assert not touched[:, 0].any(), "the first frame is given"
    assert not touched[:, -1].any(), "the last one is not remembered"
    for row in touched[touched.any(1)]:
        frames = row.nonzero().flatten().tolist()
        assert frames in ([1], [2], [3], [1, 2], [2, 3])
    assert {len(row.nonzero()) for row in touched} == {0, 1, 2}


def test_nothing_to_spoil() -> None:
    assert spoiled(NETWORK, squares(4, 5), 0.0) is None
    assert spoiled(NETWORK, squares(4, 2), 1.0) is None
    bad = spoiled(NETWORK, squares(4, 3), 1.0)
    assert bad is not None
    assert not bad[:, 1].isnan().any()


def test_all_mistakes_are_made() -> None:
    torch.manual_seed(0)
    given = NETWORK.given_masks(squares(1, 1)[0])[0]
    bad = spoiled(NETWORK, squares(100, 3), 1.0)
    assert bad is not None
    kinds = set()
    for masks in bad[:, 1]:
        more, less = bool((masks > given).any()), bool((masks < given).any())
        kinds.add("emptied" if not masks.any() else {(1, 1): "moved", (0, 1): "cut", (1, 0): "false"}.get((more, less)))
    assert {"emptied", "moved", "cut", "false"} <= kinds


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_mistake_and_still_a_mask(mistake) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    truth = squares(1, 1)[0, 0, :, ::4, ::4]
    differing = 0
    for _ in range(20):
        given = truth.clone()
        bad = mistake(given)
        assert torch.equal(given, truth), "the truth is left alone"
        assert bad.shape == truth.shape
        assert bad.min() >= 0
        assert bad.sum(0).max() <= 1
        differing += not torch.equal(bad, truth)
    assert differing >= 12  # what is cut out may lie beside the objects


def test_a_false_positive_is_added_far_away() -> None:
    """The objects themselves stay, and one of them has a second place."""
    torch.manual_seed(0)
    truth = squares(1, 1)[0, 0, :, ::4, ::4]
    distances, copies = [], 0
    for _ in range(40):
        bad = with_a_false_positive(truth)
        assert (bad >= truth).all()
        added = bad - truth
        assert not (added.bool() & truth.sum(0).bool()).any()
        assert added.flatten(1).any(1).sum() == 1
        ys, xs = added.sum(0).nonzero(as_tuple=True)
        distances.append(float(((ys - 3.5) ** 2 + (xs - 4.5) ** 2).sqrt().mean()))
        copies += int(added.sum()) == 12 and len(ys.unique()) == 4
    assert min(distances) > 5  # of 16
    assert 4 < copies < 30, "some are whole copies"
    assert with_a_false_positive(torch.zeros(1, 16, 16)).any(), "also of an object that is not there"


def test_shifting_loses_what_leaves() -> None:
    masks = torch.arange(6.0).view(1, 2, 3)
    assert torch.equal(_shifted(masks, 1, -1), torch.tensor([[[0, 0, 0], [1, 2, 0.0]]]))
    assert torch.equal(_shifted(masks, 0, 0), masks)
    assert not _shifted(masks, 5, 0).any()
    assert not _shifted(masks, 0, -3).any()
