"""Masks as people bring them: recognised, repaired, and what was done is said.

Colours, gray levels, 0/255, transparency, soft or anti-aliased edges, 16 bits, the noise of JPEG: all of them become
ids. The idea behind it: the colours that fill areas are the objects; a colour that is only ever found between two
others is an edge, and each of its pixels belongs to the nearer of the two.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import cv2
import numpy as np
from PIL import Image

from mobilevos.arrays import VOID, Ids
from mobilevos.errors import InputError
from mobilevos.media.palette import davis_palette

NOISE = 24
"""Two colours this close in every channel may be one colour after JPEG."""

HIGHEST_INDEX = 64
"""Gray values up to here are ids; a brighter picture is one of levels, such as 0, 128, 255."""

FEW_COLOURS = 64
"""A picture of at most this many colours was drawn, so a colour on a single pixel may be an object too."""

FLAT_BLOCK = 36
"""The pixels inside an 8 x 8 block of JPEG: a colour that fills less is an artefact in a noisy picture."""


class Repaired(NamedTuple):
    """A mask made of whatever came."""

    ids: np.ndarray
    """(H, W) uint8, 0 for the background."""
    notes: tuple[str, ...]
    """What was done, a sentence each; empty for a clean mask."""


def repair_mask(image: Image.Image) -> Repaired:
    """Make ids of any picture that means a mask."""
    if image.mode == "P" and "transparency" not in image.info and (ids := _indices(image)) is not None:
        return _without_void(ids)
    notes: tuple[str, ...] = ()
    if image.mode == "P":
        notes = ("The palette is not that of a mask, so the colours were read instead of the indices.",)
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        ids, more = _from_alpha(image.convert("RGBA"))
    elif image.mode == "1":
        ids, more = np.asarray(image).astype(np.uint8), ()
    elif image.mode == "L" and _holds_ids(stored := stored_ids(image)):
        ids, more = _without_void(stored)
    elif image.mode == "L" or image.mode[0] in "IF":
        ids, more = _from_gray(np.asarray(image))
    else:
        ids, more = _from_colours(np.asarray(image.convert("RGB")))
    if not ids.any():
        raise InputError("expected a mask with at least one object, but the picture has one colour only")
    return Repaired(ids, notes + more)


def stored_ids(image: Image.Image) -> Ids | None:
    """The ids (H, W) that a picture holds as numbers, 255 being void, or None where it is a drawing.

    The one rule for all readers: a 1-bit picture is one object; a palette picture holds its indices, whatever its
    colours are; an 8-bit gray picture holds its values if none lies between `HIGHEST_INDEX` and 255, and one of 0 and
    255 only is one object.
    """
    if image.mode == "1":
        return np.asarray(image).astype(np.uint8)
    if image.mode == "P":
        return np.array(image)
    if image.mode != "L":
        return None
    ids = np.array(image)
    ordinary = ids[ids < VOID]
    if ordinary.size and ordinary.max() > HIGHEST_INDEX:
        return None
    return ids if (ordinary > 0).any() else ids // VOID


def _holds_ids(ids: Ids | None) -> TypeGuard[Ids]:
    return ids is not None and bool(((ids > 1) & (ids < VOID)).any())


def _indices(image: Image.Image) -> np.ndarray | None:
    """The indices (H, W) of a palette picture, or None where its palette says that they are no ids."""
    ids = np.array(image)
    palette = np.array(image.getpalette(), np.uint8).reshape(-1, 3)
    used = np.unique(ids)
    used = used[used < len(palette)]
    colours = palette[used]
    is_gray = (colours == colours[:, :1]).all()
    if is_gray:
        # Gray steps in order of their index are ids; an editor's palette of the grays of a soft edge is not.
        return ids if (colours[:, 0] == used).all() or (len(used) <= 2 and not palette[0].any()) else None
    return ids if not palette[0].any() else None


def _without_void(ids: np.ndarray) -> Repaired:
    if not ids.any():
        raise InputError("expected a mask with at least one object, but all of it is background")
    if ids.max() < 255:
        return Repaired(ids, ())
    if not ((ids > 0) & (ids < 255)).any():
        return Repaired(ids // 255, ("The value 255 was taken as object 1.",))
    return Repaired(np.where(ids == 255, 0, ids).astype(np.uint8), ("The value 255 (void) became background.",))


def _from_alpha(image: Image.Image) -> tuple[np.ndarray, tuple[str, ...]]:
    rgba = np.asarray(image)
    rgb, opaque = rgba[..., :3], rgba[..., 3] >= 128
    if opaque.all():
        return _from_colours(rgb)
    note = "The transparent part became background."
    painted = np.where(opaque[..., None], rgb, 0)
    if not opaque.any() or not painted.any():
        return opaque.astype(np.uint8), (note,)
    try:
        ids, notes = _from_colours(painted, opaque)
    except InputError:  # a photograph cut out: its colours mean nothing, its outline does
        return opaque.astype(np.uint8), ("The opaque part became object 1.",)
    return ids, (note, *notes)


def _from_gray(values: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """values: (H, W) of any number type."""
    notes: tuple[str, ...] = ()
    if values.dtype != np.uint8:
        if not np.isfinite(values).all() or values.min() < 0:
            raise InputError(f"expected mask values of 0 or more, got {values.min()}..{values.max()}")
        if values.dtype.kind == "f" and values.max() <= 1:
            values = np.round(values * 255)
        values = np.round(values).astype(np.int64)
        notes = ("The mask of more than 8 bits was reduced to ids.",)
    if values.max() <= HIGHEST_INDEX:
        return values.astype(np.uint8), notes
    levels = np.unique(values)
    if len(levels) == 2 and levels[0] == 0:
        return (values > 0).astype(np.uint8), (*notes, f"The value {levels[1]} was taken as object 1.")
    labels, seeds, soft = _segment(values[..., None].astype(np.int32))
    brightness = seeds[:, 0]
    background = int(brightness.argmin())
    order = [int(i) for i in np.argsort(brightness, kind="stable") if i != background]
    if len(order) > 1:
        steps = ", ".join(str(brightness[i]) for i in order[:8]) + (", ..." if len(order) > 8 else "")
        notes = (*notes, f"The gray levels {steps} became objects 1 to {len(order)}.")
    else:
        notes = (*notes, "The bright part was taken as object 1.")
    return _numbered(labels, order, range(1, len(order) + 1)), notes + soft


def _from_colours(rgb: np.ndarray, opaque: np.ndarray | None = None) -> tuple[np.ndarray, tuple[str, ...]]:
    """rgb: (H, W, 3) uint8, black where not opaque (H, W) bool."""
    if opaque is None and (rgb == rgb[..., :1]).all():
        return _from_gray(rgb[..., 0])
    palette = davis_palette()
    lookup = np.full(1 << 24, -1, np.int16)
    lookup[_packed(palette)] = np.arange(256)
    exact = lookup[_packed(rgb)]
    if (exact >= 0).all():
        repaired = _without_void(exact.astype(np.uint8)) if exact.any() else Repaired(exact.astype(np.uint8), ())
        return repaired.ids, ("The colours of DAVIS were turned into ids.", *repaired.notes)
    labels, seeds, notes = _segment(rgb.astype(np.int32), opaque)
    areas = np.bincount(labels.ravel(), minlength=len(seeds))
    darkest = int(seeds.max(axis=1).argmin())
    if seeds[darkest].max() <= NOISE:
        background = darkest
    else:
        border = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
        background = int(np.bincount(border).argmax())
        notes = (*notes, f"The colour {tuple(seeds[background].tolist())} of the border was taken as background.")
    order = [int(i) for i in np.argsort(-areas, kind="stable") if i != background]
    named = [int(lookup[_packed(seeds[i].astype(np.uint8))]) for i in order]
    if all(0 < i < 255 for i in named):
        return _numbered(labels, order, named), ("The colours of DAVIS were turned into ids.", *notes)
    said = "One colour became object 1." if len(order) == 1 else f"{len(order)} colours became objects, largest first."
    return _numbered(labels, order, range(1, len(order) + 1)), (said, *notes)


def _packed(rgb: np.ndarray) -> np.ndarray:
    return rgb[..., 0].astype(np.int32) << 16 | rgb[..., 1].astype(np.int32) << 8 | rgb[..., 2]


def _numbered(labels: np.ndarray, order: list[int], ids: Sequence[int]) -> np.ndarray:
    """labels: (H, W) into the seeds; the seed order[i] becomes ids[i], every other one background."""
    table = np.zeros(256, np.uint8)
    table[order] = ids
    return table[labels]


def _segment(pixels: np.ndarray, within: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Split a picture into the colours that fill it.

    pixels: (H, W, C) int32; within: (H, W) bool, where plain areas are expected, everywhere unless given.
    Returns labels (H, W), the seed colours (N, C) they point to, and notes.
    """
    colours, index = _counted(pixels)
    core = _uniform(index)
    filled = np.bincount(index[core], minlength=len(colours))
    by_area = [int(i) for i in np.argsort(-filled, kind="stable") if filled[i]]

    noisy = False
    if len(colours) <= FEW_COLOURS:
        seeds = _with_thin(index, colours, by_area or [int(np.bincount(index.ravel()).argmax())])
    elif len(colours) > 2 * len(by_area):
        seeds = _without_noise(colours, filled, by_area)
        noisy = len(seeds) < len(by_area)
    else:
        seeds = by_area
    if len(seeds) > 256:
        raise InputError(f"expected at most 255 objects in a mask, got {len(seeds) - 1} colours")

    of_colour = np.full(len(colours), -1, np.int32)
    of_colour[seeds] = np.arange(len(seeds))
    plain = (of_colour[index] >= 0).mean(where=True if within is None else within)
    if plain < 0.5 and len(colours) > FEW_COLOURS:
        raise InputError("expected a mask of plain areas, but the picture looks like a photograph")
    if noisy:
        for i in np.flatnonzero(of_colour < 0):
            distance = np.abs(colours[seeds] - colours[i]).max(axis=1)
            of_colour[i] = distance.argmin() if distance.min() <= NOISE else -1
    labels = of_colour[index]
    unclear = labels < 0
    _settle(labels, unclear, pixels, colours[seeds])
    said = "In-between colours (soft edges, compression) went to the nearest object."
    return labels, colours[seeds], (said,) if noisy or unclear.any() else ()


def _counted(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The colours (N, C) of a picture (H, W, C), in order, and which of them each pixel has, (H, W).

    A table of all numbers that are possible instead of sorting the pixels: a mask of a 4K film has eight million.
    """
    channels = pixels.shape[2]
    bits = max(8, int(pixels.max()).bit_length())
    packed = np.zeros(pixels.shape[:2], np.int64)
    for channel in range(channels):
        packed = packed << bits | pixels[..., channel]
    if bits * channels > 24:  # 32-bit numbers of some scientific file
        values, index = np.unique(packed, return_inverse=True)
        index = index.reshape(packed.shape).astype(np.int32)
    else:
        table = np.zeros(1 << bits * channels, np.int32)
        table[packed.ravel()] = 1
        values = np.flatnonzero(table)
        table[values] = np.arange(len(values))
        index = table[packed]
    shifts = [bits * (channels - 1 - channel) for channel in range(channels)]
    return np.stack([values >> shift & (1 << bits) - 1 for shift in shifts], axis=1).astype(np.int32), index


def _uniform(index: np.ndarray) -> np.ndarray:
    """Where all nine pixels of the 3 x 3 neighbourhood are equal: (H, W) bool."""
    plane = index.astype(np.float32)  # which OpenCV compares fast; exact up to 1 << 24, more than there are colours
    square = np.ones((3, 3), np.uint8)
    return cv2.erode(plane, square) == cv2.dilate(plane, square)


def _without_noise(colours: np.ndarray, filled: np.ndarray, by_area: list[int]) -> list[int]:
    """Of the colours that fill areas, largest first, those that are no noisy copy of a larger one."""
    kept: list[int] = []
    for i in by_area:
        distance = np.abs(colours[kept] - colours[i]).max(axis=1) if kept else np.zeros(0)
        copies = (distance <= 2) | (distance <= NOISE) & (filled[kept] >= 10 * filled[i])
        if not copies.any() and filled[i] >= FLAT_BLOCK:
            kept.append(i)
    return kept or by_area[:1] or [0]


def _with_thin(index: np.ndarray, colours: np.ndarray, seeds: list[int]) -> list[int]:
    """Add the colours that are no mixture of the seeds around them: objects too thin or small to fill an area.

    Farthest first, for then the soft edge of a small object finds that object among the seeds.
    """
    seeds = list(seeds)
    around = np.ones((9, 9), np.uint8)
    counts = np.bincount(index.ravel(), minlength=len(colours))
    while len(seeds) < len(colours):
        is_seed = np.isin(np.arange(len(colours)), seeds)
        outside = np.full(index.shape, -np.inf, np.float32)
        for plane in colours.T.astype(np.float32):  # one channel at a time: masks may be as large as frames of 8K
            values = plane[index]
            low = cv2.erode(np.where(is_seed, plane, np.float32(np.inf))[index], around)
            high = cv2.dilate(np.where(is_seed, plane, np.float32(-np.inf))[index], around)
            np.maximum(outside, np.maximum(low - values, values - high), out=outside)
        outside[~np.isfinite(outside)] = 0  # no seed around
        excess = np.bincount(index.ravel(), outside.ravel(), len(colours)) / np.maximum(counts, 1)
        excess[seeds] = 0
        if excess.max() <= NOISE:
            return seeds
        seeds.append(int(excess.argmax()))
    return seeds


def _settle(labels: np.ndarray, unclear: np.ndarray, pixels: np.ndarray, seeds: np.ndarray) -> None:
    """Give each unclear pixel the nearest colour among the seeds found within three pixels of it; in place.

    Among all seeds would be wrong: halfway from red to green lies the olive of an object elsewhere.
    """
    if not unclear.any():
        return
    values = pixels[unclear].astype(np.float32)
    best = np.full(len(values), np.inf, np.float32)
    found = np.zeros(len(values), np.int32)
    reach = np.ones((7, 7), np.uint8)
    for i, seed in enumerate(seeds):
        nearby = cv2.dilate((labels == i).astype(np.uint8), reach)[unclear].astype(bool)
        distance = ((values - seed) ** 2).sum(axis=1) + np.where(nearby, 0, 1e9)
        better = distance < best
        best[better], found[better] = distance[better], i
    labels[unclear] = found
