"""Smooth random motion: cubic B-splines through random knots."""

from __future__ import annotations

import numpy as np


def spline(knots: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A uniform cubic B-spline: (K, N) knots, K at least 4; times (T) in [0, 1]; the positions (T, N)."""
    spans = len(knots) - 3
    place = np.clip(at, 0, 1) * spans
    span = np.minimum(place.astype(int), spans - 1)
    u = (place - span)[:, None]
    weights = ((1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3)
    return np.asarray(sum(weight * knots[span + i] for i, weight in enumerate(weights)) / 6)


def turns(velocities: np.ndarray, seconds: float) -> np.ndarray:
    """Orientations (T, 3, 3) of a thing that begins as it is and turns with angular velocities (T, 3), radians."""
    orientation = np.eye(3)
    out = []
    for velocity in velocities:
        out.append(orientation)
        orientation = rotation(velocity * seconds) @ orientation
    return np.stack(out)


def rotation(vector: np.ndarray) -> np.ndarray:
    """The rotation about an axis by the vector's length in radians (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def any_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation drawn uniformly from all of them (3, 3)."""
    a, b, c, d = (quaternion := rng.normal(size=4)) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (c * c + d * d), 2 * (b * c - d * a), 2 * (b * d + c * a)],
            [2 * (b * c + d * a), 1 - 2 * (b * b + d * d), 2 * (c * d - b * a)],
            [2 * (b * d - c * a), 2 * (c * d + b * a), 1 - 2 * (b * b + c * c)],
        ]
    )
