"""Films of which only the first frame has masks: carried a few frames by our own network, void where it is not sure.

python -m tools.carried COPIES DATA

The films are those of YouTube-VOS' validation set, 474 of them, whose first masks are public. A clip of them that is
drawn backwards ends with masks that are true; so do clips in order begin. Both a film and its mirror image are
followed, and what they do not agree about is void. Of each film there are two clips: its first frames, and the last
frame that was reached (where it is known) before the first ones from behind, so that the first mask, which is true, is
to be found from an object as it looks one or two seconds later. Weights that were trained on them must not be scored on
that set.
COPIES holds a bare git folder of the repository, as for `tools.sources`; DATA/carried is laid out as YouTube-VOS. Films
that are there already are left alone; each is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import VOID, Ids, Image
from mobilevos.tracking import Tracker
from tools.sources import Copy, put_film, reduced

REPOSITORY, COMMIT = "LingyiHongfd/Youtube-VOS-Val", "6f97f9d5"
FRAMES = 4
"""Of each clip, the annotated one among them; they are five frames of a camera apart."""
LATER = (5, 7, 9)
"""What is followed after them, by ever larger steps."""
SURE = 0.8
"""Probability, the mean of both ways, below which the owner of a pixel is not known."""
TRUSTED = 0.7
"""Confidence below which an object is not known."""


def carried(tracker: Tracker, frames: Sequence[Image], first: Ids) -> list[Ids]:
    """Labels of the frames after the first one (H, W): VOID where nobody knows."""
    plain = _followed(tracker, frames, first)
    mirrored = _followed(tracker, [_turned(frame) for frame in frames], _turned(first))
    labels = []
    for (mine, trust), (theirs, other) in zip(plain, mirrored, strict=True):
        probabilities = (mine + theirs[:, :, ::-1]) / 2
        owner = probabilities.argmax(0).astype(np.uint8)
        ids = np.where(probabilities.max(0) < SURE, np.uint8(VOID), owner)
        for index in range(1, len(probabilities)):
            if min(trust[index - 1], other[index - 1]) < TRUSTED:
                around = cv2.dilate((owner == index).astype(np.uint8), np.ones((15, 15), np.uint8)) > 0
                ids[around & ((ids == index) | (ids == 0))] = VOID
        labels.append(ids)
    return labels


def _turned(picture: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(picture[:, ::-1])


def _followed(tracker: Tracker, frames: Sequence[Image], first: Ids) -> list[tuple[np.ndarray, list[float]]]:
    """Of each frame after the first one the probabilities (1 + N, H, W), and how far each object is to be trusted."""
    tracker.start(frames[0], first)
    results = (tracker.step(frame) for frame in frames[1:])
    return [(result.probabilities, [float(result.confidence[i]) for i in result.ids]) for result in results]


def lay_out(copies: Path, tracker: Tracker, data: Path) -> Iterator[str]:
    """Make what is missing; the names of the films."""
    root = data / "carried"
    with Copy(copies, REPOSITORY, COMMIT) as copy:
        for name in sorted({path.split("/")[2] for path in copy.files if path.startswith("valid/Annotations/")}):
            if (root / "Annotations" / name).exists():
                continue
            begin = copy.below(f"valid/Annotations/{name}", ".png")[0]
            shots = [p for p in copy.below(f"valid/JPEGImages/{name}", ".jpg") if Path(p).stem >= Path(begin).stem]
            shots = [shots[i] for i in (*range(FRAMES), *LATER) if i < len(shots)]
            ids, frames = copy.labels(begin), [copy.picture(shot) for shot in shots]
            kept = [frame for frame in frames if frame is not None]
            if ids is None or len(kept) < FRAMES:
                continue
            pairs = [reduced(frame, ids) for frame in kept]
            pictures, first = [picture for picture, _ in pairs], _numbered(pairs[0][1])
            if not first.any():
                continue
            labels = [first, *carried(tracker, pictures, first)]
            film = list(zip(pictures, labels, strict=True))
            known = [shot for shot in film[FRAMES:] if ((shot[1] > 0) & (shot[1] < VOID)).any()]
            if known:
                _put(root, f"{name}-later", [known[-1], *film[FRAMES - 2 :: -1]])
            _put(root, name, film[:FRAMES])
            yield name


def _put(root: Path, name: str, film: Sequence[tuple[Image, Ids]]) -> None:
    """Numbered as if each frame had a mask; what a run that ended early has put there stays."""
    if (root / "Annotations" / name).exists():
        return
    put_film(root, name, [(f"{5 * index:05d}", picture, ids) for index, (picture, ids) in enumerate(film)])


def _numbered(ids: Ids) -> Ids:
    """Objects 1 .. N, in their order."""
    table = np.zeros(256, np.uint8)
    table[VOID] = VOID
    known = [i for i in np.unique(ids) if i not in (0, VOID)]
    table[known] = np.arange(1, len(known) + 1)
    return np.asarray(cv2.LUT(ids, table), np.uint8)


if __name__ == "__main__":
    import typer

    def main(copies: Path, data: Path) -> None:
        for count, name in enumerate(lay_out(copies, Tracker.load("mobilenetv2", "onnx"), data), 1):
            print(f"{count} {name}", flush=True)

    typer.run(main)
