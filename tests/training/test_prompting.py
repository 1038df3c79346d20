"""Prompts as people give them: a guess, a second look, one more click."""

import torch

from mobilevos.arrays import VOID
from mobilevos.tracking.prompts import learned_radius
from mobilevos.training.prompting import clicked, guess
from tests.training.clips import trained


def labels() -> torch.Tensor:
    """One object, 32 pixels wide, in a picture of 64 x 64."""
    plane = torch.zeros(1, 64, 64, dtype=torch.uint8)
    plane[:, 16:48, 16:48] = 1
    return plane


def nothing(objects: int = 1) -> torch.Tensor:
    return torch.zeros(1, 2, objects, 64, 64, dtype=torch.uint8)


def center(mark: torch.Tensor) -> tuple[float, float]:
    y, x = torch.nonzero(mark, as_tuple=True)
    return float(x.float().mean()), float(y.float().mean())


def test_what_is_missing_gets_a_plus_in_its_middle() -> None:
    predicted = torch.zeros(1, 16, 16, dtype=torch.long)
    predicted[:, 4:12, 4:7] = 1  # the left three of eight columns
    marks = clicked(nothing(), predicted, labels())
    assert not marks[:, 1].any()
    x, y = center(marks[0, 0, 0])
    assert 32 < x < 44
    assert 24 < y < 40
    assert abs(int(marks.sum()) - 3.14 * learned_radius(64) ** 2) < 4


def test_what_is_too_much_gets_a_minus() -> None:
    predicted = torch.zeros(1, 16, 16, dtype=torch.long)
    predicted[:, 4:12, 4:16] = 1
    marks = clicked(nothing(), predicted, labels())
    assert not marks[:, 0].any()
    x, y = center(marks[0, 1, 0])
    assert 50 < x < 62
    assert 18 < y < 46


def test_nothing_is_clicked_where_nothing_is_known_or_wrong() -> None:
    truth = labels()
    predicted = (truth[..., 1::4, 1::4] == 1).long()
    assert not clicked(nothing(), predicted, truth).any()
    truth[:, :, 40:] = VOID
    predicted[:, :, 10:] = 1
    assert not clicked(nothing(), predicted, truth).any()


def test_earlier_marks_stay_and_the_prompts_that_came_are_left_alone() -> None:
    marks = nothing()
    marks[0, 0, 0, 20, 20] = 1
    more = clicked(marks, torch.zeros(1, 16, 16, dtype=torch.long), labels())
    assert int(marks.sum()) == 1
    assert int(more.sum()) > 1
    assert more[0, 0, 0, 20, 20] == 1


def test_each_object_gets_its_own_click() -> None:
    truth = labels()
    truth[:, :8, :8] = 2
    marks = clicked(nothing(2), torch.zeros(1, 16, 16, dtype=torch.long), truth)
    assert center(marks[0, 0, 0]) != center(marks[0, 0, 1])
    assert marks[0, 0, 1].any()


def test_the_second_look_knows_the_first() -> None:
    torch.manual_seed(0)
    network = trained()
    frames = torch.rand(1, 3, 64, 64) * 255
    marks = nothing()
    marks[0, 0, 0, 30:34, 30:34] = 1
    with torch.no_grad():
        features = network.encode(frames)
        first = guess(network, frames, features, marks)
        again = guess(network, frames, features, marks, network.own_masks(first.logits), rate=True)
        other = guess(network, frames, features, marks, 1 - network.own_masks(first.logits))
    assert first.rating is None
    assert again.rating is not None
    assert again.rating.shape == (1, 1)
    assert not torch.allclose(first.logits, again.logits)
    assert not torch.allclose(other.logits, again.logits)
