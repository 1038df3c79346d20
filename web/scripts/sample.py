"""The clips to try on the first screen: animals that the package draws itself, so nobody's footage is shipped.

python web/scripts/sample.py web/public/sample.mp4

writes `sample.mp4`, and beside it `sample-meet.mp4` and `sample-small.mp4`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from mobilevos.files import replacing
from mobilevos.synthetic.clip import MOST_OBJECTS, synthetic_frames

RATE = 24
# They are fetched, often over a phone's network: a third of the bytes that `VideoWriter` would take, which keeps more.
# No B-frames, so that frames come in the order in which they are shown.
OPTIONS = {"preset": "slow", "crf": "27", "bf": "0"}


@dataclass(frozen=True)
class Clip:
    """One of the clips."""

    frames: int
    width: int
    height: int
    objects: int
    seed: int
    only: int | None = None
    """The one animal that is seen, of so many; None: all of them."""
    quicker: int = 1
    """How many times as fast it goes."""

    def drawn(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each frame the picture (H, W, 3) uint8 RGB, and (H, W) uint8 ids."""
        without = [] if self.only is None else [i for i in range(1, self.objects + 1) if i != self.only]
        all_of_them = synthetic_frames(
            frames=self.frames * self.quicker,
            height=self.height,
            width=self.width,
            objects=self.objects,
            seed=self.seed,
            without=without,
        )
        return itertools.islice(all_of_them, 0, None, self.quicker)


CLIPS = {
    "sample": Clip(60, 854, 480, objects=3, seed=0),
    # upright, as phones film
    "sample-meet": Clip(60, 480, 854, objects=2, seed=2),
    # an animal is the smaller, the more there are
    "sample-small": Clip(40, 854, 480, objects=MOST_OBJECTS, seed=11, only=10, quicker=2),
}


def main(path: Path) -> None:
    for name, clip in CLIPS.items():
        with replacing(path.with_name(f"{name}.mp4")) as part:
            write(part, clip)


def write(path: Path, clip: Clip) -> None:
    with av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=RATE, options=OPTIONS)
        stream.width, stream.height, stream.pix_fmt = clip.width, clip.height, "yuv420p"
        stream.codec_context.thread_count = 1  # the same bytes on every machine
        for index, (picture, _) in enumerate(clip.drawn()):
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pts, frame.time_base = index, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
