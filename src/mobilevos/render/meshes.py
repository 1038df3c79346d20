"""Textured meshes: OBJ and GLB, as flat arrays that a rasteriser takes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mobilevos.arrays import Array, Image
from mobilevos.datasets.pictures import read_image
from mobilevos.errors import InputError

ENDINGS = (".obj", ".glb", ".gltf")
TEXTURES = ("texture.png", "texture.jpg", "texture.jpeg")
"""Looked for beside a mesh whose file names no picture that is there."""
LARGEST_TEXTURE = 1024
"""Pixels of a side; an object is never shown larger."""
WHITE = np.full((1, 1, 4), 255, np.uint8)


@dataclass(frozen=True)
class Part:
    """One material of a mesh."""

    vertices: Array
    """(V, 12): position, normal, texture coordinates (v upwards), colour with alpha."""
    faces: np.ndarray
    """(F, 3) uint32."""
    texture: Image
    """(H, W, 4)."""


@dataclass(frozen=True)
class Mesh:
    """A thing to be shown, inside of the unit sphere."""

    name: str
    parts: tuple[Part, ...]


def list_meshes(folder: Path) -> list[Path]:
    """All meshes below a folder, in order; collision hulls, which are no pictures of anything, are left out."""
    if not folder.is_dir():
        raise InputError(f"expected a folder of meshes, but {folder} is none")
    found = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and "collision" not in path.name
    )
    if not found:
        raise InputError(f"expected meshes ({', '.join(ENDINGS)}) below {folder}, found none")
    return found


def read_mesh(path: Path) -> Mesh:
    """Read a mesh with its textures."""
    import trimesh

    logging.getLogger("trimesh").setLevel(logging.ERROR)  # it warns of materials that are not there; see `TEXTURES`
    try:
        scene = trimesh.load_scene(path, process=False)
        parts = [
            (scene.geometry[name], np.asarray(transform, np.float64))
            for transform, name in (scene.graph[node] for node in scene.graph.nodes_geometry)
        ]
        parts = [(part, transform) for part, transform in parts if len(getattr(part, "faces", ()))]
        if not parts:
            raise InputError(f"there is nothing to see in the mesh {path}")
        placed = [trimesh.transform_points(part.vertices, transform) for part, transform in parts]
        everything = np.concatenate(placed)
        low, high = everything.min(axis=0), everything.max(axis=0)
        radius = float(np.linalg.norm(everything - (low + high) / 2, axis=1).max())
        if not np.isfinite(radius) or radius == 0:
            raise InputError(f"the mesh {path} has no size")
        made = [
            _part(part, (points - (low + high) / 2) / radius, transform, path)
            for (part, transform), points in zip(parts, placed, strict=True)
        ]
    except InputError:
        raise
    except Exception as error:  # a reader of many formats raises what it likes
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"expected a mesh, but {path} cannot be read as one ({reason[:120]})") from error
    return Mesh(path.parent.name if path.stem == "model" else path.stem, tuple(made))


def _part(part: Any, points: np.ndarray, transform: np.ndarray, path: Path) -> Part:
    count = len(points)
    normals = np.asarray(part.vertex_normals) @ np.linalg.inv(transform[:3, :3])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    uv = getattr(part.visual, "uv", None)
    uv = np.zeros((count, 2)) if uv is None or len(uv) != count else np.asarray(uv)[:, :2]
    colours = np.ones((count, 4))
    if part.visual.kind == "vertex":
        colours = np.asarray(part.visual.vertex_colors, np.float64) / 255
    texture, factor = _material(part.visual, path)
    vertices = np.concatenate([points, normals, uv, colours * factor], axis=1).astype(np.float32)
    return Part(np.nan_to_num(vertices), np.asarray(part.faces, np.uint32), texture)


def _material(visual: Any, path: Path) -> tuple[Image, np.ndarray]:
    """The picture of a material (H, W, 4) and the colour it is multiplied by (4)."""
    material = getattr(visual, "material", None)
    picture = getattr(material, "baseColorTexture", None)
    if picture is None:
        picture = getattr(material, "image", None)
    factor = getattr(material, "baseColorFactor", None)
    if picture is not None and min(picture.size) > 2:  # trimesh puts a tiny picture where it found none
        if max(picture.size) > LARGEST_TEXTURE:
            scale = LARGEST_TEXTURE / max(picture.size)
            picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
        texture = np.asarray(picture.convert("RGBA"))
        return texture, np.ones(4) if factor is None else np.asarray(factor, np.float64) / 255
    beside = next((path.with_name(name) for name in TEXTURES if path.with_name(name).is_file()), None)
    if beside is not None:
        return _opaque(read_image(beside)), np.ones(4)
    colour = factor if factor is not None else getattr(material, "main_color", None)
    return WHITE, np.ones(4) if colour is None or visual.kind == "vertex" else np.asarray(colour, np.float64) / 255


def _opaque(picture: Image) -> Image:
    import cv2

    scale = min(1.0, LARGEST_TEXTURE / max(picture.shape[:2]))
    if scale < 1:
        size = round(picture.shape[1] * scale), round(picture.shape[0] * scale)
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    return np.concatenate([picture, np.full((*picture.shape[:2], 1), 255, np.uint8)], axis=2)
