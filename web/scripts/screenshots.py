"""Pictures of the built app for the documentation, in few colours so that they stay small.

python web/scripts/screenshots.py docs/pictures/app
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import av
import numpy as np
from PIL import Image

from mobilevos.app import built_app, open_server
from mobilevos.synthetic.clip import synthetic_frames

SCRIPT = Path(__file__).with_name("screenshots.mjs")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    server = open_server(built_app(), 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as raw:
        camera = Path(raw) / "camera.y4m"
        write_y4m(camera, next(synthetic_frames(frames=1, objects=2, seed=5))[0])
        loud = Path(raw) / "With sound.mp4"
        write_loud(loud)
        subprocess.run(["node", str(SCRIPT), server.url, raw, str(camera), str(loud)], check=True)
        for path in sorted(Path(raw).glob("*.png")):
            few = Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE)
            few.save(folder / path.name, optimize=True)
    server.shutdown()


def write_y4m(path: Path, picture: np.ndarray) -> None:
    """A video of one picture (H, W, 3), which Chromium shows as its camera."""
    planes = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p").to_ndarray()
    header = f"YUV4MPEG2 W{picture.shape[1]} H{picture.shape[0]} F30:1 Ip C420\nFRAME\n"
    path.write_bytes(header.encode() + planes.tobytes())


def write_loud(path: Path) -> None:
    """A short video with a tone."""
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=24)
        video.width, video.height, video.pix_fmt = 854, 480, "yuv420p"
        audio = container.add_stream("aac", rate=48000, layout="mono")
        for picture, _ in synthetic_frames(frames=24, objects=2, seed=5):
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, "rgb24")))
        container.mux(video.encode(None))
        wave = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000).astype(np.float32)[None]
        sound = av.AudioFrame.from_ndarray(wave, "fltp", "mono")
        sound.rate = 48000
        container.mux(audio.encode(sound))
        container.mux(audio.encode(None))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
