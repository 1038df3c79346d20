"""What changes in the course of a run."""

import pytest

from mobilevos.training.recipe import Loss, Phase, Recipe
from mobilevos.training.schedule import current_phase, drawn_queue, iteration_seed, kept_pixels


def test_phases_follow_each_other() -> None:
    phases = Phase(until=0.4), Phase(until=0.8), Phase(until=1.0)
    recipe = Recipe("run", "stcn", (), phases=phases)
    assert [phases.index(current_phase(recipe, progress)) for progress in (0, 0.39, 0.4, 0.8, 1)] == [0, 0, 1, 2, 2]


def test_iterations_draw_the_same_in_every_process() -> None:
    """A number that another process, with another seed for the hashes of texts, came to."""
    assert iteration_seed(0, 4, 1) == 6386913792515786535
    assert len({iteration_seed(*each) for each in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))}) == 4


def test_one_of_several_queues_is_drawn() -> None:
    assert drawn_queue(None, 0, 5) is None
    assert drawn_queue(3, 0, 5) == 3
    drawn = [drawn_queue((2, 3, 5), 7, i) for i in range(300)]
    assert drawn == [drawn_queue((2, 3, 5), 7, i) for i in range(300)]
    assert drawn != [drawn_queue((2, 3, 5), 8, i) for i in range(300)]
    assert all(70 < drawn.count(queue) < 130 for queue in (2, 3, 5))


def test_bootstrapping_sets_in() -> None:
    loss = Loss(keep=0.2, keep_from=0.1, keep_to=0.5)
    assert [kept_pixels(loss, progress) for progress in (0.0, 0.1, 0.3, 0.5, 1.0)] == pytest.approx(
        [1, 1, 0.6, 0.2, 0.2]
    )
