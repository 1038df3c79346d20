"""Clips from videos on disk."""

from pathlib import Path

import numpy as np
import pytest

from mobilevos.clips import ClipConfig, PhotoSource, VideoSource
from mobilevos.clips.videos import choose_frames, choose_frames_from_afar
from mobilevos.errors import InputError
from tests.builders.bl30k import write_bl30k
from tests.builders.coloured import filmed, labels_of, photo_folder
from tests.builders.davis import davis_masks, davis_pictures, write_davis
from tests.builders.pictures import write_masks
from tests.builders.youtube import write_youtube
from tests.clips.calm import agreement, calm


def _davis(root: Path, mode: str = "P") -> Path:
    clips = dict.fromkeys(("ant", "bee", "cat"), filmed())
    return write_davis(root, clips, {"2017/train": ["ant", "cat"]}, ending="png", mode=mode)


@pytest.mark.parametrize("cached", [False, True])
def test_masks_belong_to_their_frames(tmp_path: Path, cached: bool) -> None:
    source = VideoSource("davis", _davis(tmp_path / "data"), cache=tmp_path / "cache" if cached else None)
    for seed in range(10):
        clip = source.sample(np.random.default_rng(seed), calm(size=96, frames=4), 1)
        assert agreement(clip) > 0.95


def test_one_bit_annotations(tmp_path: Path) -> None:
    source = VideoSource("davis", _davis(tmp_path, mode="1"), cache=None)
    clip = source.sample(np.random.default_rng(0), calm(), 1)
    known = clip.masks != 255
    agreement = (labels_of(clip.frames) > 0) == (clip.masks == 1)
    assert agreement[known].mean() > 0.97


def test_choosing_videos(tmp_path: Path) -> None:
    _davis(tmp_path)
    assert VideoSource("davis", tmp_path, cache=None).names == ["ant", "bee", "cat"]
    assert VideoSource("davis", tmp_path, cache=None, exclude=["bee"]).names == ["ant", "cat"]
    assert VideoSource("davis", tmp_path, cache=None, include=["bee", "cat"], exclude=["cat"]).names == ["bee"]
    assert VideoSource("davis", tmp_path, cache=None, split="2017/train").names == ["ant", "cat"]
    only = VideoSource("davis", tmp_path, cache=None, include=["bee"])
    assert {only.sample(np.random.default_rng(i), calm(), 1).name for i in range(5)} == {"bee"}
    with pytest.raises(InputError, match="no video 'dog'"):
        VideoSource("davis", tmp_path, cache=None, exclude=["dog"])
    with pytest.raises(InputError, match="no videos are left"):
        VideoSource("davis", tmp_path, cache=None, include=["bee"], exclude=["bee"])
    with pytest.raises(InputError, match="no split '2016/val'"):
        VideoSource("davis", tmp_path, cache=None, split="2016/val")
    with pytest.raises(InputError, match="got both"):
        VideoSource("davis", tmp_path, cache=None, split="2017/train", include=["bee"])


def test_choices_share_the_cache_of_a_video(tmp_path: Path) -> None:
    _davis(tmp_path / "data")
    VideoSource("davis", tmp_path / "data", cache=tmp_path / "cache", include=["bee"])
    first = {path.name for path in (tmp_path / "cache").iterdir()}
    VideoSource("davis", tmp_path / "data", cache=tmp_path / "cache")
    assert first < {path.name for path in (tmp_path / "cache").iterdir()}
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_missing_and_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"JPEGImages/480p is missing"):
        VideoSource("davis", tmp_path / "nothing")
    root = _davis(tmp_path / "data")
    annotations, images = davis_masks(root, "bee"), davis_pictures(root, "bee")
    (annotations / "00003.png").unlink()
    with pytest.raises(InputError, match=r"annotation of the frame .*bee/00003.png is missing"):
        VideoSource("davis", root, cache=tmp_path / "cache")
    (images / "00003.png").unlink()
    (images / "00005.png").unlink()
    with pytest.raises(InputError, match=r"frame of the annotation .*bee/00005.png is missing"):
        VideoSource("davis", root, cache=tmp_path / "cache")
    (annotations / "00005.png").unlink()
    (annotations / "00006.png").write_bytes(b"?")
    with pytest.raises(InputError, match=r"bee/00006\.png cannot be decoded"):
        VideoSource("davis", root, cache=tmp_path / "cache")


def test_youtube_uses_annotated_frames_and_real_ids(tmp_path: Path) -> None:
    """Every 5th frame is annotated, ids have gaps, an object appears late."""
    frames, masks = filmed(length=16, annotated=5)
    for i, labels in masks.items():
        labels[:] = 0
        labels[10:50, 10:50] = 3
        labels[60:90, 60:90] = 7 if i else 0
    write_youtube(tmp_path, {"v1": (frames, masks), "v2": filmed(length=2)}, {"v1": {"objects": {}}})
    source = VideoSource("youtube", tmp_path, cache=None)
    assert source.names == ["v1"]
    forward = calm(size=96, frames=4, crop_min=1.0, reverse=0.0)
    shown = source.sample(np.random.default_rng(1), forward, 1).masks
    assert set(np.unique(shown)) <= {0, 1, 255}
    backward = calm(size=96, frames=4, crop_min=1.0, reverse=1.0)
    shown = source.sample(np.random.default_rng(1), backward, 2).masks
    assert set(np.unique(shown)) - {255} == {0, 1, 2}


def test_youtube_meta_has_to_fit(tmp_path: Path) -> None:
    write_youtube(tmp_path, {"v1": filmed(length=2)}, {"v9": {}})
    with pytest.raises(InputError, match=r"'v9' of .*meta\.json is missing"):
        VideoSource("youtube", tmp_path, cache=None)
    (tmp_path / "meta.json").write_text("[]")
    with pytest.raises(InputError, match=r"meta\.json"):
        VideoSource("youtube", tmp_path, cache=None)


def test_bl30k_parts(tmp_path: Path) -> None:
    source = VideoSource("bl30k", write_bl30k(tmp_path, {part: {f"video-{part}": filmed(length=3)} for part in "af"}))
    assert source.names == ["video-a", "video-f"]
    assert source.sample(np.random.default_rng(0), calm(), 1).masks.shape == (3, 64, 64)
    with pytest.raises(InputError, match="a/ to f/"):
        VideoSource("bl30k", tmp_path / "a" / "JPEGImages")


def test_choose_frames() -> None:
    forward, either = calm(frames=3, max_skip=5, reverse=0.0), calm(frames=3, max_skip=5)
    steps, backwards = set(), 0
    for seed in range(200):
        places = choose_frames(np.random.default_rng(seed), forward, 30)
        assert 0 <= places[0] < places[1] < places[2] < 30
        steps |= set(np.diff(places).tolist())
        places = choose_frames(np.random.default_rng(seed), either, 30)
        backwards += places[0] > places[-1]
    assert steps == {1, 2, 3, 4, 5}
    assert 60 < backwards < 140
    # Annotations every 5th frame: the longest skip of 5 frames is the next annotation.
    assert set(np.diff(choose_frames(np.random.default_rng(0), forward, 30, every=5))) == {1}


@pytest.mark.parametrize(("length", "expected"), [(1, [0, 0, 0, 0]), (2, [0, 1, 0, 1]), (3, [0, 1, 2, 1])])
def test_short_videos_run_to_and_fro(length: int, expected: list[int]) -> None:
    assert choose_frames(np.random.default_rng(0), calm(frames=4, reverse=0.0), length) == expected


def test_frame_0_shows_the_object_even_if_others_do_not(tmp_path: Path) -> None:
    root = _davis(tmp_path)
    for name in ("ant", "bee", "cat"):
        write_masks(davis_masks(root, name), {i: np.zeros((96, 120), np.uint8) for i in range(1, 8)})
    source = VideoSource("davis", root, cache=None)
    for seed in range(5):
        masks = source.sample(np.random.default_rng(seed), calm(), 1).masks
        assert (masks[0] == 1).sum() >= 20
        assert not (masks[1:] == 1).any()


def test_objects_can_be_pasted_from_photos(tmp_path: Path) -> None:
    cutouts = PhotoSource(photo_folder(tmp_path / "photos"), cache=None)
    source = VideoSource("davis", _davis(tmp_path / "davis", mode="1"), cache=None, cutouts=cutouts)
    counts = [(source.sample(np.random.default_rng(i), calm(), 2).masks[0] == 2).any() for i in range(10)]
    assert sum(counts) >= 3


def test_objects_move_as_filmed_in_another_place(tmp_path: Path) -> None:
    """Masks and the objects under them stay as they are, the rest is replaced."""
    cutouts = PhotoSource(photo_folder(tmp_path / "photos"), cache=None)
    source = VideoSource("davis", _davis(tmp_path / "davis", mode="P"), cache=None, cutouts=cutouts)
    differing = 0
    for seed in range(10):
        plain = source.sample(np.random.default_rng(seed), calm(size=96, transplant=0.0), 1)
        clip = source.sample(np.random.default_rng(seed), calm(size=96, transplant=1.0, hue=0.0), 1)
        seen = plain.masks == 1
        assert not ((clip.masks == 1) & ~seen).any()
        assert (clip.masks == 1).sum() > 0.8 * seen.sum()  # without the outer half of its faded edge
        assert not (clip.masks == 255).any()
        # Under the masks the object has kept its colour, but for that edge.
        color = np.bincount(labels_of(plain.frames)[seen]).argmax()
        assert (labels_of(clip.frames)[seen] == color).mean() > 0.85
        differing += (clip.frames[~seen] != plain.frames[~seen]).any(axis=-1).mean() > 0.05
    assert differing >= 8


def test_first_frames_from_afar(tmp_path: Path) -> None:
    config = calm(frames=4, max_skip=5)
    for seed in range(50):
        first, *rest = choose_frames_from_afar(np.random.default_rng(seed), config, 30)
        assert 0 <= first < 30
        assert set(np.abs(np.diff(rest))) <= {1, 2}
    source = VideoSource("davis", _davis(tmp_path), cache=None)
    clips = [source.sample(np.random.default_rng(seed), calm(size=96, frames=4, far=0.5), 1) for seed in range(30)]
    assert 8 <= sum(clip.far for clip in clips) <= 22
    assert min(agreement(clip) for clip in clips if clip.far) > 0.9
    assert not source.sample(np.random.default_rng(0), calm(size=96, frames=2, far=1.0), 1).far


def test_foreign_objects_move_over_footage(tmp_path: Path) -> None:
    """What is labelled comes from the photos; what was filmed is background."""
    cutouts = PhotoSource(photo_folder(tmp_path / "photos"), cache=None)
    source = VideoSource("davis", _davis(tmp_path / "davis"), cache=None, cutouts=cutouts)
    config = calm(size=96, foreign=1.0, hue=0.0, motion_blur=0.0)
    sizes = []
    for seed in range(10):
        clip = source.sample(np.random.default_rng(seed), config, 1)
        assert set(np.unique(clip.masks)) <= {0, 1}
        sizes.append(np.sqrt((clip.masks[0] == 1).sum()))
    assert 15 < np.median(sizes) < 70


def test_real_clips(shared_data: Path) -> None:
    source = VideoSource("davis", shared_data / "davis-2016-train", split="train", exclude=["bmx-bumps"], cache=None)
    assert len(source.names) == 29
    for seed in range(3):
        clip = source.sample(np.random.default_rng(seed), ClipConfig(size=96), 1)
        assert (clip.masks[0] == 1).sum() >= 80
