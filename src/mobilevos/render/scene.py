"""What a clip shows: which things, how they move, turn and bend, and the light on them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mobilevos.render.splines import any_rotation, rotation, spline, turns

VIEW = np.deg2rad(40.0)
"""The camera's angle from the top of the picture to the bottom."""
SMALLEST, LARGEST = 0.12, 0.9
"""Radius of a thing in the picture, of half the picture's height."""
MOST_GROWN = 4.0
"""Times a thing may become larger or smaller in a clip."""
ALIKE = 0.3
"""Share of the further things that are the same mesh as the first: look-alikes."""
MOST_BENT = 0.5
"""Radians by which the ends of a thing are turned against its middle."""
JOINTED = 0.35
"""Share of the things that have limbs: further meshes that swing about a joint and belong to the thing."""


@dataclass(frozen=True)
class Actor:
    """A thing, or a limb of one, over T moments."""

    id: int
    """Of the thing; its limbs have the same."""
    mesh: Path
    positions: np.ndarray
    """(T, 3): x to the right, y up, z towards the viewer; the camera is at the origin and looks along -z."""
    orientations: np.ndarray
    """(T, 3, 3)."""
    scale: float
    bends: np.ndarray
    """(T, 3): radians a unit of length by which it is twisted about x, y and z."""


@dataclass(frozen=True)
class Light:
    """A sky and a sun."""

    direction: np.ndarray
    """Towards the sun (3)."""
    sun: np.ndarray
    sky: np.ndarray
    """Colours (3), linear; 1 is white."""
    shine: float


@dataclass(frozen=True)
class Scene:
    """A clip of F frames, each of them `blur` moments: their mean is the picture, the middle one has the mask."""

    actors: tuple[Actor, ...]
    light: Light
    blur: int
    camera: np.ndarray
    """(F, 3): place of the view on the background: x, y in [0, 1] of the room there is, and zoom, at least 1."""


def draw_scene(
    rng: np.random.Generator, meshes: list[Path], frames: int, aspect: float, objects: tuple[int, int], blurred: float
) -> Scene:
    """A scene of `objects` (fewest, most) things; blurred: the share of clips with motion blur."""
    blur = 3 if rng.random() < blurred else 1
    moments = frames * blur
    # the moments of a frame fill half of the time to the next one, as a shutter of 180 degrees does
    at = (np.arange(frames)[:, None] + np.linspace(-0.25, 0.25, blur)[None] * (blur > 1)).reshape(moments)
    at = at / max(1, frames - 1)
    count = int(rng.integers(objects[0], objects[1] + 1))
    chosen = [meshes[int(rng.integers(len(meshes)))]]
    while len(chosen) < count:
        chosen.append(chosen[0] if rng.random() < ALIKE else meshes[int(rng.integers(len(meshes)))])
    pace = float(rng.lognormal(0, 0.5))
    actors: list[Actor] = []
    for i, mesh in enumerate(chosen, 1):
        body = _actor(rng, i, mesh, at, frames, aspect, pace)
        limbs = int(rng.integers(1, 3)) if rng.random() < JOINTED else 0
        actors += [body, *(_limb(rng, body, meshes[int(rng.integers(len(meshes)))], at, frames) for _ in range(limbs))]
    direction = rng.normal(size=3) * [1, 1, 0.5] + [0, 0.8, 0.8]
    tint = 1 + rng.uniform(-0.12, 0.12, 3)
    light = Light(
        direction / np.linalg.norm(direction),
        rng.uniform(0.3, 1.1) * tint,
        rng.uniform(0.25, 0.8) * (2 - tint),
        float(rng.uniform(0, 0.3)),
    )
    knots = np.concatenate([rng.uniform(0, 1, (6, 2)), rng.uniform(1.0, 1.3, (6, 1))], axis=1)
    still = rng.random() < 0.3
    camera = spline(np.repeat(knots[:1], 6, axis=0) if still else knots, np.arange(frames) / max(1, frames - 1))
    return Scene(tuple(actors), light, blur, camera)


def _actor(
    rng: np.random.Generator, id_: int, mesh: Path, at: np.ndarray, frames: int, aspect: float, pace: float
) -> Actor:
    """A thing on its way: knots of its path about ten frames apart."""
    knots = _knots(frames)
    reach = 1.15 if rng.random() < 0.25 else 0.75  # some leave the picture, and may come back
    # a path over the picture: a walk that is pulled back to the middle
    walk = np.zeros((knots, 2))
    walk[0] = rng.uniform(-0.6, 0.6, 2)
    for i in range(1, knots):
        walk[i] = 0.85 * walk[i - 1] + rng.normal(size=2) * 0.35 * pace
    place = reach * np.tanh(spline(walk, at) / reach)
    size = np.log(rng.uniform(SMALLEST * 1.5, LARGEST * 0.8))
    grown = spline(np.cumsum(rng.normal(size=(knots, 1)) * 0.25 * pace, axis=0), at)[:, 0]
    half = np.log(MOST_GROWN) / 2
    radius = np.exp(np.clip(size + half * np.tanh(grown / half), np.log(SMALLEST), np.log(LARGEST)))
    scale = float(rng.uniform(0.6, 1.6))
    distance = scale / (radius * np.tan(VIEW / 2))
    extent = np.tan(VIEW / 2) * distance
    positions = np.stack([place[:, 0] * aspect * extent, place[:, 1] * extent, -distance], axis=1)
    # an upright start more often than not: things stand on their feet
    start = any_rotation(rng) if rng.random() < 0.5 else turns(np.array([[0, rng.uniform(0, 7), 0], [0, 0, 0]]), 1)[1]
    speed = rng.normal(size=(knots, 3)) * rng.uniform(0.02, 0.14) * pace
    step = at[1] - at[0] if len(at) > 1 else 0.0
    steps = np.diff(at, append=at[-1] + step)[:, None] * max(1, frames - 1)
    orientations = turns(spline(speed, at) * steps, 1.0) @ start
    bent = rng.random() < 0.5
    bends = spline(rng.normal(size=(knots, 3)) * MOST_BENT * 0.6, at) if bent else np.zeros((len(at), 3))
    return Actor(id_, mesh, positions, orientations, scale, np.clip(bends, -MOST_BENT, MOST_BENT))


def _limb(rng: np.random.Generator, body: Actor, mesh: Path, at: np.ndarray, frames: int) -> Actor:
    """A mesh that hangs on a body by a joint, and swings about it."""
    joint, arm = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, 3)))
    scale = body.scale * float(rng.uniform(0.4, 0.9))
    swing = spline(rng.normal(size=(_knots(frames), 3)) * rng.uniform(0.3, 1.5), at)
    swung = body.orientations @ np.stack([rotation(vector) for vector in swing])
    centre = body.orientations @ joint * 0.5 * body.scale + swung @ arm * 0.5 * scale
    start = any_rotation(rng)
    return Actor(body.id, mesh, body.positions + centre, swung @ start, scale, np.zeros((len(at), 3)))


def _knots(frames: int) -> int:
    """Knots of a path: about ten frames apart."""
    return max(4, frames // 10 + 3)
