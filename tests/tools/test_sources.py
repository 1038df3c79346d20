"""Training data out of copies of repositories."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.arrays import VOID
from mobilevos.datasets.photos import list_photos
from mobilevos.errors import InputError
from mobilevos.media.masks import read_mask
from tools.sources import Copy, _alone, _is_one_piece, instances, lay_out, reduced, salient, without_useless


def commit(folder: Path, files: dict[str, np.ndarray]) -> str:
    """A repository with pictures in it; its commit."""
    for name, picture in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(folder / name)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "pictures"]):
        subprocess.run([*git, *words], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def disc(value: int, size: tuple[int, int] = (60, 80)) -> np.ndarray:
    mask = np.zeros(size, np.uint8)
    mask[20:40, 20:50] = value
    return mask


@pytest.fixture
def pictures() -> dict[str, np.ndarray]:
    photo = np.full((60, 80, 3), 99, np.uint8)
    return {
        "photos/a.png": photo,
        "photos/b.png": photo,
        "photos/c.png": photo,
        "masks/a.png": disc(255),
        "masks/b.png": np.full((60, 80), 255, np.uint8),
        "ids/a.png": np.where(np.arange(80) < 3, np.uint8(7), disc(4)),
    }


def test_photos_with_white_objects(
    tmp_path: Path, pictures: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has no mask, and one mask covers all of its photo."""
    made = commit(tmp_path / "me+it" / "repo", pictures)
    monkeypatch.setitem(lay_out.__globals__["PHOTOS"], "small", salient("me/it", made, ("photos", "masks")))
    assert lay_out(tmp_path, tmp_path / "data", "small") == 1
    (file,) = list_photos(tmp_path / "data" / "small")
    np.testing.assert_array_equal(read_mask(file.mask), disc(1))
    assert not (tmp_path / "data" / "small.part").exists()


def test_photos_with_numbered_objects(tmp_path: Path, pictures: dict[str, np.ndarray]) -> None:
    made = commit(tmp_path / "me+it" / "repo", pictures)
    found = list(instances("me/it", made, "photos", "ids", ending=".png")(tmp_path))
    ((stem, photo, labels),) = found
    assert (stem, None if photo is None else photo.shape) == ("a", (60, 80, 3))
    assert labels is not None
    kept = without_useless(labels)
    assert kept is not None
    assert (kept[:, :3] == VOID).all()  # it touches three borders
    assert (kept[20:40, 20:50] == 1).all()


def test_a_copy_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="git folder of me/it"):
        Copy(tmp_path, "me/it", "HEAD")
    commit(tmp_path / "me+it" / "repo", {"a.png": disc(1)})
    with pytest.raises(InputError, match="no commit 1234567"):
        Copy(tmp_path, "me/it", "1234567")
    with Copy(tmp_path, "me/it", "HEAD") as copy:
        assert copy["b.png"] is None
        np.testing.assert_array_equal(copy.labels("a.png"), disc(1))


def test_pictures_are_reduced_and_never_enlarged() -> None:
    photo, ids = reduced(np.zeros((960, 1280, 3), np.uint8), disc(1, (960, 1280)))
    assert photo.shape[:2] == ids.shape == (480, 640)
    assert reduced(np.zeros((60, 80, 3), np.uint8), disc(1))[1].shape == (60, 80)


def test_of_masks_of_kinds_only_what_is_alone_is_known() -> None:
    kinds = np.where(np.arange(80) < 10, np.uint8(15), disc(12))  # people, and a dog
    names = ["person", "dog", "person", "horse"]
    boxes = "".join(f"<object><name>{name}</name></object>" for name in names)
    ids = _alone(kinds, f"<annotation>{boxes}</annotation>".encode())
    assert (ids[:, :10] == VOID).all()
    np.testing.assert_array_equal(ids[:, 10:], disc(1)[:, 10:])


def test_one_piece() -> None:
    dust, pair = disc(1), disc(1)
    dust[0, 0] = 1
    pair[50:55, 60:70] = 1
    assert [_is_one_piece(mask) for mask in (disc(1), dust, pair, disc(0))] == [True, True, False, False]
