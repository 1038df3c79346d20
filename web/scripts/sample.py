"""The clip behind "Try the sample": animals that the package draws itself, so nobody's footage is shipped.

python web/scripts/sample.py web/public/sample.mp4
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

from mobilevos.media.video import VideoInfo
from mobilevos.media.writer import VideoWriter
from mobilevos.synthetic.clip import synthetic_frames

RATE, FRAMES, WIDTH, HEIGHT = 24, 60, 854, 480


def main(path: Path) -> None:
    info = VideoInfo(WIDTH, HEIGHT, Fraction(RATE), Fraction(1, RATE), FRAMES, Fraction(FRAMES, RATE))
    with VideoWriter(path, info) as writer:
        for index, (picture, _) in enumerate(synthetic_frames(frames=FRAMES, height=HEIGHT, width=WIDTH, objects=3)):
            writer.write(picture, Fraction(index, RATE))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
