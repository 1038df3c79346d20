"""Videos and stills as Chromium writes them, read by FFmpeg and Pillow."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from tests.web_export.node import need_chromium, node

STILL = 3
"""The frame that the page writes as stills."""


@dataclass(frozen=True)
class Exported:
    folder: Path
    page: dict[str, Any]
    truth: np.ndarray
    """(T, H, W, 4) uint8: the colours of the frames and the matte."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    need_chromium()
    folder = tmp_path_factory.mktemp("pictures")
    node("tests/export/write-pictures.mjs", folder)
    page = json.loads((folder / "page.json").read_text())
    width, height = page["size"]
    truth = np.fromfile(folder / "truth.bin", np.uint8).reshape(len(page["timestamps"]), height, width, 4)
    return Exported(folder, page, truth)


def decoded(path: Path) -> list[Any]:
    """All frames; libvpx, unlike FFmpeg's own decoder, reads the matte too."""
    decoder = av.CodecContext.create("libvpx-vp9", "r")
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        return [frame for packet in [*packets, None] for frame in decoder.decode(packet)]


def plane(frame: Any, index: int) -> np.ndarray:
    """(H, W) int of a plane in full size."""
    rows = np.frombuffer(frame.planes[index], np.uint8).reshape(-1, frame.planes[index].line_size)
    return rows[: frame.height, : frame.width].astype(int)


def rgb(frame: Any) -> np.ndarray:
    return frame.to_ndarray(format="rgb24").astype(int)


def over(exported: Exported, background: np.ndarray, i: int) -> np.ndarray:
    """(H, W, 3) float: frame i's objects over a background of the same shape or of one colour."""
    alpha = exported.truth[i, ..., 3:] / 255
    return alpha * exported.truth[i, ..., :3] + (1 - alpha) * background


@pytest.mark.parametrize("name", ["transparent", "color", "blur", "image"])
def test_every_frame_is_there_at_its_time(exported: Exported, name: str) -> None:
    times = exported.page["timestamps"]
    frames = decoded(exported.folder / f"{name}.webm")
    assert [frame.pts for frame in frames] == [round(1000 * time) for time in times]
    assert {(frame.width, frame.height) for frame in frames} == {tuple(exported.page["size"])}
    with av.open(str(exported.folder / f"{name}.webm")) as container:
        assert container.streams.video[0].codec.canonical_name == "vp9"
        assert container.duration == round(1e6 * (times[-1] + 0.04))


def test_durations_of_transparent_frames(exported: Exported) -> None:
    ticks = [round(1000 * time) for time in exported.page["timestamps"]]
    with av.open(str(exported.folder / "transparent.webm")) as container:
        durations = [packet.duration for packet in container.demux(video=0) if packet.size]
    assert durations == [*np.diff(ticks).tolist(), 40]


def test_matte_and_colours_of_the_transparent_video(exported: Exported) -> None:
    for i, frame in enumerate(decoded(exported.folder / "transparent.webm")):
        truth = exported.truth[i].astype(int)
        error = np.abs(plane(frame, 3) - truth[..., 3])
        assert error.mean() < 1
        assert error.max() <= 24
        inside = truth[..., 3] > 128
        assert np.abs(rgb(frame) - truth[..., :3])[inside].mean() < 4
        far = rgb(frame)[40:, -20:] if i < 6 else rgb(frame)[:8, :8]
        assert far.max() < 12, "nothing of the background is left in the file"


@pytest.mark.parametrize("name", ["color", "image"])
def test_objects_over_a_background(exported: Exported, name: str) -> None:
    background = np.full((*exported.truth.shape[1:3], 3), 255.0)
    if name == "image":  # black and yellow halves, cut to the shape of the video
        background[:, :49] = 0
        background[..., 2] = 0
    for i, frame in enumerate(decoded(exported.folder / f"{name}.webm")):
        assert np.abs(rgb(frame) - over(exported, background, i)).mean() < 4
    with Image.open(exported.folder / f"{name}.png") as still:
        error = np.abs(np.asarray(still.convert("RGB"), int) - over(exported, background, STILL))
    away_from_the_seam = np.abs(np.arange(error.shape[1]) - 48.5) > 2
    assert error[:, away_from_the_seam].max() <= 2


def test_blur_is_a_gaussian_over_the_background_alone(exported: Exported) -> None:
    truth = exported.truth[STILL].astype(float)
    weight = 1 - truth[..., 3:] / 255
    blurred = gaussian_filter(weight * truth[..., :3], (8, 8, 0), mode="nearest")
    blurred /= gaussian_filter(weight, (8, 8, 0), mode="nearest")
    with Image.open(exported.folder / "blur.png") as still:
        error = np.abs(np.asarray(still.convert("RGB"), int) - over(exported, blurred, STILL))
    assert error.mean() < 2
    assert error[8:-8, 8:-8].max() <= 12  # beyond, three boxes repeat the border otherwise than one Gaussian
    assert error[truth[..., 3] == 255].max() <= 1


def test_the_transparent_still(exported: Exported) -> None:
    with Image.open(exported.folder / "transparent.png") as still:
        assert still.mode == "RGBA"
        picture = np.asarray(still, int)
    truth = exported.truth[STILL].astype(int)
    np.testing.assert_array_equal(picture[..., 3], truth[..., 3])
    solid = truth[..., 3] == 255
    np.testing.assert_array_equal(picture[solid], truth[solid])


def test_aborting_ends_the_export_at_once(exported: Exported) -> None:
    assert exported.page["aborted"] == {"error": "AbortError", "seen": [1, 2, 3]}


def test_the_page_gets_its_turn_before_every_frame(exported: Exported) -> None:
    assert exported.page["ticks"] == len(exported.page["timestamps"])


def test_a_browser_without_an_encoder_is_told_what_to_do(exported: Exported) -> None:
    assert exported.page["withoutEncoder"].startswith("This browser cannot write videos.")
