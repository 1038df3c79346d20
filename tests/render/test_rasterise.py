"""Pictures of known things: their place, their size, who is in front, and which way is up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.render.rasterise import Rasteriser, majority
from mobilevos.render.scene import VIEW, Actor, Light
from tests.builders.meshes import write_card

pytest.importorskip("trimesh")
pytest.importorskip("moderngl")

LIGHT = Light(np.array([0.0, 0, 1]), np.zeros(3), np.full(3, 1.0), 0.0)
HEIGHT, WIDTH = 100, 160


@pytest.fixture
def rasteriser() -> Iterator[Rasteriser]:
    try:
        made = Rasteriser(HEIGHT, WIDTH)
    except InputError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def card(path: Path, *, id_: int = 1, x: float = 0.0, y: float = 0.0, radius: float = 0.5, scale: float = 1.0) -> Actor:
    """A card that faces the camera; radius: of its corners, of half the picture's height; x, y likewise."""
    away = scale / (radius * np.tan(VIEW / 2))
    unit = np.tan(VIEW / 2) * away
    position = np.array([[x * unit, y * unit, -away]])
    return Actor(id_, path, position, np.eye(3)[None], scale, np.zeros((1, 3)))


def test_place_and_size(rasteriser: Rasteriser, tmp_path: Path) -> None:
    path = write_card(tmp_path)
    ids = rasteriser.draw([card(path, x=0.4, y=0.2, radius=0.5)], 0, LIGHT).ids
    ys, xs = np.nonzero(ids)
    side = 2 * 0.5 / np.sqrt(2) * HEIGHT / 2
    assert ids.sum() == pytest.approx(side**2, rel=0.06)
    assert xs.mean() + 0.5 == pytest.approx(WIDTH / 2 + 0.4 * HEIGHT / 2, abs=0.6)
    assert ys.mean() + 0.5 == pytest.approx(HEIGHT / 2 - 0.2 * HEIGHT / 2, abs=0.6)


def test_up_is_up_and_the_picture_has_its_colours(rasteriser: Rasteriser, tmp_path: Path) -> None:
    drawn = rasteriser.draw([card(write_card(tmp_path), radius=0.8)], 0, LIGHT)
    above, below = drawn.colour[HEIGHT // 2 - 15, WIDTH // 2], drawn.colour[HEIGHT // 2 + 15, WIDTH // 2]
    assert above[0] > 3 * above[2]
    assert below[2] > 3 * below[0]
    assert above[3] == below[3] == 255
    assert drawn.colour[2, 2].tolist() == [0, 0, 0, 0]


def test_the_nearer_thing_is_in_front_whatever_the_order(rasteriser: Rasteriser, tmp_path: Path) -> None:
    path = write_card(tmp_path)
    near, far = card(path, id_=1, radius=0.4, scale=0.5), card(path, id_=2, radius=0.9, scale=3.0)
    for actors in ([near, far], [far, near]):
        ids = rasteriser.draw(actors, 0, LIGHT).ids
        assert ids[HEIGHT // 2, WIDTH // 2] == 1
        assert set(np.unique(ids)) == {0, 1, 2}


def test_limbs_have_the_id_of_their_thing(rasteriser: Rasteriser, tmp_path: Path) -> None:
    path = write_card(tmp_path)
    ids = rasteriser.draw([card(path, id_=7, x=-0.8, radius=0.3), card(path, id_=7, x=0.8, radius=0.3)], 0, LIGHT).ids
    assert set(np.unique(ids)) == {0, 7}
    assert (ids[:, : WIDTH // 2] == 7).any()
    assert (ids[:, WIDTH // 2 :] == 7).any()


def test_bending_changes_the_outline_and_light_the_colours(rasteriser: Rasteriser, tmp_path: Path) -> None:
    path = write_card(tmp_path)
    plain = card(path, radius=0.8)
    bent = Actor(1, path, plain.positions, plain.orientations, plain.scale, np.array([[0.0, 2.0, 0.0]]))
    a, b = (rasteriser.draw([actor], 0, LIGHT) for actor in (plain, bent))
    assert (a.ids != b.ids).sum() > 100
    dim = Light(LIGHT.direction, LIGHT.sun, 0.3 * LIGHT.sky, 0.0)
    assert rasteriser.draw([plain], 0, dim).colour.sum() < 0.9 * a.colour.sum()


def test_many_meshes_take_turns(rasteriser: Rasteriser, tmp_path: Path) -> None:
    """More meshes than stay ready: the first is read again, and looks as it did."""
    paths = [write_card(tmp_path / str(i), upper=(10 * i, 255 - 10 * i, 0)) for i in range(15)]
    colours = [rasteriser.draw([card(path)], 0, LIGHT).colour for path in paths]
    assert not np.array_equal(colours[0], colours[14])
    assert np.array_equal(rasteriser.draw([card(paths[0])], 0, LIGHT).colour, colours[0])


def test_majority() -> None:
    samples = np.array([[1, 1, 0, 2], [1, 0, 2, 2], [0, 0, 3, 0], [1, 1, 3, 0]], np.uint8)
    assert majority(samples).tolist() == [[1, 2], [1, 3]]
