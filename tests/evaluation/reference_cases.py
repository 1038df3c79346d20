"""The sequences whose scores by the public tool are recorded in davis_reference.json, and how they were recorded.

The cases are arithmetic, without random numbers, so that they are the same everywhere. To record them anew, put
https://github.com/davisvideochallenge/davis2017-evaluation (with its requirements) on the Python path and run

    python -m tests.evaluation.reference_cases

which writes the cases as a dataset of palette PNGs, lets the tool's DAVISEvaluation score it (semi-supervised), and
keeps J and F of every object and frame and the mean, recall and decay of every object. The values in the file come from
its revision ac7c43f.
"""

import json
import sys
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from tests.builders.davis import write_davis
from tests.builders.pictures import Frames, write_masks

REFERENCE = Path(__file__).with_name("davis_reference.json")

REAL_CLIPS = ("bmx-bumps", "elephant", "mallard-fly")
"""Clips of the real data that are scored too, every object and frame; bmx-bumps has empty annotations."""


@cache
def cases() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Predictions and ground truths, (T, H, W) ids each, by name."""
    return {
        "one": _one(),
        "three": _three(),
        "edges": _edges(),
        "void": _void(),
        "gap": _gap(),
        "late": _late(),
        "short": tuple(part[:3] for part in _one()),  # type: ignore[dict-item]
        "noise": _noise(),
        "long": _long(),
    }


def disturbed(truths: np.ndarray) -> np.ndarray:
    """Predictions for real ground truths (T, H, W) of 0 and 1: moved, with holes, with something else, or missing."""
    predictions = np.zeros_like(truths)
    for time, truth in enumerate(truths):
        pred = np.roll(truth, (time % 7 - 3, 2 * (time % 9) - 8), (0, 1))
        pred[:: 5 + time % 11, ::3] = 0
        pred[20 : 20 + time, 30:50] = 1
        predictions[time] = 0 if time % 16 == 15 else pred
    return predictions


def _ellipse(shape: tuple[int, int], y: float, x: float, height: float, width: float) -> np.ndarray:
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return ((rows - y) / height) ** 2 + ((columns - x) / width) ** 2 <= 1


def _one() -> tuple[np.ndarray, np.ndarray]:
    """One object that leaves the frame; the prediction drifts away, shrinks, and is missing twice."""
    shape, times = (180, 320), range(14)
    truths = np.stack([_ellipse(shape, 80 + 3 * t, 60 + 24 * t, 30, 42) for t in times]).astype(np.uint8)
    preds = np.stack([_ellipse(shape, 80 + 4 * t, 60 + 23 * t, 30 - t, 42 + t) for t in times]).astype(np.uint8)
    preds[[4, 9]] = 0
    return preds, truths


def _three() -> tuple[np.ndarray, np.ndarray]:
    """Three objects that cover each other; the prediction mixes two of them up for a while."""
    shape = (270, 480)
    truths, preds = np.zeros((2, 12, *shape), np.uint8)
    for time in range(12):
        for index in (1, 2, 3):
            where = _ellipse(shape, 60 * index + 5 * time, 60 + 35 * time - 20 * index, 34 + 3 * index, 50)
            truths[time][where] = index
            moved = _ellipse(shape, 60 * index + 5 * time - 3, 64 + 35 * time - 20 * index, 35 + 3 * index, 44)
            preds[time][moved] = {1: 2, 2: 1, 3: 3}[index] if 5 <= time < 8 else index
    return preds, truths


def _edges() -> tuple[np.ndarray, np.ndarray]:
    """Frames wholly covered, objects along the edges, single pixels, empty frames, in all combinations."""
    shape = (40, 60)
    masks = np.zeros((9, *shape), np.uint8)
    masks[1] = 1
    masks[2][:, :20] = 1
    masks[3][30:, :] = 1
    masks[4][0, 0] = 1
    masks[5][-1, -1] = 1
    masks[6][20, 30] = 1
    masks[7][::2, ::2] = 1
    masks[8][0, :] = masks[8][:, -1] = 1
    first, second = np.divmod(np.arange(81), 9)
    ends = masks[6:7]
    return np.concatenate([ends, masks[first], ends]), np.concatenate([ends, masks[second], ends])


def _void() -> tuple[np.ndarray, np.ndarray]:
    """A ground truth with void labels, on and around the objects."""
    preds, truths = (part.copy() for part in _three())
    truths[:, 100:140, 60:400:3] = 255
    truths[3, 60:80] = 255
    return preds, truths


def _gap() -> tuple[np.ndarray, np.ndarray]:
    """Object 2 is not in the first frame, but 3 is."""
    preds, truths = (part.copy() for part in _three())
    truths[0][truths[0] == 2] = 0
    truths[6:][truths[6:] == 2] = 0
    preds[8:][preds[8:] == 2] = 0
    return preds, truths


def _late() -> tuple[np.ndarray, np.ndarray]:
    """Object 3 comes after the first frame: it is not scored."""
    preds, truths = (part.copy() for part in _three())
    truths[0][truths[0] == 3] = 0
    preds[preds == 3] = 0
    return preds, truths


def _noise() -> tuple[np.ndarray, np.ndarray]:
    """Speckle of two objects, from a hash of the place."""
    place = np.arange(6 * 100 * 150, dtype=np.uint64).reshape(6, 100, 150)
    mixed = (place * np.uint64(2654435761) % np.uint64(2**32)) >> np.uint64(13)
    truths, preds = mixed % np.uint64(3), (mixed >> np.uint64(4)) % np.uint64(3)
    truths[:, :, 75:] = 0  # half of it in one half of the frame
    preds[4, 20:60, :50] = 2
    return preds.astype(np.uint8), truths.astype(np.uint8)


def _long() -> tuple[np.ndarray, np.ndarray]:
    """302 frames, in which the prediction gets worse: where the public tool's decay goes wrong."""
    shape, times = (24, 32), range(302)
    truths = np.stack([_ellipse(shape, 12, 16, 8, 9) for _ in times]).astype(np.uint8)
    preds = np.stack([_ellipse(shape, 12 + t / 40, 16, 8, 9 - t / 50) for t in times]).astype(np.uint8)
    return preds, truths


def write_dataset(
    root: Path, sequences: dict[str, tuple[np.ndarray, np.ndarray]], without_pictures: Collection[str] = ()
) -> None:
    """Write a DAVIS dataset with gray pictures, but for those of some sequences, and predictions in `predictions`."""
    clips: dict[str, tuple[Frames | None, Frames]] = {}
    for name, (preds, truths) in sequences.items():
        gray = np.full((*truths.shape[1:], 3), 120, np.uint8)
        clips[name] = None if name in without_pictures else [gray] * len(truths), truths
        write_masks(root / "predictions" / name, preds)
    write_davis(root, clips, {"2017/val": sequences})


def read_real(data: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The cases of the real clips."""
    folder = data / "davis-2016-train" / "Annotations" / "480p"
    truths = {
        clip: np.stack([np.asarray(Image.open(path), np.uint8) for path in sorted((folder / clip).glob("*.png"))])
        for clip in REAL_CLIPS
    }
    return {f"real-{clip}": (disturbed(truth), truth) for clip, truth in truths.items()}


def _record(data: Path) -> None:
    from davis2017.evaluation import DAVISEvaluation  # type: ignore[import-not-found]

    frames: list[dict[str, list[list[float]]]] = []

    class Recorder(DAVISEvaluation):  # type: ignore[misc]
        @staticmethod
        def _evaluate_semisupervised(*arguments: object) -> object:
            j, f = DAVISEvaluation._evaluate_semisupervised(*arguments)
            frames.append({"J": j.tolist(), "F": f.tolist()})
            return j, f

    sequences = cases() | read_real(data)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_dataset(root, sequences)
        result = Recorder(davis_root=folder, task="semi-supervised", gt_set="val").evaluate(f"{folder}/predictions")
    reference: dict[str, object] = {}
    first = 0
    for name, values in zip(sequences, frames, strict=True):
        last = first + len(values["J"])
        statistics = {
            f"{measure}-{statistic}": [float(value) for value in result[measure][statistic][first:last]]
            for measure in "JF"
            for statistic in "MRD"
        }
        # the frames of the long case are like those of the others; what it is for is its statistics
        reference[name] = statistics if name == "long" else statistics | values
        first = last
    REFERENCE.write_text(json.dumps(reference, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    _record(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
