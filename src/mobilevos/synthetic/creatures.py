"""The painted animals of the synthetic clip: outline, colour and relief, made from nothing.

Everything lives on a square canvas of SIZE x SIZE pixels that spans [-EXTENT, EXTENT] in both directions, x to the
right and y down; an animal is about one unit in radius.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np

SIZE = 384
EXTENT = 1.25

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Creature:
    """An animal at rest."""

    distance: np.ndarray
    """(SIZE, SIZE) float32: the signed distance to the outline in units, negative inside."""
    colour: np.ndarray
    """(SIZE, SIZE, 3) uint8 RGB."""
    slope: np.ndarray
    """(SIZE, SIZE, 2) float32: the slope of the relief in x and y, for shading."""
    wave: float
    """How far its body waves as it swims, in units."""
    twist: float
    """How far its outside turns against its middle, in radians."""
    spin: float
    """How far it turns, in radians; 0 for one that keeps its head in front."""


def smooth_noise(rng: np.random.Generator, height: int, width: int, cell: float, octaves: int = 4) -> np.ndarray:
    """Clouds (height, width) float32 of zero mean, about -1..1; cell: the size of the largest blobs in pixels."""
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        step = max(1.0, cell / 2**octave)
        grid = rng.standard_normal((int(height / step) + 3, int(width / step) + 3)).astype(np.float32)
        full = cv2.resize(grid, None, fx=step, fy=step, interpolation=cv2.INTER_CUBIC)
        total += full[:height, :width] * 0.55**octave
    return total * 0.5


def paint(kind: int, rng: np.random.Generator) -> Creature:
    """A fish, a star or a turtle, in turn; from the fourth on in other colours."""
    creature = (_fish, _star, _turtle)[kind % 3](rng)
    return replace(creature, colour=_turn_hue(creature.colour, 67 * (kind // 3)))


def _grid() -> tuple[np.ndarray, np.ndarray]:
    line = ((np.arange(SIZE, dtype=np.float32) + 0.5) / SIZE * 2 - 1) * EXTENT
    return np.broadcast_to(line, (SIZE, SIZE)), np.broadcast_to(line[:, None], (SIZE, SIZE))


def _ellipse(cx: float, cy: float, rx: float, ry: float, angle: float = 0.0) -> np.ndarray:
    x, y = _grid()
    c, s = np.cos(angle), np.sin(angle)
    u, v = (x - cx) * c + (y - cy) * s, (y - cy) * c - (x - cx) * s
    return (u / rx) ** 2 + (v / ry) ** 2 < 1


def _polygon(*points: tuple[float, float]) -> np.ndarray:
    canvas = np.zeros((SIZE, SIZE), np.uint8)
    pixels = (np.array(points) / EXTENT + 1) / 2 * SIZE
    cv2.fillPoly(canvas, [pixels.round().astype(np.int32)], 1)
    return canvas.astype(bool)


def _outline(inside: np.ndarray, rounding: float) -> np.ndarray:
    """Round the corners of a shape (SIZE, SIZE) bool and return the signed distance to its outline."""
    sigma = rounding / EXTENT / 2 * SIZE
    inside = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), sigma) > 0.5
    outer = cv2.distanceTransform((~inside).astype(np.uint8), cv2.DIST_L2, 5)
    inner = cv2.distanceTransform(inside.astype(np.uint8), cv2.DIST_L2, 5)
    return cv2.GaussianBlur(outer - inner, (0, 0), 1.5) * (2 * EXTENT / SIZE)


def _relief(distance: np.ndarray, thickness: float, bumps: np.ndarray) -> np.ndarray:
    """The slope of a body blown up to a thickness, with bumps (SIZE, SIZE) on it."""
    flat = 1 - np.clip(-distance / thickness, 0, 1)
    height = thickness * np.sqrt(1 - flat**2) + bumps
    height = cv2.GaussianBlur(height.astype(np.float32), (0, 0), 2.5)
    pixel = 2 * EXTENT / SIZE
    return np.dstack([np.gradient(height, axis=1), np.gradient(height, axis=0)]).astype(np.float32) / pixel


def _mix(base: np.ndarray, colour: Colour, weight: np.ndarray) -> np.ndarray:
    return base + (np.array(colour, np.float32) - base) * np.clip(weight, 0, 1)[..., None].astype(np.float32)


def _soft(value: np.ndarray, width: float) -> np.ndarray:
    """0 to 1 as the value goes from -width to width."""
    t = np.clip(value / (2 * width) + 0.5, 0, 1)
    return t * t * (3 - 2 * t)


def _bytes(colour: np.ndarray) -> np.ndarray:
    return np.clip(colour + 0.5, 0, 255).astype(np.uint8)


def _turn_hue(colour: np.ndarray, degrees: int) -> np.ndarray:
    hsv = cv2.cvtColor(colour, cv2.COLOR_RGB2HSV_FULL)
    hsv[..., 0] += np.uint8(degrees * 256 // 360 % 256)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL) if degrees else colour


def _fish(rng: np.random.Generator) -> Creature:
    x, y = _grid()
    body = _ellipse(0.16, 0, 0.78, 0.44)
    tail = _polygon((-0.45, -0.12), (-1.08, -0.46), (-0.9, 0), (-1.08, 0.46), (-0.45, 0.12))
    fins = _polygon((0.35, -0.3), (-0.05, -0.66), (-0.4, -0.55), (-0.35, -0.15))
    fins |= _polygon((0.1, 0.3), (-0.15, 0.62), (-0.38, 0.48), (-0.3, 0.15))
    distance = _outline(body | tail | fins, 0.035)
    noise = smooth_noise(rng, SIZE, SIZE, 50)

    colour = np.empty((SIZE, SIZE, 3), np.float32)
    colour[:] = (244, 122, 28)
    colour = _mix(colour, (255, 196, 92), _soft(y - 0.12, 0.35) * 0.8)
    colour = _mix(colour, (190, 58, 20), _soft(-y - 0.22, 0.25) * 0.8)
    scales = np.sin(34 * (x + 0.35 * y)) * np.sin(34 * (x - 0.35 * y))
    colour *= (1 + 0.07 * scales + 0.10 * noise)[..., None]
    for centre, width, bow in ((0.46, 0.085, 0.35), (-0.06, 0.11, -0.25), (-0.56, 0.07, 0.2)):
        away = np.abs(x - centre + bow * y**2 + 0.03 * noise) - width
        colour = _mix(colour, (38, 24, 26), _soft(0.035 - away, 0.012))
        colour = _mix(colour, (250, 246, 236), _soft(-away, 0.012))
    outside_body = _soft((((x - 0.16) / 0.78) ** 2 + (y / 0.44) ** 2) - 1.02, 0.1)
    rays = np.sin(42 * np.arctan2(y, x + 0.2))
    colour *= (1 + 0.16 * rays * outside_body)[..., None]
    colour = _mix(colour, (40, 26, 30), _soft(distance + 0.045, 0.02) * (0.25 + 0.65 * outside_body))
    for radius, ink in ((0.105, (252, 250, 242)), (0.075, (22, 18, 24))):
        colour = _mix(colour, ink, _soft(radius - np.hypot(x - 0.68, y + 0.1), 0.012))
    colour = _mix(colour, (255, 255, 255), _soft(0.024 - np.hypot(x - 0.705, y + 0.13), 0.01))
    mouth = np.abs(np.hypot(x - 0.86, y - 0.02) - 0.1)
    colour = _mix(colour, (120, 40, 20), _soft(0.012 - mouth, 0.01) * (y > 0.04) * (x < 0.9))
    slope = _relief(distance, 0.34, 0.006 * scales + 0.02 * noise + 0.006 * rays * outside_body)
    return Creature(distance, _bytes(colour), slope, wave=0.10, twist=0.0, spin=0.0)


def _star(rng: np.random.Generator) -> Creature:
    x, y = _grid()
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    arms = 0.5 + 0.5 * np.cos(5 * angle)
    distance = _outline(radius < 0.40 + 0.58 * arms**1.5, 0.05)
    noise = smooth_noise(rng, SIZE, SIZE, 40)

    colour = np.empty((SIZE, SIZE, 3), np.float32)
    colour[:] = (222, 56, 96)
    colour = _mix(colour, (255, 142, 96), _soft(0.5 - radius, 0.4) * 0.75)
    colour = _mix(colour, (120, 26, 104), _soft(distance + 0.11, 0.13) * 0.85)
    colour *= (1 + 0.12 * noise)[..., None]
    bumps = 0.02 * noise
    dots = [(0.0, 0.0, 0.085)]
    for arm in range(5):
        along = 2 * np.pi * arm / 5
        for reach in (0.21, 0.37, 0.52, 0.66, 0.79):
            dots.append((reach * np.cos(along), reach * np.sin(along), 0.068 - 0.05 * reach))
        for reach, side in ((0.3, 0.33), (0.3, -0.33), (0.47, 0.17), (0.47, -0.17)):
            dots.append((reach * np.cos(along + side), reach * np.sin(along + side), 0.026))
    for cx, cy, size in dots:
        spot = _soft(size - np.hypot(x - cx, y - cy), 0.014)
        colour = _mix(colour, (255, 226, 176), spot)
        bumps = bumps + 0.035 * spot
    slope = _relief(distance, 0.26, bumps)
    return Creature(distance, _bytes(colour), slope, wave=0.03, twist=0.35, spin=2.2)


def _turtle(rng: np.random.Generator) -> Creature:
    x, y = _grid()
    shell = _ellipse(-0.04, 0, 0.66, 0.52)
    limbs = (
        _ellipse(0.76, 0, 0.23, 0.17) | _ellipse(0.6, 0, 0.2, 0.11) | _polygon((-0.6, -0.1), (-0.92, 0), (-0.6, 0.1))
    )
    for side in (-1, 1):
        limbs |= _ellipse(0.36, 0.62 * side, 0.17, 0.46, 0.55 * side)
        limbs |= _ellipse(-0.58, 0.44 * side, 0.13, 0.32, 0.75 * side)
    distance = _outline(shell | limbs, 0.035)
    noise = smooth_noise(rng, SIZE, SIZE, 36)

    skin = np.empty((SIZE, SIZE, 3), np.float32)
    skin[:] = (112, 150, 92)
    seeds = rng.uniform(-1.1, 1.1, (260, 2)).astype(np.float32)
    cell = _cell_edges(seeds)
    colour = _mix(skin, (196, 208, 140), _soft(0.012 - cell, 0.01) * 0.75)
    colour *= (1 + 0.10 * noise)[..., None]

    rim = ((x + 0.04) / 0.66) ** 2 + (y / 0.52) ** 2
    plates = [(-0.42, 0.0), (-0.14, 0.0), (0.16, 0.0), (0.44, 0.0)]
    plates += [(cx, 0.27 * side) for side in (-1, 1) for cx in (-0.36, -0.02, 0.32)]
    for step in range(22):
        turn = 2 * np.pi * (step + 0.5) / 22
        plates.append((-0.04 + 0.60 * np.cos(turn), 0.47 * np.sin(turn)))
    edge = _cell_edges(np.array(plates, np.float32) + rng.normal(0, 0.012, (len(plates), 2)).astype(np.float32))
    top = np.empty((SIZE, SIZE, 3), np.float32)
    top[:] = (140, 92, 44)
    top = _mix(top, (206, 156, 72), _soft(edge - 0.075, 0.06))
    top *= (1 + 0.16 * noise + 0.06 * np.sin(70 * edge))[..., None]
    top = _mix(top, (58, 36, 26), _soft(0.016 - edge, 0.012))
    on_shell = _soft(1 - rim, 0.04)
    colour += (top - colour) * on_shell[..., None]
    colour = _mix(colour, (52, 40, 28), _soft(0.05 - np.abs(rim - 1), 0.04) * 0.8)
    for side in (-1, 1):
        colour = _mix(colour, (20, 20, 22), _soft(0.036 - np.hypot(x - 0.84, y - 0.095 * side), 0.012))
    groove = np.minimum(edge, 0.05) * on_shell
    slope = _relief(distance, 0.2, 0.5 * groove + 0.16 * np.sqrt(np.clip(1 - rim, 0, 1)) + 0.012 * noise)
    return Creature(distance, _bytes(colour), slope, wave=0.05, twist=0.12, spin=0.5)


def _cell_edges(seeds: np.ndarray) -> np.ndarray:
    """How far each point is from the border between the cells of its two nearest seeds (N, 2), roughly."""
    x, y = (plane[::2, ::2] for plane in _grid())  # a quarter of the points is enough for so smooth a field
    nearest = np.full(x.shape, np.inf, np.float32)
    second = nearest.copy()
    for cx, cy in seeds:
        away = (x - cx) ** 2 + (y - cy) ** 2
        second = np.minimum(second, np.maximum(nearest, away))
        nearest = np.minimum(nearest, away)
    return cv2.resize((np.sqrt(second) - np.sqrt(nearest)) / 2, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
