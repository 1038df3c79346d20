"""Drawing: OpenGL through moderngl, on a GPU or in software (EGL and llvmpipe), without a window."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mobilevos.arrays import Array, Ids
from mobilevos.errors import InputError
from mobilevos.render.meshes import Mesh, read_mesh
from mobilevos.render.scene import VIEW, Actor, Light

FINER = 2
"""Samples a pixel, in each direction."""
EGL: dict[str, Any] = {"backend": "egl"}
KEPT = 12
"""Meshes that stay ready; the one that was not used for longest makes room."""

VERTEX = """
#version 330
uniform mat3 orientation; uniform vec3 position; uniform float scale; uniform vec3 bend; uniform vec2 lens;
in vec3 in_position; in vec3 in_normal; in vec2 in_uv; in vec4 in_colour;
out vec3 place; out vec3 normal; out vec2 uv; out vec4 colour;
mat2 turn(float angle) { float c = cos(angle), s = sin(angle); return mat2(c, s, -s, c); }
void main() {
    vec3 p = in_position, n = in_normal;
    mat2 a = turn(bend.x * p.x); p.yz = a * p.yz; n.yz = a * n.yz;
    mat2 b = turn(bend.y * p.y); p.zx = b * p.zx; n.zx = b * n.zx;
    mat2 c = turn(bend.z * p.z); p.xy = c * p.xy; n.xy = c * n.xy;
    place = orientation * p * scale + position;
    normal = orientation * n; uv = in_uv; colour = in_colour;
    const float near = 0.05, far = 100.0;
    gl_Position = vec4(place.xy * lens, (-place.z * (far + near) - 2.0 * far * near) / (far - near), -place.z);
}
"""

FRAGMENT = """
#version 330
uniform sampler2D picture; uniform vec3 direction; uniform vec3 sun; uniform vec3 sky; uniform float shine;
uniform float id;
in vec3 place; in vec3 normal; in vec2 uv; in vec4 colour;
layout(location = 0) out vec4 seen; layout(location = 1) out float owner;
void main() {
    vec4 base = texture(picture, uv) * colour;
    if (base.a < 0.5) discard;
    vec3 n = normalize(normal), view = normalize(-place);
    if (dot(n, view) < 0.0) n = -n;
    float lit = max(dot(n, direction), 0.0);
    float glance = shine * pow(max(dot(n, normalize(view + direction)), 0.0), 24.0);
    vec3 light = sky * (0.75 + 0.25 * n.y) + sun * lit;
    seen = vec4(pow(clamp(pow(base.rgb, vec3(2.2)) * light + sun * glance, 0.0, 1.0), vec3(1.0 / 2.2)), 1.0);
    owner = id;
}
"""


@dataclass(frozen=True)
class Drawn:
    """What things look like at a moment."""

    colour: Array
    """(H, W, 4) in [0, 255], multiplied by its alpha."""
    samples: Ids
    """(2 H, 2 W): the id of the thing at each sample, 0 for none."""

    @property
    def ids(self) -> Ids:
        """(H, W): the thing that has most of each pixel; 0 for none."""
        return majority(self.samples)


class Rasteriser:
    """Draws scenes of one size. It belongs to the thread that made it."""

    def __init__(self, height: int, width: int, read: Callable[[Path], Mesh] = read_mesh) -> None:
        import moderngl

        try:
            self._context: Any = moderngl.create_standalone_context(require=330, **EGL)
        except Exception as first:
            try:
                self._context = moderngl.create_standalone_context(require=330)
            except Exception:
                raise InputError(
                    f"OpenGL 3.3 cannot be had here ({' '.join(str(first).split())}); "
                    "without a GPU, Debian's packages libegl1 and libgl1-mesa-dri give it in software"
                ) from first
        self.height, self.width = height, width
        self._read = read
        size = (FINER * width, FINER * height)
        self._colour = self._context.texture(size, 4)
        self._owner = self._context.texture(size, 1)
        depth = self._context.depth_renderbuffer(size)
        self._buffer = self._context.framebuffer([self._colour, self._owner], depth)
        self._program = self._context.program(VERTEX, FRAGMENT)
        self._program["lens"].value = (height / width / np.tan(VIEW / 2), 1 / np.tan(VIEW / 2))
        self._ready: OrderedDict[Path, list[tuple[Any, Any, list[Any]]]] = OrderedDict()
        self._context.enable(moderngl.DEPTH_TEST)

    @property
    def device(self) -> str:
        """What draws."""
        return str(self._context.info["GL_RENDERER"])

    def draw(self, actors: Sequence[Actor], moment: int, light: Light) -> Drawn:
        """The things as they are at a moment."""
        self._buffer.use()
        self._buffer.clear()
        program = self._program
        for name in ("direction", "sun", "sky"):
            program[name].value = tuple(float(value) for value in getattr(light, name))
        program["shine"].value = light.shine
        for actor in actors:
            program["orientation"].write(np.ascontiguousarray(actor.orientations[moment].T, np.float32))
            program["position"].value = tuple(float(value) for value in actor.positions[moment])
            program["bend"].value = tuple(float(value) for value in actor.bends[moment])
            program["scale"].value = actor.scale
            program["id"].value = actor.id / 255
            for geometry, texture, _ in self._upload(actor.mesh):
                texture.use(0)
                geometry.render()
        shape = (FINER * self.height, FINER * self.width)
        colour = np.frombuffer(self._colour.read(), np.uint8).reshape(*shape, 4)[::-1]
        owner = np.frombuffer(self._owner.read(alignment=1), np.uint8).reshape(shape)[::-1]
        size = (self.width, self.height)
        shrunk = cv2.resize(np.ascontiguousarray(colour), size, interpolation=cv2.INTER_AREA)
        return Drawn(shrunk.astype(np.float32), owner)

    def _upload(self, path: Path) -> list[tuple[Any, Any, list[Any]]]:
        if path in self._ready:
            self._ready.move_to_end(path)
            return self._ready[path]
        while len(self._ready) >= KEPT:
            for geometry, texture, buffers in self._ready.popitem(last=False)[1]:
                for thing in (geometry, texture, *buffers):
                    thing.release()
        made = []
        for part in self._read(path).parts:
            texture = self._context.texture(part.texture.shape[1::-1], 4, np.ascontiguousarray(part.texture[::-1]))
            texture.build_mipmaps()
            buffers = [self._context.buffer(part.vertices), self._context.buffer(part.faces)]
            layout = [(buffers[0], "3f 3f 2f 4f", "in_position", "in_normal", "in_uv", "in_colour")]
            made.append((self._context.vertex_array(self._program, layout, buffers[1]), texture, buffers))
        self._ready[path] = made
        return made

    def close(self) -> None:
        """Let go of everything."""
        self._context.release()


def majority(samples: Ids) -> Ids:
    """Of samples (n H, n W) the owner of most of each pixel (H, W); of equals a thing, the smallest id among them."""
    shifted = [samples[i::FINER, j::FINER] for i in range(FINER) for j in range(FINER)]
    best = np.zeros(shifted[0].shape, np.uint8)
    most = np.zeros(shifted[0].shape, np.uint8)
    for i in (*range(1, int(samples.max()) + 1), 0):
        share = np.zeros(best.shape, np.uint8)
        for one in shifted:
            share += one == i
        better = share > most
        best[better], most[better] = i, share[better]
    return best
