"""Marks as the network learned to read them."""

import numpy as np
import pytest

from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.prompts import draw_box, draw_clicks, learned_radius, mark_radius
from mobilevos.tracking.window import MOST_ZOOM
from mobilevos.weights import WORKING_SIZE


@pytest.mark.parametrize(("height", "width"), [(480, 854), (1080, 1920), (1920, 1080), (2160, 3840), (360, 360)])
def test_a_click_is_as_large_as_in_training(height: int, width: int) -> None:
    """Through every window, to within a factor of 1.6: three times as large, one click gave an overlap of 0.08."""
    whole = Geometry.fit(height, width, WORKING_SIZE, windowed=True)
    learned = learned_radius(256), learned_radius(320)
    for zoom in (1.0, 1.5, MOST_ZOOM):
        seen = mark_radius(height, width) * whole.window(width / 2, height / 2, zoom).scale
        assert min(learned) / 1.6 < seen < max(learned) * 1.6


def test_clicks_are_discs() -> None:
    mark = draw_clicks(300, 500, [(100, 50), (400, 250)])
    assert mark.sum() == pytest.approx(2 * np.pi * mark_radius(300, 500) ** 2, rel=0.2)
    assert mark[50, 100] == mark[250, 400] == 1


def test_a_box_is_cut_at_the_border() -> None:
    assert draw_box(10, 20, (-5, 4, 8, 30)).sum() == 3 * 6
