"""A clip made from nothing, with exact ground truth: animals that swim past each other under water.

The animals are textured, shaded, turn, bend, come nearer, and hide one another; behind them the scene moves at three
speeds as the camera sways. A pixel belongs to the frontmost animal that covers its centre; the picture has soft
(anti-aliased) edges around the same outline.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from mobilevos.errors import InputError
from mobilevos.synthetic.creatures import EXTENT, SIZE, Creature, paint, smooth_noise

MOST_OBJECTS = 24
LIGHT = np.array([-0.42, -0.66, 0.62], np.float32)
"""Where the light comes from: left, above, in front. Unit length."""


def synthetic_clip(
    *, frames: int = 60, height: int = 480, width: int = 854, objects: int = 3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A whole clip: pictures (T, H, W, 3) uint8 RGB and masks (T, H, W) uint8, ids 1..objects; see synthetic_frames."""
    pairs = list(synthetic_frames(frames=frames, height=height, width=width, objects=objects, seed=seed))
    return np.stack([rgb for rgb, _ in pairs]), np.stack([ids for _, ids in pairs])


def synthetic_frames(
    *,
    frames: int = 60,
    height: int = 480,
    width: int = 854,
    objects: int = 3,
    seed: int = 0,
    without: Collection[int] = (),
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The clip frame by frame: (H, W, 3) uint8 RGB and (H, W) uint8 ids.

    All objects are visible in frame 0, and frame t does not depend on how many follow. A higher id is nearer.
    Objects in `without` are left out, and everything else is as it would be with them.
    """
    if frames < 1 or height < 32 or width < 32:
        raise InputError(f"expected at least one frame of 32 x 32 pixels, got {frames} of {width} x {height}")
    if not 1 <= objects <= MOST_OBJECTS:
        raise InputError(f"expected 1 to {MOST_OBJECTS} objects, got {objects}")
    return _render(frames, height, width, objects, seed, without)


def _render(
    frames: int, height: int, width: int, objects: int, seed: int, without: Collection[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    scene = _Scene(height, width, np.random.default_rng([seed, 0]))
    swimmers = _swimmers(height, width, objects, seed)
    for time in range(frames):
        sway = scene.camera(time)
        picture = scene.render(time)
        ids = np.zeros((height, width), np.uint8)
        for identity, swimmer in enumerate(swimmers, start=1):
            if identity not in without:
                _draw(picture, ids, identity, swimmer, time, sway)
        yield scene.finish(picture, time), ids


@dataclass(frozen=True)
class _Swimmer:
    """An animal and its way: from home to away and back, on an arc."""

    creature: Creature
    home: np.ndarray
    away: np.ndarray
    radius: float
    period: float
    phase: float
    arc: float
    heading: float

    def centre(self, time: int) -> np.ndarray:
        """(x, y) in pixels; at time 0 it is home."""
        turn = 2 * np.pi * time / self.period
        way = self.away - self.home
        across = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1.0)
        bob = np.array([0.0, 0.06 * self.radius * (np.sin(0.21 * time + self.phase) - np.sin(self.phase))])
        return self.home + way * (1 - np.cos(turn)) / 2 + across * self.arc * np.sin(turn) + bob

    def angle(self, time: int) -> float:
        turn = 2 * np.pi * time / (1.7 * self.period)
        swing = 0.22 * np.sin(0.11 * time + self.phase)
        return float(self.heading + swing + self.creature.spin * np.sin(turn))

    def size(self, time: int) -> float:
        return float(self.radius * (1 + 0.16 * np.sin(2 * np.pi * time / (1.3 * self.period))))


def _swimmers(height: int, width: int, objects: int, seed: int) -> list[_Swimmer]:
    """Homes on a grid, so that all are visible at first; each goes to the home of another, so that they meet."""
    rng = np.random.default_rng([seed, 1])
    columns = min(objects, max(1, round(np.sqrt(objects * width / height))))
    rows = -(-objects // columns)
    cell_w, cell_h = width / columns, height / rows
    radius = 0.45 * min(cell_w, cell_h, 0.62 * height)
    homes = []
    for i in range(objects):
        row, column = divmod(i, columns)
        in_row = min(columns, objects - row * columns)
        x = (column + (0.5 if objects > 1 else 0.32)) * width / in_row + rng.uniform(-0.05, 0.05) * cell_w
        y = (row + 0.5 + (0.06 if column % 2 else -0.06)) * cell_h
        homes.append(np.array([x, y]))
    order = rng.permutation(objects)  # which animal lives where, so that ids are not sorted from left to right
    swimmers = []
    for i in range(objects):
        home = homes[order[i]]
        away = homes[order[(i + 1) % objects]] if objects > 1 else home + np.array([0.35 * width, 0.0])
        period = 84 * rng.uniform(0.9, 1.3)
        towards = 0.0 if away[0] >= home[0] else np.pi
        swimmers.append(
            _Swimmer(
                creature=paint(i, np.random.default_rng([seed, 2, i])),
                home=home,
                away=away + rng.uniform(-0.25, 0.25, 2) * radius,
                radius=radius * rng.uniform(0.92, 1.08),
                period=period,
                phase=rng.uniform(0, 2 * np.pi),
                arc=rng.uniform(0.15, 0.35) * height / rows * rng.choice([-1, 1]),
                heading=towards,
            )
        )
    return swimmers


def _draw(picture: np.ndarray, ids: np.ndarray, identity: int, swimmer: _Swimmer, time: int, sway: np.ndarray) -> None:
    """Draw an animal and its shadow into the picture (H, W, 3) float32 and its id into ids (H, W), in place."""
    height, width = ids.shape
    creature = swimmer.creature
    centre, size, angle = swimmer.centre(time) + sway, swimmer.size(time), swimmer.angle(time)
    reach = 1.2 * EXTENT * size
    left, top = np.maximum(np.floor(centre - reach), 0).astype(int)
    right, bottom = np.minimum(np.ceil(centre + reach), (width, height)).astype(int)
    if left >= right or top >= bottom:
        return
    x = (np.arange(left, right, dtype=np.float32) - np.float32(centre[0])) / np.float32(size)
    y = (np.arange(top, bottom, dtype=np.float32)[:, None] - np.float32(centre[1])) / np.float32(size)
    facing = -1.0 if np.cos(swimmer.heading) < 0 else 1.0  # mirrored, not upside down
    tilt = angle - swimmer.heading
    c, s = np.float32(np.cos(tilt)), np.float32(np.sin(tilt))
    u, v = facing * (x * c + y * s), y * c - x * s
    u, v = _bend(u, v, creature, time, swimmer.phase)

    to_canvas = SIZE / (2 * EXTENT)
    map_u, map_v = (u + EXTENT) * to_canvas - 0.5, (v + EXTENT) * to_canvas - 0.5
    distance = cv2.remap(
        creature.distance, map_u, map_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=1.0
    )
    coverage = np.clip(0.5 - distance * np.float32(size), 0, 1)
    rows, columns = np.flatnonzero(coverage.any(axis=1)), np.flatnonzero(coverage.any(axis=0))
    if not len(rows):
        return
    box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    left, top = left + columns[0], top + rows[0]
    coverage, map_u, map_v = coverage[box], map_u[box], map_v[box]
    colour = cv2.remap(creature.colour, map_u, map_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    slope = cv2.remap(creature.slope, map_u, map_v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    light_u, light_v = facing * (LIGHT[0] * c + LIGHT[1] * s), LIGHT[1] * c - LIGHT[0] * s
    slope_u, slope_v = slope[..., 0], slope[..., 1]
    facing_light = (LIGHT[2] - slope_u * light_u - slope_v * light_v) / np.sqrt(
        1 + slope_u * slope_u + slope_v * slope_v
    )
    facing_light = np.maximum(facing_light, 0)
    shade = 0.42 + 0.78 * facing_light
    gloss = 70 * facing_light**16

    _cast_shadow(picture, coverage, left, top, size)
    region = picture[top : top + coverage.shape[0], left : left + coverage.shape[1]]
    lit = cv2.multiply(colour, _three(shade), dtype=cv2.CV_32F) + _three(gloss)
    region[:] = cv2.blendLinear(lit, region, coverage, 1 - coverage)
    ids[top : top + coverage.shape[0], left : left + coverage.shape[1]][coverage > 0.5] = identity


def _three(plane: np.ndarray) -> np.ndarray:
    """(H, W) to (H, W, 3): OpenCV on equal shapes is several times faster than NumPy's broadcasting."""
    return cv2.cvtColor(plane, cv2.COLOR_GRAY2RGB)


def _bend(u: np.ndarray, v: np.ndarray, creature: Creature, time: int, phase: float) -> tuple[np.ndarray, np.ndarray]:
    """Where on the resting animal each point of the moving one lies: it breathes, waves along its body and twists."""
    beat = 0.34 * time + phase
    breath = np.float32(1 + 0.07 * np.sin(0.47 * beat))
    u, v = u * breath, v / breath
    wave = np.float32(creature.wave) * (0.25 + 0.75 * np.clip(0.6 - u, 0, 1.6))
    v = v + wave * np.sin(2.6 * u + np.float32(beat))
    u = u + np.float32(0.4 * creature.wave) * np.sin(2.2 * v + np.float32(0.7 * beat))
    if creature.twist:
        turn = np.float32(creature.twist * np.sin(0.6 * beat)) * (u * u + v * v)
        c, s = np.cos(turn), np.sin(turn)
        u, v = u * c - v * s, u * s + v * c
    return u, v


def _cast_shadow(picture: np.ndarray, coverage: np.ndarray, left: int, top: int, size: float) -> None:
    """Darken what lies behind: the outline, moved away from the light and blurred (at a quarter of the size)."""
    pad = int(0.36 * size) // 4 * 4 + 4
    padded = cv2.copyMakeBorder(coverage, pad, pad, pad, pad, cv2.BORDER_CONSTANT)
    small = cv2.resize(padded, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), max(0.03 * size, 0.5))
    dark = cv2.resize(1 - 0.42 * small, (padded.shape[1], padded.shape[0]))
    left, top = left - pad + round(0.14 * size), top - pad + round(0.22 * size)
    height, width = picture.shape[:2]
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + dark.shape[1], width), min(top + dark.shape[0], height)
    if x0 < x1 and y0 < y1:
        behind = picture[y0:y1, x0:x1]
        behind[:] = cv2.multiply(behind, _three(dark[y0 - top : y1 - top, x0 - left : x1 - left]))


class _Scene:
    """The sea: far water with rocks, a nearer bed of sand and weeds, shafts of light; each moves at its own speed."""

    def __init__(self, height: int, width: int, rng: np.random.Generator) -> None:
        self.height, self.width = height, width
        self.margin = round(0.14 * width)
        self.phases = rng.uniform(0, 2 * np.pi, 4)
        canvas = (height, width + 2 * self.margin)
        self.far = _far_water(rng, *canvas)
        near, alpha = _sea_bed(rng, *canvas)
        self.ground = max(int(np.flatnonzero(alpha.any(axis=1))[0]) - height // 20, 0)
        self.near, self.near_alpha = near[self.ground :], alpha[self.ground :]
        self.shafts = _light_shafts(rng, height // 4 + 1, width // 2)
        grain = rng.normal(0, 2.2, (height + 64, width + 64)).astype(np.float32)
        self.grain = cv2.GaussianBlur(grain, (0, 0), 0.6)
        x = np.linspace(-1, 1, width, dtype=np.float32)
        y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
        self.vignette = _three(1.04 - 0.2 * (x * x + y * y) ** 1.2)

    def camera(self, time: int) -> np.ndarray:
        """How far the picture of near things is shifted, (x, y) in pixels: a slow pan and the shake of a hand."""
        a, b, c, d = self.phases
        pan = 0.6 * self.margin * np.sin(0.03 * time) * np.sign(a - np.pi)
        shake_x = np.sin(0.43 * time + b) + 0.5 * np.sin(1.31 * time + c)
        shake_y = np.sin(0.37 * time + c) + 0.5 * np.sin(1.13 * time + d)
        return np.array([pan + 0.0016 * self.width * shake_x, 0.003 * self.height * shake_y])

    def render(self, time: int) -> np.ndarray:
        """The scene without animals: (H, W, 3) float32."""
        sway = self.camera(time)
        picture = self._window(self.far, 0.35 * sway).astype(np.float32)
        below = picture[self.ground :]
        near, alpha = self._window(self.near, sway).astype(np.float32), self._window(self.near_alpha, sway)
        below[:] = cv2.blendLinear(near, below, alpha, 1 - alpha)
        return picture

    def finish(self, picture: np.ndarray, time: int) -> np.ndarray:
        """Add the light in the water and the grain of the film: (H, W, 3) uint8."""
        drift = np.array([[1, 0, 0.1 * self.shafts.shape[1] * (np.sin(0.02 * time) - 1)], [0, 1, 0]])
        size = (self.width // 4 + 1, self.height // 4 + 1)
        light = cv2.warpAffine(self.shafts, drift, size, borderMode=cv2.BORDER_REFLECT)
        light = cv2.resize(light, (self.width, self.height))
        top, left = np.random.default_rng(time).integers(0, 64, 2)
        light = light + self.grain[top : top + self.height, left : left + self.width]
        lit = cv2.multiply(picture, self.vignette)
        return cv2.add(lit, _three(light), dtype=cv2.CV_8U)

    def _window(self, canvas: np.ndarray, sway: np.ndarray) -> np.ndarray:
        shift = np.array([[1, 0, sway[0] - self.margin], [0, 1, sway[1]]])
        return cv2.warpAffine(canvas, shift, (self.width, canvas.shape[0]), borderMode=cv2.BORDER_REFLECT)


def _far_water(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    depth = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    surface, deep = np.array([120, 214, 218], np.float32), np.array([14, 74, 118], np.float32)
    water: np.ndarray = surface + (deep - surface) * depth**0.75
    clouds = smooth_noise(rng, height, width, height / 2.5, octaves=5)
    water = water * (1 + 0.11 * clouds[..., None])
    for level, haze, bumpy in ((0.62, 0.62, 0.5), (0.76, 0.40, 0.3)):
        ridge = smooth_noise(rng, 1, width, height * bumpy, octaves=5)[0]
        crest = height * (level - 0.13 * ridge)
        inside = np.clip((np.arange(height)[:, None] - crest) / 3 + 0.5, 0, 1)[..., None].astype(np.float32)
        rock = np.array([24, 58, 78], np.float32) * (1 + 0.35 * smooth_noise(rng, height, width, height / 9)[..., None])
        rock = rock + (water - rock) * haze
        water = water + (rock - water) * inside
    return np.clip(cv2.GaussianBlur(water, (0, 0), height / 300), 0, 255).astype(np.uint8)


def _sea_bed(rng: np.random.Generator, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Colours (H, W, 3) uint8 and coverage (H, W) float32."""
    y, x = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)
    dune = height * (0.80 - 0.05 * smooth_noise(rng, 1, width, width / 4, octaves=3)[0])
    alpha = np.clip((y - dune) / 2 + 0.5, 0, 1)
    nearness = np.clip((y - dune) / (0.22 * height), 0, 1)[..., None]
    sand = np.array([120, 140, 124], np.float32) + np.array([92, 62, 22], np.float32) * nearness
    ripples = np.sin(0.9 * (y - dune) / (1 + 6 * nearness[..., 0]) + 3 * smooth_noise(rng, height, width, height / 4))
    grains = smooth_noise(rng, height, width, 6, octaves=3)
    colour = (
        sand * (1 + 0.06 * ripples + 0.10 * grains + 0.10 * smooth_noise(rng, height, width, height / 6))[..., None]
    )
    colour = colour.astype(np.float32)

    lumps = smooth_noise(rng, height, width, 0.05 * height, octaves=2)
    stones = max(6, width // 60)
    for cx, cy in sorted(
        zip(rng.uniform(0, width, stones), rng.uniform(0.84, 1.02, stones), strict=True), key=lambda p: p[1]
    ):
        r = height * rng.uniform(0.025, 0.07)
        inside = 1 - np.hypot((x - cx) / 1.4, y - cy * height) / (r * (1 + 0.14 * lumps))
        cover = np.clip(inside * r / 1.5 + 0.5, 0, 1)[..., None]
        shade = 0.55 + 0.6 * np.clip(0.5 - (y - cy * height) / (2 * r) - 0.25 * (x - cx) / r, 0, 1)
        tint = np.array([96, 104, 98], np.float32) * rng.uniform(0.8, 1.15) * (1 + 0.25 * grains)[..., None]
        colour = colour + (tint * shade[..., None] - colour) * cover
        alpha = np.maximum(alpha, cover[..., 0])

    for _ in range(max(8, width // 42)):
        colour, alpha = _weed(rng, colour, alpha)
    return np.clip(colour, 0, 255).astype(np.uint8), alpha.astype(np.float32)


def _weed(rng: np.random.Generator, colour: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Grow one blade of weed out of the sand."""
    height, width = alpha.shape
    root, tall = rng.uniform(0, width), rng.uniform(0.14, 0.42) * height
    foot = rng.uniform(0.86, 1.0) * height
    up = np.linspace(0, 1, 60)
    bend = rng.uniform(-0.25, 0.25) * tall * up**2 + 0.05 * tall * np.sin(rng.uniform(5, 9) * up + rng.uniform(0, 6))
    half = height * rng.uniform(0.008, 0.016) * (1 - up) ** 0.6 * (1 + 0.25 * np.sin(24 * up))
    line_x, line_y = root + bend, foot - tall * up
    outline = np.stack([np.r_[line_x - half, (line_x + half)[::-1]], np.r_[line_y, line_y[::-1]]], axis=1)
    blade = np.zeros((height, width), np.uint8)
    cv2.fillPoly(blade, [(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, shift=4)
    cover = blade.astype(np.float32)[..., None] / 255
    y = np.arange(height, dtype=np.float32)[:, None, None]
    lit = np.clip((foot - y) / tall, 0, 1)
    tint = np.array([30, 82, 52], np.float32) + np.array([70, 96, 30], np.float32) * lit * rng.uniform(0.6, 1.1)
    return colour + (tint - colour) * cover, np.maximum(alpha, cover[..., 0])


def _light_shafts(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Slanted beams (H, W) float32 that fade with depth, in gray levels to add."""
    beams = np.maximum(smooth_noise(rng, 1, width + height, width / 14, octaves=3)[0], 0)
    y, x = np.arange(height)[:, None], np.arange(width)
    slanted = beams[np.clip(x + (0.45 * (height - y)).astype(int), 0, len(beams) - 1)]
    fade = np.clip(1 - y / (0.9 * height), 0, 1)
    return cv2.GaussianBlur((52 * slanted * fade).astype(np.float32), (0, 0), 1.5)
