"""YouTube-VOS: late objects, gaps in ids, annotated frames only, seen and unseen classes, hidden ground truths."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from mobilevos.datasets.youtube import read_youtube
from mobilevos.errors import InputError
from mobilevos.evaluation.metrics import boundary_f, jaccard
from mobilevos.evaluation.prediction import predict_videos
from mobilevos.evaluation.youtube import evaluate_youtube
from mobilevos.model.checkpoint import build
from mobilevos.runtime.torch_runtime import TorchRuntime
from mobilevos.tracking import Tracker
from tests.builders.youtube import objects_of, write_youtube
from tests.evaluation.youtube_case import PREDICTIONS, TRUTHS, VIDEOS, box, truths_of, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "predictions", PREDICTIONS)
    return write_youtube(tmp_path / "valid", {clip: (None, truths_of(clip)) for clip in VIDEOS}, VIDEOS)


def test_clips(root: Path) -> None:
    late, plain = read_youtube(root).tasks
    assert late.objects == (1, 4)
    assert late.given == {"00000": (1,), "00005": (4,)}
    assert late.scored == {"00005": (1,), "00010": (1,), "00015": (1, 4)}
    assert late.wanted == ("00000", "00005", "00010", "00015")
    assert plain.given == {"00010": (2,)}
    assert plain.scored == {"00020": (2,)}
    assert plain.wanted == ("00010", "00020")


@pytest.mark.parametrize("seen_file", ["classes.txt", "meta.json"])
def test_g_is_the_mean_over_seen_and_unseen(root: Path, seen_file: str) -> None:
    seen = root.parent / seen_file
    if seen_file == "meta.json":
        write_youtube(seen.parent, {}, {"a": objects_of({1: "dog", 2: "cat"}, [0])})
    else:
        seen.write_text("dog\ncat\n")
    evaluation = evaluate_youtube(read_youtube(root, seen=seen), root.parent / "predictions")

    def mean(measure, clip: str, index: int, frames: list[str]) -> float:  # type: ignore[no-untyped-def]
        names = [f"{clip}/{frame}" for frame in frames]
        return float(np.mean([measure(PREDICTIONS[name] == index, TRUTHS[name] == index) for name in names]))

    figures = {}
    for letter, measure in (("J", jaccard), ("F", boundary_f)):
        dog = mean(measure, "late", 1, ["00005", "00010", "00015"])
        figures[f"{letter}-Unseen"] = mean(measure, "late", 4, ["00015"])
        figures[f"{letter}-Seen"] = (dog + mean(measure, "plain", 2, ["00020"])) / 2
    assert figures["J-Unseen"] == 17 / 23  # a square of 20 shifted by 3
    assert evaluation.figures == pytest.approx({"G": np.mean(list(figures.values())), **figures}, abs=1e-12)
    assert not evaluation.notes
    late = evaluation.sequences[0]
    assert np.isnan(late.j[1]).tolist() == [True, True, False]


def test_the_training_set_beside_tells_what_is_seen(root: Path) -> None:
    (root.parent / "train").mkdir()
    write_youtube(root.parent / "train", {}, {"a": objects_of({1: "zebra"}, [0])})
    assert read_youtube(root).seen == {"zebra"}


def test_without_classes_all_is_seen_and_said(root: Path) -> None:
    evaluation = evaluate_youtube(read_youtube(root), root.parent / "predictions")
    assert list(evaluation.figures) == ["G", "J-Seen", "F-Seen"]
    assert evaluation.notes == ("the classes of the training set are not known: all count as seen",)


def test_a_split(root: Path) -> None:
    (root / "list.txt").write_text("plain\n")
    assert [clip.name for clip in read_youtube(root, root / "list.txt").tasks] == ["plain"]
    (root / "list.txt").write_text("plain\nother\n")
    with pytest.raises(InputError, match="other is in the list of sequences but not in"):
        read_youtube(root, root / "list.txt")


def test_objects_and_clips_without_a_frame_to_score_are_said(root: Path) -> None:
    videos = deepcopy(VIDEOS)
    videos["late"]["objects"]["4"]["frames"] = ["00005"]
    videos["plain"]["objects"]["2"]["frames"] = ["00010"]
    write_youtube(root, {}, videos)
    evaluation = evaluate_youtube(read_youtube(root), root.parent / "predictions")
    assert [scores.objects for scores in evaluation.sequences] == [(1,)]
    assert evaluation.notes[:2] == (
        "late: object 4 has no frame to score after the one in which it was given",
        "plain: no object has a frame to score",
    )


def test_ids_in_the_gap_are_named(root: Path) -> None:
    write(root.parent / "predictions", {"late/00010": box((3, 5, 15))})
    with pytest.raises(InputError, match="late, frame 00010: the prediction has id 3, the objects are 1, 4"):
        evaluate_youtube(read_youtube(root), root.parent / "predictions")


def test_hidden_ground_truth(root: Path) -> None:
    for name in TRUTHS:
        if name not in ("late/00000", "late/00005", "plain/00010"):
            (root / "Annotations" / f"{name}.png").unlink()
    dataset = read_youtube(root)
    assert not any(clip.scored for clip in dataset.tasks)
    with pytest.raises(InputError, match="late cannot be scored"):
        evaluate_youtube(dataset, root.parent / "predictions")


def test_missing_annotations_are_named(root: Path) -> None:
    (root / "Annotations" / "late" / "00010.png").unlink()
    with pytest.raises(InputError, match=r"late, frame 00010: meta.json lists the frame, but there is no annotation"):
        read_youtube(root)
    (root / "Annotations" / "late" / "00005.png").unlink()
    with pytest.raises(InputError, match="late, frame 00005: objects are given here, but there is no annotation"):
        read_youtube(root)


def test_missing_pictures_are_named(root: Path) -> None:
    write(root / "JPEGImages", {"late/00000": box()})
    with pytest.raises(InputError, match=r"late, frame 00005: meta.json lists the frame, but there is no picture"):
        read_youtube(root)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "with an entry 'videos'"),
        ("[]", "with an entry 'videos'"),
        ('{"videos": {}}', "got none"),
        ('{"videos": {"late": {}}}', "late: expected objects with"),
        ('{"videos": {"late": {"objects": {}}}}', "late: meta.json has no object"),
        (
            '{"videos": {"late": {"objects": {"0": {"category": "a", "frames": ["0"]}}}}}',
            "late: expected ids of 1 to 254",
        ),
        ('{"videos": {"late": {"objects": {"1": {"category": "a", "frames": []}}}}}', "late: expected ids of 1 to 254"),
    ],
)
def test_bad_meta(root: Path, text: str, message: str) -> None:
    (root / "meta.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_youtube(root)


def test_no_meta(root: Path) -> None:
    (root / "meta.json").unlink()
    with pytest.raises(InputError, match="expected a YouTube-VOS folder"):
        read_youtube(root)


def test_objects_that_come_late_are_remembered_as_they_were_given(tmp_path: Path) -> None:
    """Five objects, given at frames 0, 10, 20, 30 and 40: at the end each still has its own annotation."""
    times, shape = (0, 10, 20, 30, 40), (32, 96)
    truths = {}
    for number in range(45):
        truths[number] = np.zeros(shape, np.uint8)
        for index, time in enumerate(times):
            if number >= time:
                truths[number][8:24, 16 * index + 2 : 16 * index + 14] = index + 1
    pictures = np.random.default_rng(0).integers(0, 256, (45, *shape, 3), np.uint8)
    meta = {
        "objects": {
            str(index + 1): {"category": "dog", "frames": [f"{number:05d}" for number in range(time, 45)]}
            for index, time in enumerate(times)
        }
    }
    dataset = read_youtube(write_youtube(tmp_path / "valid", {"late": (pictures, truths)}, {"late": meta}))
    tracker = Tracker(TorchRuntime(build("mobilenetv2-lite")), queue=2, size=None)
    predict_videos(tracker, dataset.tasks, tmp_path / "predictions", {})
    queue = tracker.state().group.queue
    assert [seen.time for seen in queue.seen] == [*times, 44]
    assert queue.given == tuple(frozenset({index}) for index in range(5))
    for slot, (seen, time) in enumerate(zip(queue.seen[:5], times, strict=True)):
        assert len(seen.masks) == slot + 1
        np.testing.assert_array_equal(seen.masks[slot] > 0.5, truths[time] == slot + 1)
    assert (tmp_path / "predictions" / "late" / "00044.png").is_file()
