"""Removal against the scene as it is without the object."""

from dataclasses import replace
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from mobilevos.errors import InputError
from mobilevos.media.masks import write_mask
from mobilevos.removal import remove
from mobilevos.removal.carry import INVENTED, NEVER, Carrier, Remembered
from mobilevos.removal.fill import fill
from mobilevos.synthetic.clip import synthetic_frames
from tests.builders.films import write_video
from tests.builders.pictures import write_frames, write_masks

SIZE = {"height": 120, "width": 214, "objects": 2, "seed": 1}
COUNT = 30


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[np.ndarray]]:
    """A folder with frames and masks of animal 2 with its shadow, and the frames as they are without it."""
    folder = tmp_path_factory.mktemp("scene")
    truth = [frame for frame, _ in synthetic_frames(frames=COUNT, without=[2], **SIZE)]
    shots = list(synthetic_frames(frames=COUNT, **SIZE))
    changed = [
        (ids == 2) | (np.abs(frame.astype(int) - bare).max(2) > 3)
        for (frame, ids), bare in zip(shots, truth, strict=True)
    ]
    write_frames(folder / "frames", [frame for frame, _ in shots])
    write_masks(folder / "masks", [where.astype(np.uint8) for where in changed])
    return folder, truth


def quality(picture: np.ndarray, truth: np.ndarray, where: np.ndarray) -> float:
    """Peak signal-to-noise ratio in decibels."""
    return float(10 * np.log10(255**2 / np.mean((picture[where].astype(float) - truth[where]) ** 2)))


def test_it_is_much_nearer_to_the_truth_than_painting(scene: tuple[Path, list[np.ndarray]], tmp_path: Path) -> None:
    folder, truth = scene
    result = remove(folder / "frames", folder / "masks", tmp_path / "out", grow=2)
    assert result.frames == COUNT
    assert result.invented < 0.05
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"removed.mp4", "masks-240p", ".removed.json"}
    with av.open(str(result.video)) as video:
        pictures = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(pictures) == COUNT
    ours, painted = [], []
    for index in range(0, COUNT, 7):
        hole = np.asarray(Image.open(folder / "masks" / f"{index:05d}.png")) > 0
        frame = np.asarray(Image.open(folder / "frames" / f"{index:05d}.png"))
        flat = cv2.inpaint(frame, cv2.dilate(hole.astype(np.uint8), np.ones((5, 5))), 5, cv2.INPAINT_TELEA)
        ours.append(quality(pictures[index], truth[index], hole))
        painted.append(quality(flat, truth[index], hole))
    assert np.mean(ours) > 26
    assert np.mean(ours) > np.mean(painted) + 5


def test_frames_that_are_painted_are_named(tmp_path: Path) -> None:
    """A still camera, and a square that is gone in the last three frames, or stays to the end."""
    rng = np.random.default_rng(0)
    ground = rng.integers(80, 160, (64, 96, 3), np.uint8)
    masks = [np.zeros((64, 96), np.uint8) for _ in range(8)]
    for mask in masks[:5]:
        mask[10:30, 10:30] = 1
    write_frames(tmp_path / "frames", [np.where(mask[..., None] > 0, np.uint8(250), ground) for mask in masks])
    write_masks(tmp_path / "masks", masks)
    seen = remove(tmp_path / "frames", tmp_path / "masks", tmp_path / "seen", grow=0)
    assert (seen.painted, seen.notes) == ((), ())
    for mask in masks:
        mask[10:30, 10:30] = 1
    write_masks(tmp_path / "masks", masks)
    stays = remove(tmp_path / "frames", tmp_path / "masks", tmp_path / "stays", grow=0)
    assert stays.painted == tuple(range(8))
    assert stays.notes == ("Frames 0 to 7: more than a tenth of what was hidden is painted there, not seen elsewhere.",)
    again = remove(tmp_path / "frames", tmp_path / "masks", tmp_path / "stays", grow=0, resume=True)
    assert (again.complete, again.painted) == (True, stays.painted)


def test_masks_for_other_programs(scene: tuple[Path, list[np.ndarray]], tmp_path: Path) -> None:
    folder, _ = scene
    remove(folder / "frames", folder / "masks", tmp_path / "out", grow=3)
    small = sorted((tmp_path / "out" / "masks-240p").iterdir())
    assert [p.name for p in small] == [f"{i:05d}.png" for i in range(COUNT)]
    with Image.open(small[4]) as image:
        assert image.size == (432, 240)
        mask = np.asarray(image)
    assert set(np.unique(mask)) == {0, 255}
    original = np.asarray(Image.open(folder / "masks" / "00004.png").resize((432, 240), Image.Resampling.NEAREST)) > 0
    assert (mask > 0)[original].all()
    assert (mask > 0).sum() > original.sum() * 1.05


def test_a_killed_run_begins_again_and_a_finished_one_is_left_alone(
    scene: tuple[Path, list[np.ndarray]], tmp_path: Path
) -> None:
    folder, _ = scene
    out = tmp_path / "out"
    for name in ("masks-240p", ".future"):  # as a killed process leaves them
        (out / name).mkdir(parents=True)
        (out / name / "99999.png").write_text("half")
    first = remove(folder / "frames", folder / "masks", out, grow=2)
    assert {p.name for p in out.iterdir()} == {"removed.mp4", "masks-240p", ".removed.json"}
    assert len(list((out / "masks-240p").iterdir())) == COUNT
    made = (out / "removed.mp4").stat().st_mtime_ns
    again = remove(folder / "frames", folder / "masks", out, grow=2, resume=True)
    assert again == replace(first, complete=True, notes=())
    assert (out / "removed.mp4").stat().st_mtime_ns == made
    with pytest.raises(InputError, match="was made otherwise: its grow was 2, now it is 5"):
        remove(folder / "frames", folder / "masks", out, grow=5, resume=True)
    (out / ".future").mkdir()  # of a run that was forced, and killed
    with pytest.raises(InputError, match="exists already"):
        remove(folder / "frames", folder / "masks", out, grow=2)
    assert not remove(folder / "frames", folder / "masks", out, grow=2, resume=True).complete
    (out / ".removed.json").unlink()
    with pytest.raises(InputError, match=r"nothing to resume in .*: it has removed\.mp4"):
        remove(folder / "frames", folder / "masks", out, grow=2, resume=True)


def test_a_forced_run_that_fails_leaves_the_earlier_results(
    scene: tuple[Path, list[np.ndarray]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = scene
    out = tmp_path / "out"
    remove(folder / "frames", folder / "masks", out, grow=2)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    write_masks(tmp_path / "few", [np.ones((120, 214), np.uint8)])
    with pytest.raises(InputError, match="expected 30 masks"):
        remove(folder / "frames", tmp_path / "few", out, force=True)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before

    def stop(self: Carrier, *rest: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Carrier, "learn", stop)
    with pytest.raises(KeyboardInterrupt):
        remove(folder / "frames", folder / "masks", out, grow=9, force=True)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_source_and_masks_are_not_replaced(scene: tuple[Path, list[np.ndarray]], tmp_path: Path) -> None:
    folder, _ = scene
    (tmp_path / "masks-240p").mkdir()
    write_mask(tmp_path / "masks-240p" / "0.png", np.ones((120, 214), np.uint8))
    mine = write_video(tmp_path / "removed.mp4").read_bytes()
    for source, masks in (
        (tmp_path / "removed.mp4", folder / "masks"),
        (tmp_path / "masks-240p", folder / "masks"),
        (folder / "frames", tmp_path / "masks-240p"),
    ):
        with pytest.raises(InputError, match=r"is to be read, but lies where .* goes; give another folder"):
            remove(source, masks, tmp_path, force=True)
    assert (tmp_path / "removed.mp4").read_bytes() == mine
    assert (tmp_path / "masks-240p" / "0.png").exists()


def test_what_was_seen_is_shown_and_what_was_not_is_painted_once() -> None:
    """A still scene: an object that moves uncovers all, one that stays hides the same, and keeps the same paint."""
    rng = np.random.default_rng(0)
    wall = cv2.GaussianBlur(rng.integers(0, 256, (48, 64, 3)).astype(np.uint8), (0, 0), 2)
    carrier = Carrier()
    pictures = []
    for time in range(6):
        hole = np.zeros((48, 64), bool)
        hole[10:22, 10 + 4 * time : 18 + 4 * time] = True  # moves
        hole[30:40, 20:30] = True  # stays
        frame = np.where(hole[..., None], np.uint8(255), wall)
        known = carrier.take(frame, hole)
        filled = fill(hole, known, None)
        carrier.learn(filled.picture, filled.age)
        pictures.append(filled)
    last = pictures[-1]
    assert (last.age[32:38, 22:28] == INVENTED).all()
    moved = last.picture[12:20, 33:36].astype(int)  # hidden now, seen at first
    assert (last.age[12:20, 33:36] < INVENTED).all()
    assert np.abs(moved - wall[12:20, 33:36]).mean() < 12
    steady = np.abs(last.picture[32:38, 22:28].astype(int) - pictures[1].picture[32:38, 22:28])
    assert steady.mean() < 4
    np.testing.assert_array_equal(last.picture[:8], wall[:8])


def test_two_memories_are_joined_by_their_age() -> None:
    hole = np.ones((1, 4), bool)

    def memory(values: list[int], ages: list[int]) -> Remembered:
        picture = np.repeat(np.array(values, np.uint8)[None, :, None], 3, 2)
        return Remembered(picture, np.array([ages], np.uint8))

    past = memory([100, 100, 100, 0], [1, 2, NEVER, 3])
    future = memory([116, 200, 80, 0], [3, 1, 9, NEVER])
    joined = fill(hole, past, future)
    # 3/4 of the fresher one; the fresher one alone where they disagree; the only one there is
    assert joined.picture[0, :3, 0].tolist() == [104, 200, 80]
    assert joined.age.tolist() == [[1, 1, 9, 3]]


def test_what_does_not_fit(scene: tuple[Path, list[np.ndarray]], tmp_path: Path) -> None:
    folder, _ = scene
    write_masks(tmp_path / "few", [np.ones((120, 214), np.uint8)])
    write_masks(tmp_path / "small", [np.ones((12, 21), np.uint8)])
    for masks, message in (
        (tmp_path / "few", "expected 30 masks, one for each frame, got 1"),
        (tmp_path / "small", "expected masks of 214 x 120 pixels"),
        (tmp_path / "none", "expected a folder of masks"),
    ):
        with pytest.raises(InputError, match=message):
            remove(folder / "frames", masks, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="read only once"):
        remove("-", tmp_path / "few", tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "removed.mp4").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        remove(folder / "frames", folder / "masks", tmp_path / "out")
    assert (tmp_path / "out" / "removed.mp4").read_text() == "mine"
