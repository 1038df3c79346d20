"""What the network says of its own masks against what they are worth."""

import torch

from mobilevos.arrays import VOID
from mobilevos.losses import rating_loss


def planes() -> tuple[torch.Tensor, torch.Tensor]:
    """Two objects: a mask that covers half of the first, and nothing of the second where there is nothing."""
    labels = torch.zeros(1, 8, 8, dtype=torch.uint8)
    labels[:, :4] = 1
    predicted = torch.zeros(1, 8, 8, dtype=torch.long)
    predicted[:, :2] = 1
    return predicted, labels


def test_the_best_rating_is_the_overlap() -> None:
    predicted, labels = planes()
    ratings = torch.zeros(1, 2, requires_grad=True)
    rating_loss(ratings, predicted, labels).backward()
    assert ratings.grad is not None
    torch.testing.assert_close(ratings.grad, torch.zeros(1, 2))  # a half, and no mask of the second object


def test_a_mask_of_what_is_not_there_is_worth_nothing() -> None:
    predicted, labels = planes()
    predicted[:, 6:] = 2
    low, high = (rating_loss(torch.tensor([[0.0, second]]), predicted, labels) for second in (-9.0, 9.0))
    assert low < high - 4


def test_void_counts_neither_way() -> None:
    predicted, labels = planes()
    labels[:, 2:4] = VOID
    assert rating_loss(torch.full((1, 2), 12.0), predicted, labels) < 1e-4


def test_without_masks_there_is_nothing_to_learn() -> None:
    predicted, labels = planes()
    assert rating_loss(torch.full((1, 2), 5.0), torch.zeros_like(predicted), labels) == 0
