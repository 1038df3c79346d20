"""What cameras do to colours and sharpness: changes of a whole clip that leave its masks alone."""

from __future__ import annotations

import cv2
import numpy as np

from mobilevos.clips.clip import ClipConfig
from mobilevos.clips.layers import blur_along

_GRAY = np.array([0.299, 0.587, 0.114])


def color_matrix(
    brightness: float = 1.0, contrast: float = 1.0, saturation: float = 1.0, hue: float = 0.0
) -> np.ndarray:
    """(3, 4) affine map of RGB in 0..255: factors of brightness, contrast and saturation, and degrees of hue."""
    axis = np.ones(3) / np.sqrt(3)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    angle = np.deg2rad(hue)
    turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    matrix = (saturation * np.eye(3) + (1 - saturation) * _GRAY) @ turn
    offset = 128 * (1 - contrast) * brightness
    return np.hstack([brightness * contrast * matrix, np.full((3, 1), offset)])


def gamma_table(gamma: float) -> np.ndarray:
    """(256,) uint8 values of 255 (v / 255)^gamma."""
    return np.round(255 * (np.arange(256) / 255) ** gamma).astype(np.uint8)


def recolor(rng: np.random.Generator, config: ClipConfig, picture: np.ndarray) -> np.ndarray:
    """Change the colours of one (H, W, 3) picture as strongly as `jitter_colors` changes those of a clip."""
    return _apply(picture, _random_matrix(rng, config), None)


def _random_matrix(rng: np.random.Generator, config: ClipConfig) -> np.ndarray:
    return color_matrix(
        brightness=1 + config.brightness * rng.uniform(-1, 1),
        contrast=1 + config.contrast * rng.uniform(-1, 1),
        saturation=1 + config.saturation * rng.uniform(-1, 1),
        hue=config.hue * rng.uniform(-1, 1),
    )


def _apply(picture: np.ndarray, matrix: np.ndarray, table: np.ndarray | None) -> np.ndarray:
    changed = cv2.transform(picture, matrix)
    return changed if table is None else cv2.LUT(changed, table)


def jitter_colors(rng: np.random.Generator, config: ClipConfig, frames: np.ndarray) -> None:
    """Change the colours of all frames (T, H, W, 3) alike, and slightly from frame to frame, in place."""
    matrix, table = np.eye(3, 4), None
    if rng.random() < config.jitter:
        matrix = _random_matrix(rng, config)
        table = gamma_table(float(np.exp(config.gamma * rng.uniform(-1, 1))))
    if rng.random() < config.gray:
        matrix = np.vstack([matrix, [0, 0, 0, 1]])
        matrix = color_matrix(saturation=0.0) @ matrix
    for t in range(len(frames)):
        brightness, contrast = 1 + config.flicker * rng.uniform(-1, 1, size=2)
        change = color_matrix(brightness, contrast) @ np.vstack([matrix, [0, 0, 0, 1]])
        frames[t] = _apply(frames[t], change, table)


def shake(rng: np.random.Generator, frames: np.ndarray) -> None:
    """Blur some frames (T, H, W, 3) along a random direction, in place."""
    angle = rng.uniform(0, 2 * np.pi)
    for t in range(len(frames)):
        length = rng.uniform(0, 0.05) * frames.shape[1]
        frames[t] = blur_along(frames[t], length * np.cos(angle), length * np.sin(angle))


def defocus(rng: np.random.Generator, frames: np.ndarray) -> None:
    """Blur frames (T, H, W, 3) by an amount that changes over the clip, in place."""
    start, end = rng.uniform(0, 0.011, size=2) * frames.shape[1]
    for t, sigma in enumerate(np.linspace(start, end, len(frames))):
        if sigma > 0.4:
            frames[t] = cv2.GaussianBlur(frames[t], (0, 0), sigma)


def compress(rng: np.random.Generator, frames: np.ndarray) -> None:
    """Add the artefacts of strong JPEG compression to frames (T, H, W, 3), in place."""
    quality = int(rng.integers(15, 60))
    for t in range(len(frames)):
        _, data = cv2.imencode(".jpg", frames[t], [cv2.IMWRITE_JPEG_QUALITY, quality])
        frames[t] = cv2.imdecode(data, cv2.IMREAD_COLOR)


def add_noise(rng: np.random.Generator, frames: np.ndarray) -> None:
    """Add sensor noise to frames (T, H, W, 3), in place."""
    sigma = np.float32(rng.uniform(2, 12))
    for t in range(len(frames)):
        # One random field a clip would do for the eye, but it would move with the camera.
        noise = rng.standard_normal(frames[t].shape[:2], np.float32) * sigma
        frames[t] = np.clip(frames[t] + noise[..., None], 0, 255).astype(np.uint8)


def change_appearance(rng: np.random.Generator, config: ClipConfig, frames: np.ndarray) -> None:
    """All of the above with the probabilities of the configuration, in place."""
    jitter_colors(rng, config, frames)
    if rng.random() < config.motion_blur / 2:  # the other half of the blur belongs to moving objects
        shake(rng, frames)
    if rng.random() < config.defocus:
        defocus(rng, frames)
    if rng.random() < config.noise:
        add_noise(rng, frames)
    if rng.random() < config.compression:
        compress(rng, frames)
