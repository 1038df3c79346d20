"""Whole clips: the layout, the same bytes for the same seed, and going on after an end."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from mobilevos.clips.clip import ClipConfig
from mobilevos.clips.videos import VideoSource
from mobilevos.datasets.bl30k import bl30k_places
from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask
from mobilevos.render import RenderConfig, render
from mobilevos.render.backgrounds import Background, list_backgrounds, show
from mobilevos.render.rasterise import Rasteriser
from tests.builders.films import write_video
from tests.builders.meshes import write_card

pytest.importorskip("trimesh")
pytest.importorskip("moderngl")

CONFIG = RenderConfig(frames=4, height=64, width=96, fewest=2, most=3, blurred=0.5)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two meshes, a photo and a film."""
    try:
        Rasteriser(16, 16).close()
    except InputError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("material")
    write_card(root / "meshes" / "red")
    write_card(root / "meshes" / "green", upper=(20, 200, 20))
    rng = np.random.default_rng(0)
    (root / "behind" / "film").mkdir(parents=True)
    for name in ("photo.jpg", *(f"film/{i:03d}.jpg" for i in range(6))):
        cv2.imwrite(str(root / "behind" / name), rng.integers(60, 200, (80, 120, 3), dtype=np.uint8))
    return root


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def made(material: Path, output: Path, clips: int, config: RenderConfig = CONFIG, jobs: int = 1) -> int:
    return render(material / "meshes", material / "behind", output, clips, config, jobs=jobs)


def test_clips_are_in_the_layout_that_training_reads(material: Path, tmp_path: Path) -> None:
    assert made(material, tmp_path / "out", 2) == 2
    places = bl30k_places(tmp_path / "out")
    assert [place.name for place in places] == ["000000", "000001"]
    for place in places:
        video = place.read()
        assert list(video.pictures) == list(video.truths) == ["00000", "00001", "00002", "00003"]
        assert video.picture("00000").shape == (64, 96, 3)
        assert 2 <= max(int(video.labels(frame).max()) for frame in video.truths) <= 3
    clip = VideoSource("bl30k", tmp_path / "out").sample(np.random.default_rng(0), ClipConfig(size=32, frames=3), 1)
    assert clip.frames.shape[0] == 3


def test_what_is_no_thing_is_the_background(material: Path, tmp_path: Path) -> None:
    """A thing of another colour than anything behind it: where the mask is, and nowhere else, it is seen."""
    plain = tmp_path / "behind"
    plain.mkdir()
    cv2.imwrite(str(plain / "gray.png"), np.full((80, 120, 3), 120, np.uint8))
    render(material / "meshes", plain, tmp_path / "out", 3, RenderConfig(3, 96, 128, 1, 2, 0.0), jobs=1)
    for path in sorted((tmp_path / "out" / "Annotations").rglob("*.png")):
        picture = cv2.imread(str(path).replace("Annotations", "JPEGImages").replace(".png", ".jpg")).astype(int)
        mask = read_mask(path) > 0
        coloured = np.ptp(cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 1.5), axis=2) > 25
        inside = cv2.erode(mask.astype(np.uint8), np.ones((5, 5))) > 0
        outside = cv2.dilate(mask.astype(np.uint8), np.ones((9, 9))) == 0
        assert not coloured[outside].any()
        assert coloured[inside].mean() > 0.6 if inside.any() else True


def test_the_seed_decides_and_an_ended_run_goes_on(material: Path, tmp_path: Path) -> None:
    made(material, tmp_path / "whole", 3)
    assert made(material, tmp_path / "parts", 1) == 1
    # what a killed process leaves: a clip half built, and one whose masks did not get into place
    shutil.copytree(tmp_path / "parts" / "JPEGImages" / "000000", tmp_path / "parts" / "JPEGImages" / "000001")
    (tmp_path / "parts" / ".building-000002" / "pictures").mkdir(parents=True)
    assert made(material, tmp_path / "parts", 3) == 2
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert made(material, tmp_path / "parts", 3) == 0
    other = RenderConfig(**{**vars(CONFIG), "seed": 1})
    made(material, tmp_path / "other", 1, other)
    first = "JPEGImages/000000/00000.jpg"
    assert contents(tmp_path / "other")[first] != contents(tmp_path / "whole")[first]
    with pytest.raises(InputError, match="have seed 0, not 1"):
        made(material, tmp_path / "whole", 3, other)


@pytest.mark.slow
def test_several_processes_make_the_same_clips(material: Path, tmp_path: Path) -> None:
    made(material, tmp_path / "one", 3)
    made(material, tmp_path / "two", 3, jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_other_folders_are_left_alone(material: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(InputError, match="is not empty"):
        made(material, tmp_path, 1)
    assert contents(tmp_path) == {"mine.txt": b"precious"}


@pytest.mark.parametrize("wrong", [{"frames": 0}, {"height": 8}, {"fewest": 0}, {"fewest": 3, "most": 2}, {"most": 21}])
def test_settings_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="expected"):
        RenderConfig(**wrong)


def test_backgrounds(material: Path, tmp_path: Path) -> None:
    film, photo = sorted(list_backgrounds(material / "behind"), key=lambda one: -len(one.files))
    assert len(film.files) == 6
    assert len(photo.files) == 1
    shots = list(film.frames(9, np.random.default_rng(0)))
    assert len(shots) == 9
    assert np.array_equal(shots[0], shots[-1]) or np.array_equal(shots[4], shots[6])  # back and forth
    assert len({shot.tobytes() for shot in photo.frames(3, np.random.default_rng(0))}) == 1
    with pytest.raises(InputError, match="found none"):
        list_backgrounds(tmp_path)
    with pytest.raises(InputError, match="is none"):
        list_backgrounds(tmp_path / "nowhere")


def test_a_video_is_a_background(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    write_video(path, [Fraction(i, 25) for i in range(3)])
    (background,) = list_backgrounds(tmp_path)
    assert background == Background((path,))
    assert len(list(background.frames(5, np.random.default_rng(0)))) == 5


def test_a_view_of_the_whole_picture_is_the_picture() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    assert np.array_equal(show(picture, np.array([0.5, 0.5, 1.0]), 40, 60), picture)
    corner = show(picture, np.array([1.0, 1.0, 2.0]), 40, 60)
    assert np.abs(corner[-1, -1].astype(int) - picture[-1, -1]).max() <= 2
    assert show(np.repeat(np.repeat(picture, 8, 0), 8, 1), np.array([0.5, 0.5, 1.0]), 40, 60).shape == (40, 60, 3)
