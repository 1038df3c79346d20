"""Masks as COCO annotations: run-length codes in one JSON file, an image a frame, a category an object."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mobilevos.files import replacing
from mobilevos.media.video import Frame, VideoInfo


def encode_rle(mask: np.ndarray) -> dict[str, Any]:
    """COCO's compressed run-length code of a mask (H, W) bool: {"size": [H, W], "counts": "..."}.

    The lengths of runs down the columns, zeros first; from the fourth on as the difference to the one two before;
    each in groups of five bits, lowest first, with a sixth that says whether more follow, as a character from "0" on.
    """
    height, width = mask.shape
    flat = np.asarray(mask, bool).T.ravel()
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    starts = np.concatenate([[0, 0] if flat[:1].any() else [0], changes, [flat.size]])
    counts = np.diff(starts)
    values = counts.copy()
    values[3:] -= counts[1:-2]

    # Every number at once, group by group; a number is done when the rest is only copies of the sign bit.
    groups, used = [], []
    going = np.ones(len(values), bool)
    while going.any():
        low = values & 31
        values = values >> 5
        more = ~((values == 0) & (low < 16) | (values == -1) & (low >= 16))
        groups.append(low + 32 * more + 48)
        used.append(going)
        going = going & more
    text = np.stack(groups, axis=1)[np.stack(used, axis=1)].astype(np.uint8).tobytes().decode("ascii")
    return {"size": [height, width], "counts": text}


def bounding_box(mask: np.ndarray) -> list[int]:
    """[x, y, width, height] of a mask (H, W) bool with at least one pixel."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return [int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)]


class CocoWriter:
    """Collects annotations frame by frame, on disk, so that memory stays flat; the JSON is there after `close`."""

    notes: Sequence[str] = ()

    def __init__(self, path: str | os.PathLike[str], info: VideoInfo) -> None:
        self.path = Path(path)
        self.info = info
        self._names: set[int] = set()
        self._images = 0
        self._annotations = 0
        self._stack = contextlib.ExitStack()
        self._lines = {
            kind: self._stack.enter_context(self._scratch(kind).open("w+", encoding="utf-8"))
            for kind in ("images", "annotations")
        }

    def _scratch(self, kind: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{kind}.part")

    def write(self, frame: Frame, ids: np.ndarray, confidence: Mapping[int, float]) -> None:
        """ids: (H, W) integers; objects that are not in the frame get no annotation."""
        self._images += 1
        image = {
            "id": self._images,
            "file_name": frame.name,
            "width": ids.shape[1],
            "height": ids.shape[0],
            "frame_index": frame.index,
            "time": float(frame.time - self.info.start),
        }
        self._add("images", image)
        for identity in np.unique(ids[ids > 0]).tolist():
            self._annotations += 1
            self._names.add(identity)
            mask = ids == identity
            annotation = {
                "id": self._annotations,
                "image_id": self._images,
                "category_id": identity,
                "track_id": identity,
                "segmentation": encode_rle(mask),
                "area": int(mask.sum()),
                "bbox": bounding_box(mask),
                "iscrowd": 0,
            }
            if identity in confidence:
                annotation["score"] = confidence[identity]
            self._add("annotations", annotation)

    def _add(self, kind: str, item: dict[str, Any]) -> None:
        file = self._lines[kind]
        file.write((",\n" if file.tell() else "") + json.dumps(item))

    def close(self) -> None:
        """Put the JSON together."""
        categories = [{"id": i, "name": f"object {i}"} for i in sorted(self._names)]
        with replacing(self.path) as part, part.open("w", encoding="utf-8") as out:
            out.write(f'{{"categories": {json.dumps(categories)}')
            for kind, lines in self._lines.items():
                lines.seek(0)
                out.write(f',\n"{kind}": [\n')
                out.writelines(lines)
                out.write("]")
            out.write("}\n")
        self.abort()

    def abort(self) -> None:
        """Drop what was collected."""
        self._stack.close()
        for kind in self._lines:
            self._scratch(kind).unlink(missing_ok=True)
