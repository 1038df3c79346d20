"""A YouTube-VOS of two clips: an object that comes late, an id left out, frames that are not listed."""

from pathlib import Path

import numpy as np

from tests.builders.pictures import write_labels

SHAPE = (60, 80)

VIDEOS = {
    "late": {
        "objects": {
            "1": {"category": "dog", "frames": ["00000", "00005", "00010", "00015"]},
            "4": {"category": "zebra", "frames": ["00005", "00015"]},
        }
    },
    "plain": {"objects": {"2": {"category": "cat", "frames": ["00010", "00020"]}}},
}
"""What meta.json says."""


def box(*objects: tuple[int, int, int]) -> np.ndarray:
    """A mask of squares of side 20, each (id, top, left)."""
    mask = np.zeros(SHAPE, np.uint8)
    for index, top, left in objects:
        mask[top : top + 20, left : left + 20] = index
    return mask


TRUTHS = {
    "late/00000": box((1, 5, 5)),
    "late/00005": box((1, 5, 10), (4, 30, 50)),
    "late/00010": box((1, 5, 15), (4, 30, 52)),  # 4 is there, but meta.json does not list it: not scored
    "late/00015": box((1, 5, 20), (4, 30, 54)),
    "plain/00010": box((2, 10, 10)),
    "plain/00015": box((2, 10, 12)),  # annotated, but not listed
    "plain/00020": box((2, 10, 14)),
}

PREDICTIONS = {
    "late/00005": box((1, 5, 15), (4, 30, 50)),
    "late/00010": box((1, 5, 15)),
    "late/00015": box((1, 5, 24), (4, 33, 54)),
    "plain/00020": box((2, 10, 10)),
}


def truths_of(clip: str) -> dict[int, np.ndarray]:
    """By the numbers of the frames."""
    return {int(name.removeprefix(f"{clip}/")): mask for name, mask in TRUTHS.items() if name.startswith(clip)}


def write(root: Path, masks: dict[str, np.ndarray]) -> None:
    for name, mask in masks.items():
        write_labels(root / f"{name}.png", mask)


def plain(number: int) -> np.ndarray:
    """A picture whose pixels all have this number."""
    return np.full((*SHAPE, 3), number, np.uint8)
