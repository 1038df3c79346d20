"""Clips of meshes that move and turn before photos or footage, with exact masks: what BL30K was made for.

`mobilevos render` is its face. Needs trimesh to read meshes and moderngl to draw them, on a GPU or without one.
"""

from mobilevos.render.run import RenderConfig, render

__all__ = ["RenderConfig", "render"]
