"""What the app shows, in a headless Chromium: the samples, the bar beside the object, sound, and phones."""

from __future__ import annotations

import json
import runpy
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import binary_dilation

from mobilevos.app.files import FOLDER
from mobilevos.media.video import VideoInfo, open_source
from mobilevos.media.writer import VideoWriter
from mobilevos.synthetic.clip import synthetic_clip
from tests.web.browser import need_app, place_inside, run_spec, tone, with_sound
from tests.web_export.node import WEB

SAMPLES = {"sample": "Three at once", "sample-meet": "Two that meet", "sample-small": "Small and quick"}
PLACES = ("desktop", "phone", "small", "sideways")
REAL = ("elephant", "mallard-fly")
"""One that is large in the picture, and one that is small."""


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    """CLIPS of web/scripts/sample.py."""
    path = WEB / "scripts" / "sample.py"
    if not path.is_file():
        pytest.skip("no source of the browser app beside the tests")
    clips: dict[str, Any] = runpy.run_path(str(path))["CLIPS"]
    return clips


def test_samples_are_small_and_not_part_of_the_first_visit(samples: dict[str, Any]) -> None:
    need_app()
    listed = json.loads((FOLDER / "files.json").read_text())
    assert list(samples) == list(SAMPLES)
    for name, clip in samples.items():
        path = FOLDER / f"{name}.mp4"
        assert path.name in listed["later"]
        assert path.stat().st_size < 400_000
        with open_source(path) as source:
            assert (source.info.width, source.info.height) == (clip.width, clip.height)
            assert sum(1 for _ in source) == clip.frames


@pytest.mark.slow
def test_samples_can_be_followed(samples: dict[str, Any], tmp_path: Path) -> None:
    need_app()
    truths = {name: np.stack([ids for _, ids in clip.drawn()]) for name, clip in samples.items()}
    wanted = [
        {"title": SAMPLES[name], "file": name, "boxes": [_box(ids[0] == i) for i in _ids(ids[0])]}
        for name, ids in truths.items()
    ]
    run_spec("samples", {"APP_SAMPLES": json.dumps(wanted), "APP_OUT": str(tmp_path)})
    for name, ids in truths.items():
        masks = _masks(tmp_path / f"{name}.zip")
        assert masks.shape == ids.shape
        overlaps = [
            ((masks == k) & (ids == i)).sum() / ((masks == k) | (ids == i)).sum()
            for k, i in enumerate(_ids(ids[0]), start=1)
        ]
        # 0.90 to 0.99, but for the turtle, whose flippers are lost at times: 0.75
        assert min(overlaps) > 0.65, f"{name}: {overlaps}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]], dict[str, object]]:
    """A folder for results, a wide clip, and an upright one."""
    folder = tmp_path_factory.mktemp("made")
    wide, ids = synthetic_clip(frames=8, height=240, width=432, objects=2, seed=3)
    upright, above = synthetic_clip(frames=8, height=432, width=240, objects=2, seed=2)
    return (
        folder,
        [_clip(folder / "made.mp4", wide, ids[0] == 1)],
        _clip(folder / "upright.mp4", upright, above[0] == 1),
    )


@pytest.fixture(scope="module")
def real(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[dict[str, object]], dict[str, object]]:
    """The same of filmed clips; the upright one is the part around an object."""
    folder = tmp_path_factory.mktemp("real")
    clips = []
    for name in REAL:
        pictures, mask = _filmed(shared_data / "clips-480p", name)
        clips.append(_clip(folder / f"{name}.mp4", pictures, mask))
    pictures, mask = _filmed(shared_data / "clips-480p", REAL[0])
    middle = int(np.nonzero(mask)[1].mean())
    left = min(max(middle - 135, 0), mask.shape[1] - 270)
    part = np.s_[:, left : left + 270]
    upright = _clip(folder / "upright.mp4", [picture[part] for picture in pictures], mask[part])
    return folder, clips, upright


@pytest.mark.slow
@pytest.mark.parametrize("footage", ["made", "real"])
def test_the_bar_is_beside_the_object_and_phones_have_room(footage: str, request: pytest.FixtureRequest) -> None:
    need_app()
    folder, clips, upright = request.getfixturevalue(footage)
    settings = {"APP_CLIPS": json.dumps(clips), "APP_UPRIGHT": json.dumps(upright), "APP_OUT": str(folder)}
    run_spec("screen", settings)
    for clip in clips:
        bars = json.loads((folder / f"{clip['name']}-bar.json").read_text())
        assert set(bars) == set(PLACES)
        for place, (left, top, width, height) in bars.items():
            mask = _masks(folder / f"{clip['name']}-{place}.zip")[0] > 0
            assert mask.mean() > 0.005
            rows, columns = mask.shape
            covered = mask[
                int(top * rows) : int((top + height) * rows) + 1,
                int(left * columns) : int((left + width) * columns) + 1,
            ]
            assert not covered.any(), f"{clip['name']}, {place}: the bar covers {covered.sum()} pixels of the object"


@pytest.mark.slow
def test_what_is_lost_is_named(tmp_path: Path) -> None:
    need_app()
    pictures, ids = synthetic_clip(frames=16, height=240, width=432, objects=2, seed=3)
    pictures = pictures.copy()
    for picture, mask in zip(pictures[4:], ids[4:], strict=True):
        picture[binary_dilation(mask == 1, iterations=3)] = picture[mask == 0].mean(0)
    clip = _clip(tmp_path / "lost.mp4", pictures, ids[0] == 1)
    with_sound(tmp_path / "lost.mp4", tone(440, Fraction(16, 30)))
    taps = [clip["tap"], place_inside(ids[0] == 2)]
    run_spec("doubt", {"APP_LOST": str(clip["path"]), "APP_TAPS": json.dumps(taps)})


def test_the_sound_is_heard(tmp_path: Path) -> None:
    need_app()
    pictures, ids = synthetic_clip(frames=120, height=96, width=160, objects=1, seed=1)
    for name in ("sound", "quiet"):
        _clip(tmp_path / f"{name}.mp4", pictures, ids[0] == 1)
    wave = tone(440, Fraction(4))
    wave[: len(wave) // 2] = 0
    with_sound(tmp_path / "sound.mp4", wave)
    clips = {"APP_SOUND": str(tmp_path / "sound.mp4"), "APP_SILENT": str(tmp_path / "quiet.mp4")}
    run_spec("sound", clips | {"APP_OUT": str(tmp_path)})
    for name in ("heard.webm", "heard.mp4"):
        if name == "heard.mp4" and not (tmp_path / name).exists():
            continue  # this Chromium writes no H.264, and says so
        with av.open(str(tmp_path / name)) as container:
            parts = [frame.to_ndarray().astype(np.float64)[0] for frame in container.decode(audio=0)]
            rate = container.streams.audio[0].rate
        heard = np.concatenate(parts)
        loudest = np.abs(np.fft.rfft(heard * np.hanning(len(heard)))).argmax() * rate / len(heard)
        assert loudest == pytest.approx(440, abs=5), name


def _clip(path: Path, pictures: Sequence[np.ndarray] | np.ndarray, mask: np.ndarray) -> dict[str, object]:
    """Write a clip at 30 frames a second; what the page's tests are told about it."""
    height, width = mask.shape
    count = len(pictures)
    with VideoWriter(
        path, VideoInfo(width, height, Fraction(30), Fraction(1, 30), count, Fraction(count, 30))
    ) as writer:
        for index, picture in enumerate(pictures):
            writer.write(picture, Fraction(index, 30))
    return {"name": path.stem, "path": str(path), "tap": place_inside(mask)}


def _filmed(root: Path, name: str) -> tuple[list[np.ndarray], np.ndarray]:
    """The first eight frames of a clip, and the mask of its object in the first."""
    with open_source(root / "videos" / f"{name}.mp4") as source:
        pictures = [frame.rgb for frame, _ in zip(source, range(8), strict=False)]
    first = min((root / "Annotations" / "480p" / name).glob("*.png"))
    return pictures, np.array(Image.open(first)) == 1


def _box(mask: np.ndarray) -> list[tuple[float, float]]:
    """Two corners around a mask, from 0 to 1, a little outside of it."""
    y, x = np.nonzero(mask)
    height, width = mask.shape
    corners = [(x.min() / width - 0.01, y.min() / height - 0.01), (x.max() / width + 0.01, y.max() / height + 0.01)]
    return [(min(max(float(u), 0.002), 0.998), min(max(float(v), 0.002), 0.998)) for u, v in corners]


def _ids(ids: np.ndarray) -> list[int]:
    return [int(i) for i in np.unique(ids) if i]


def _masks(path: Path) -> np.ndarray:
    """Exported masks (T, H, W)."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".png"))
        return np.stack([np.array(Image.open(archive.open(name))) for name in names])
