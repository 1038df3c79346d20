"""Meshes are read with what they look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mobilevos.errors import InputError
from mobilevos.render.meshes import LARGEST_TEXTURE, list_meshes, read_mesh
from tests.builders.meshes import write_card

trimesh = pytest.importorskip("trimesh")


def test_a_mesh_that_names_no_picture_takes_the_one_beside_it(tmp_path: Path) -> None:
    mesh = read_mesh(write_card(tmp_path / "card"))
    assert mesh.name == "card"
    (part,) = mesh.parts
    assert part.texture.shape == (8, 8, 4)
    assert part.texture[0, 0].tolist() == [220, 30, 30, 255]
    assert np.linalg.norm(part.vertices[:, :3], axis=1).max() == pytest.approx(1)
    top = part.vertices[part.vertices[:, 1] > 0]
    assert (top[:, 7] == 1).all()  # v points upwards


def test_parts_of_a_scene_are_where_it_puts_them(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    red, blue = trimesh.creation.box(), trimesh.creation.box()
    red.visual.vertex_colors = [255, 0, 0, 255]
    blue.visual.vertex_colors = [0, 0, 255, 255]
    scene.add_geometry(red)
    scene.add_geometry(blue, transform=trimesh.transformations.translation_matrix([5, 0, 0]))
    scene.export(tmp_path / "two.glb")
    mesh = read_mesh(tmp_path / "two.glb")
    assert mesh.name == "two"
    centres = {tuple(part.vertices[0, 8:11].tolist()): part.vertices[:, 0].mean() for part in mesh.parts}
    assert centres[1.0, 0.0, 0.0] < -0.5 < 0.5 < centres[0.0, 0.0, 1.0]


def test_a_large_picture_is_made_smaller(tmp_path: Path) -> None:
    from PIL import Image

    path = write_card(tmp_path)
    Image.new("RGB", (2 * LARGEST_TEXTURE, LARGEST_TEXTURE), (9, 200, 9)).save(tmp_path / "texture.png")
    assert read_mesh(path).parts[0].texture.shape == (LARGEST_TEXTURE // 2, LARGEST_TEXTURE, 4)


@pytest.mark.parametrize("text", ["", "v 1 1 1\n", "f 1 2 3\n", "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", "\x00\xff"])
def test_what_is_no_mesh_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.obj").write_text(text)
    with pytest.raises(InputError, match=r"bad\.obj"):
        read_mesh(tmp_path / "bad.obj")


def test_hulls_are_left_out(tmp_path: Path) -> None:
    write_card(tmp_path / "b")
    (tmp_path / "b" / "model_collision_0.obj").write_text("v 0 0 0\n")
    write_card(tmp_path / "a")
    assert list_meshes(tmp_path) == [tmp_path / "a" / "model.obj", tmp_path / "b" / "model.obj"]
    with pytest.raises(InputError, match="found none"):
        list_meshes(tmp_path / "a" / ".." / "empty" if (tmp_path / "empty").mkdir() else tmp_path / "empty")
    with pytest.raises(InputError, match="is none"):
        list_meshes(tmp_path / "nowhere")
