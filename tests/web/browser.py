"""The built app in a headless Chromium: what its tests share."""

from __future__ import annotations

import os
import subprocess
import threading
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from mobilevos.app.files import FOLDER, AppFiles
from mobilevos.app.server import open_server
from tests.web_export.node import WEB, need_chromium

RATE = 48000
"""Samples a second."""


def need_app() -> None:
    need_chromium()
    if not (FOLDER / "index.html").is_file():
        pytest.skip("the browser app is not built (make web)")


def run_spec(name: str, settings: dict[str, str]) -> None:
    """web/tests/NAME.spec.mjs with these variables and the app's address in APP_URL; what it printed is the failure."""
    need_app()
    server = open_server(AppFiles(FOLDER), 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        done = subprocess.run(
            ["node", "--test", "--test-reporter=spec", f"tests/{name}.spec.mjs"],
            cwd=WEB,
            env={**os.environ, **settings, "APP_URL": server.url},
            capture_output=True,
            text=True,
            timeout=1200,
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert done.returncode == 0, done.stdout + done.stderr


def place_inside(mask: np.ndarray) -> tuple[float, float]:
    """(x, y) from 0 to 1: of the pixels of a mask (H, W) bool, the one nearest to its middle."""
    y, x = np.nonzero(mask)
    middle = np.argmin((y - y.mean()) ** 2 + (x - x.mean()) ** 2)
    return float((x[middle] + 0.5) / mask.shape[1]), float((y[middle] + 0.5) / mask.shape[0])


def tone(hertz: float, seconds: Fraction) -> np.ndarray:
    """(N,) float32."""
    count = int(RATE * seconds)
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(count) / RATE)).astype(np.float32)


def with_sound(path: Path, wave: np.ndarray) -> None:
    """Put a sound (N,) beside the pictures of a video."""
    silent = path.with_name("silent.mp4")
    path.rename(silent)
    with av.open(str(silent)) as source, av.open(str(path), "w") as target:
        video = target.add_stream_from_template(source.streams.video[0])
        audio = target.add_stream("aac", rate=RATE, layout="mono")
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = video
                target.mux(packet)
        for start in range(0, len(wave), 1024):
            frame = av.AudioFrame.from_ndarray(wave[None, start : start + 1024], "fltp", "mono")
            frame.rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            target.mux(audio.encode(frame))
        target.mux(audio.encode(None))
