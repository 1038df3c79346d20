"""Masks for Label Studio: brush strokes to import and mend by hand.

images/NAME.jpg     the frames
tasks.json          a task a frame, the masks as predictions
config.xml          the labelling set-up that the tasks fit
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mobilevos.arrays import Bits, Ids
from mobilevos.files import replacing
from mobilevos.media.palette import davis_palette
from mobilevos.media.video import Frame
from mobilevos.version import VERSION

QUALITY = 95
LONGEST = 1 << 16
"""Values in one run."""
ADDRESS = "/data/local-files/?d={folder}/images/{name}.jpg"
"""Where Label Studio finds a picture that lies below its LOCAL_FILES_DOCUMENT_ROOT."""
CONFIG = """\
<View>
  <Image name="image" value="$image" zoom="true"/>
  <BrushLabels name="brush" toName="image">
{labels}
  </BrushLabels>
</View>
"""


def brush_code(mask: Bits) -> list[int]:
    """Label Studio's run-length code of a mask (H, W), as bytes: rle-pack of its RGBA picture, 255 where it is set.

    A head (32 bits: how many values; 5: their width - 1; 4 x 4: four widths of lengths - 1), then for each run a 1,
    two bits that choose the width of its length, its length - 1, and its value.
    """
    flat = np.repeat(np.asarray(mask, bool).ravel(), 4)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1, [flat.size]])
    lengths, values = np.diff(starts), flat[starts[:-1]] * 255
    pieces = -(-lengths // LONGEST)  # a long run is several
    left = lengths - LONGEST * (pieces - 1)
    cut = np.full(int(pieces.sum()), LONGEST)
    cut[np.cumsum(pieces) - 1] = left
    # 27 bits a run: 1, the first of the widths (16), length - 1, value
    words = (1 << 26) | ((cut - 1) << 8) | np.repeat(values, pieces)
    bits = (words[:, None] >> np.arange(26, -1, -1)) & 1
    head = f"{flat.size:032b}{7:05b}{15:04b}{15:04b}{15:04b}{15:04b}"
    stream = np.concatenate([np.array(list(head), np.uint8), bits.astype(np.uint8).ravel()])
    return [int(byte) for byte in np.packbits(stream)]


class LabelStudioSink:
    """Writes the folder frame by frame; `tasks.json` and `config.xml` are there after `close`."""

    notes: Sequence[str] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: set[int] = set()
        (folder / "images").mkdir(parents=True, exist_ok=True)
        self._stack = contextlib.ExitStack()
        self._scratch = folder / "tasks.json.lines.part"
        self._lines = self._stack.enter_context(self._scratch.open("w+", encoding="utf-8"))

    def write(self, frame: Frame, ids: Ids, confidence: Mapping[int, float]) -> None:
        """Objects that are not in the frame get no stroke."""
        with replacing(self.folder / "images" / f"{frame.name}.jpg") as part:
            Image.fromarray(frame.rgb).save(part, format="JPEG", quality=QUALITY)
        found = np.unique(ids[ids > 0]).tolist()
        self._names.update(found)
        strokes = [_stroke(ids == identity, identity, confidence.get(identity)) for identity in found]
        scores = [stroke["score"] for stroke in strokes if "score" in stroke]
        prediction: dict[str, Any] = {"model_version": f"mobilevos {VERSION}", "result": strokes}
        if scores:
            prediction["score"] = min(scores)  # the frames to look at first
        address = ADDRESS.format(folder=self.folder.name, name=frame.name)
        task = {"data": {"image": address, "frame": frame.index}, "predictions": [prediction]}
        self._lines.write((",\n" if self._lines.tell() else "") + json.dumps(task))

    def close(self) -> None:
        """Put the tasks together."""
        colors = davis_palette()
        labels = [
            f'    <Label value="object {i}" background="#{"".join(f"{int(c):02x}" for c in colors[i])}"/>'
            for i in sorted(self._names)
        ]
        with replacing(self.folder / "config.xml") as part:
            part.write_text(CONFIG.format(labels="\n".join(labels)), encoding="utf-8")
        with replacing(self.folder / "tasks.json") as part, part.open("w", encoding="utf-8") as out:
            self._lines.seek(0)
            out.write("[\n")
            out.writelines(self._lines)
            out.write("\n]\n")
        self.abort()

    def abort(self) -> None:
        """Drop the tasks; pictures that are in place stay: each is whole."""
        self._stack.close()
        self._scratch.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # only an empty folder goes
            (self.folder / "images").rmdir()


def _stroke(mask: Bits, identity: int, score: float | None) -> dict[str, Any]:
    value = {"format": "rle", "rle": brush_code(mask), "brushlabels": [f"object {identity}"]}
    stroke = {
        "id": f"object-{identity}",
        "type": "brushlabels",
        "from_name": "brush",
        "to_name": "image",
        "original_width": mask.shape[1],
        "original_height": mask.shape[0],
        "image_rotation": 0,
        "value": value,
    }
    return stroke if score is None else stroke | {"score": score}
