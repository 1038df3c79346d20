"""DAVIS: parity with the public tool, the rules of the protocol, and what is said about bad folders."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mobilevos.datasets.davis import object_count, read_davis
from mobilevos.errors import InputError
from mobilevos.evaluation.davis import evaluate_davis, score_sequence, summarise
from mobilevos.evaluation.scores import SequenceScores
from mobilevos.media.masks import write_mask
from tests.evaluation.reference_cases import REFERENCE, cases, read_real, write_dataset

REFERENCES = json.loads(REFERENCE.read_text())


def check_parity(name: str, scores: SequenceScores) -> None:
    """Every object and frame, and every mean and recall, to 1e-9; decay too, but for its known error."""
    reference = REFERENCES[name]
    for measure, values, statistics in (("J", scores.j, scores.j_statistics), ("F", scores.f, scores.f_statistics)):
        if measure in reference:
            np.testing.assert_allclose(values, reference[measure], rtol=0, atol=1e-9)
        assert [each.mean for each in statistics] == pytest.approx(reference[f"{measure}-M"], abs=1e-9)
        assert [each.recall for each in statistics] == pytest.approx(reference[f"{measure}-R"], abs=1e-9)
        if len(scores.frames) <= 256:
            assert [each.decay for each in statistics] == pytest.approx(reference[f"{measure}-D"], abs=1e-9)


@pytest.mark.parametrize("name", cases())
def test_parity_with_the_public_tool(name: str) -> None:
    check_parity(name, score_sequence(*cases()[name], name=name))


def test_parity_on_real_clips(shared_data: Path) -> None:
    for name, (preds, truths) in read_real(shared_data).items():
        check_parity(name, score_sequence(preds, truths, name=name))


def test_decay_where_the_public_tool_has_none() -> None:
    """Of 300 scored frames the tool's 8-bit places make an empty quarter and no decay; ours falls from good to bad."""
    scores = score_sequence(*cases()["long"])
    assert all(math.isnan(value) for value in REFERENCES["long"]["J-D"])
    j = scores.j[0]
    # the places 1, 75.75 -> 76, ..., 225.25 -> 225, 300, counted from 1 and inclusive
    assert scores.j_statistics[0].decay == pytest.approx(j[:76].mean() - j[224:].mean(), abs=1e-12)
    assert scores.j_statistics[0].decay > 0.5


def test_the_first_and_the_last_frame_are_not_scored() -> None:
    truths = np.zeros((5, 20, 20), np.uint8)
    truths[:, 5:10, 5:10] = 1
    preds = truths.copy()
    preds[0], preds[-1] = 0, 0
    scores = score_sequence(preds, truths)
    assert scores.frames == ("00001", "00002", "00003")
    assert scores.j.tolist() == scores.f.tolist() == [[1, 1, 1]]
    assert scores.j_and_f == 1


def test_void_is_background() -> None:
    truths = np.zeros((3, 20, 20), np.uint8)
    truths[:, 5:15, 5:15] = 1
    preds = truths.copy()
    truths[:, 5:15, 5:10] = 255
    assert object_count(truths[0]) == 1
    # half of what was predicted is void: wrong, not left out
    assert score_sequence(preds, truths).j.tolist() == [[0.5]]


def test_means_are_over_objects() -> None:
    """Two sequences, one object of J 1 and three of J 0: a quarter, not a half."""
    one = SequenceScores("one", (1,), ("00001",), np.ones((1, 1)), np.ones((1, 1)))
    three = SequenceScores("three", (1, 2, 3), ("00001",), np.zeros((3, 1)), np.zeros((3, 1)))
    assert summarise([one, three])["J&F-Mean"] == 0.25
    with pytest.raises(InputError, match="no object"):
        summarise([])


def test_other_integer_types_score_alike() -> None:
    preds, truths = cases()["three"]
    expected = score_sequence(preds, truths)
    other = score_sequence(preds.astype(np.int64), truths.astype(np.int32))
    assert np.array_equal(expected.j, other.j)
    assert np.array_equal(expected.f, other.f)


@pytest.mark.parametrize(
    ("preds", "truths", "message"),
    [
        (np.zeros((4, 8, 8), int), np.ones((4, 8, 9), int), "of one shape"),
        (np.zeros((2, 8, 8), int), np.ones((2, 8, 8), int), "T >= 3"),
        (np.zeros((4, 8, 8), int), np.zeros((4, 8, 8), int), "no object"),
        (np.full((4, 8, 8), 2), np.ones((4, 8, 8), int), "frame 00001: the prediction has id 2"),
        (np.full((4, 8, 8), -1), np.ones((4, 8, 8), int), "frame 00001: the prediction has id -1"),
        (np.full((4, 8, 8), 255), np.ones((4, 8, 8), int), "frame 00001: the prediction has id 255"),
    ],
)
def test_bad_arrays(preds: np.ndarray, truths: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_sequence(preds, truths)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A small DAVIS with predictions."""
    write_dataset(tmp_path, {name: cases()[name] for name in ("one", "edges", "late")})
    return tmp_path


@pytest.mark.parametrize("processes", [1, 2])
def test_folders(dataset: Path, processes: int) -> None:
    told: list[tuple[str, int | None, int]] = []

    @contextmanager
    def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
        yield lambda done: told.append((what, total, done))

    evaluation = evaluate_davis(read_davis(dataset), dataset / "predictions", processes, progress)
    assert evaluation.protocol == "DAVIS 2017"
    assert [scores.name for scores in evaluation.sequences] == ["one", "edges", "late"]
    for scores in evaluation.sequences:
        check_parity(scores.name, scores)
    means = [value for name in ("one", "edges", "late") for value in REFERENCES[name]["J-M"]]
    assert evaluation.figures["J-Mean"] == pytest.approx(np.mean(means), abs=1e-9)
    assert told[-1] == ("scoring", 12 + 81 + 10, 12 + 81 + 10)
    assert evaluation.notes == (
        "late: id 3 is in the ground truth of frame 00001 but was never given; it is not scored",
    )


def test_first_and_last_predictions_and_pictures_are_not_needed(dataset: Path) -> None:
    for name in ("00000", "00013"):
        (dataset / "predictions" / "one" / f"{name}.png").unlink()
    for picture in (dataset / "JPEGImages" / "480p" / "one").iterdir():
        picture.unlink()
    (dataset / "list.txt").write_text("one\n")
    evaluation = evaluate_davis(read_davis(dataset, str(dataset / "list.txt")), dataset / "predictions")
    check_parity("one", evaluation.sequences[0])


def spoil_missing(folder: Path) -> None:
    (folder / "00003.png").unlink()
    (folder / "00005.png").unlink()


def spoil_all(folder: Path) -> None:
    for path in list(folder.iterdir()):
        path.unlink()
    folder.rmdir()


def spoil_size(folder: Path) -> None:
    write_mask(folder / "00003.png", np.zeros((90, 160), np.uint8))


def spoil_id(folder: Path) -> None:
    write_mask(folder / "00003.png", np.full((180, 320), 4, np.uint8))


def spoil_file(folder: Path) -> None:
    (folder / "00003.png").write_bytes((folder / "00003.png").read_bytes()[:100])


def spoil_mode(folder: Path) -> None:
    Image.new("RGB", (320, 180)).save(folder / "00003.png")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_missing, r"one, frame 00003: there is no prediction .*\(2 of the 12 scored frames"),
        (spoil_all, r"one, frame 00001: there is no prediction .*\(12 of the 12 scored frames"),
        (spoil_size, "one, frame 00003: the prediction is 160 x 90 pixels, the ground truth 320 x 180"),
        (spoil_id, "one, frame 00003: the prediction has id 4, the objects are 1$"),
        (spoil_file, "one, frame 00003: .*cannot be read"),
        (spoil_mode, "one, frame 00003: .*RGB"),
    ],
)
def test_bad_predictions_are_named(dataset: Path, spoil, message: str) -> None:  # type: ignore[no-untyped-def]
    spoil(dataset / "predictions" / "one")
    with pytest.raises(InputError, match=message):
        evaluate_davis(read_davis(dataset), dataset / "predictions")


def test_bad_predictions_are_named_by_other_processes(dataset: Path) -> None:
    spoil_id(dataset / "predictions" / "one")
    with pytest.raises(InputError, match="one, frame 00003: the prediction has id 4"):
        evaluate_davis(read_davis(dataset), dataset / "predictions", processes=2)


def test_no_folder_of_predictions(dataset: Path) -> None:
    with pytest.raises(InputError, match="no folder of predictions"):
        evaluate_davis(read_davis(dataset), dataset / "nowhere")


def test_bad_datasets_are_named(dataset: Path) -> None:
    with pytest.raises(InputError, match="expected a DAVIS folder"):
        read_davis(dataset / "ImageSets")
    with pytest.raises(InputError, match=r"no split 'train' .* there is val"):
        read_davis(dataset, "train")
    with pytest.raises(InputError, match="expected DAVIS 2016 or 2017"):
        read_davis(dataset, year=2018)
    annotations = dataset / "Annotations" / "480p" / "one"
    (annotations / "00004.png").unlink()
    with pytest.raises(InputError, match="one, frame 00004: there is a picture but no annotation"):
        read_davis(dataset)
    write_mask(annotations / "00000.png", np.zeros((180, 320), np.uint8))
    (annotations / "00004.png").write_bytes((annotations / "00003.png").read_bytes())
    with pytest.raises(InputError, match="one, frame 00000: the annotation has no object"):
        read_davis(dataset)
    (annotations / "00000.png").unlink()
    with pytest.raises(InputError, match="one, frame 00000: the first frame has no annotation"):
        read_davis(dataset)
    (dataset / "ImageSets" / "2017" / "val.txt").write_text("nothing-there\n")
    with pytest.raises(InputError, match="nothing-there: there is no annotation"):
        read_davis(dataset)
    (dataset / "ImageSets" / "2017" / "val.txt").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        read_davis(dataset)


def test_hidden_ground_truth(dataset: Path) -> None:
    for path in sorted((dataset / "Annotations" / "480p" / "one").iterdir())[1:]:
        path.unlink()
    clips = read_davis(dataset)
    assert not clips[0].scored
    assert clips[0].wanted == tuple(f"{time:05d}" for time in range(14))
    with pytest.raises(InputError, match="one cannot be scored"):
        evaluate_davis(clips, dataset / "predictions")


def test_2016_is_one_object_whatever_its_label(tmp_path: Path) -> None:
    """Ground truths of 0 and 255, as DAVIS 2016 has them, predictions of several ids, and lists of files."""
    preds, truths = cases()["three"]
    write_dataset(tmp_path, {"clip": (preds, np.where(truths, 255, 0).astype(np.uint8))})
    with pytest.raises(InputError, match=r"no object .*year 2016"):
        read_davis(tmp_path)
    (tmp_path / "ImageSets" / "480p").mkdir()
    lines = [f"/JPEGImages/480p/clip/{time:05d}.jpg /Annotations/480p/clip/{time:05d}.png" for time in range(12)]
    (tmp_path / "ImageSets" / "480p" / "val.txt").write_text("\n".join(lines))
    clips = read_davis(tmp_path, year=2016)
    assert [clip.name for clip in clips] == ["clip"]
    evaluation = evaluate_davis(clips, tmp_path / "predictions")
    expected = score_sequence(preds > 0, truths > 0)
    assert evaluation.protocol == "DAVIS 2016"
    assert np.array_equal(evaluation.sequences[0].j, expected.j)
    assert np.array_equal(evaluation.sequences[0].f, expected.f)


def test_void_is_background_in_2016_too(tmp_path: Path) -> None:
    """A third of the ground truth is void: a prediction without it is perfect, one that has it is not."""
    truths = np.zeros((5, 30, 60), np.uint8)
    truths[:, 5:20, 10:35] = 1
    preds = truths.copy()
    truths[:, :, 40:] = 255
    write_dataset(tmp_path, {"clip": (preds, truths)})
    split = str(tmp_path / "ImageSets" / "2017" / "val.txt")
    clips = read_davis(tmp_path, split, 2016)
    assert not (clips[0].truth("00000") > 1).any()
    evaluation, expected = (
        evaluate_davis(read_davis(tmp_path, split, year), tmp_path / "predictions") for year in (2016, 2017)
    )
    assert evaluation.figures["J&F-Mean"] == 1
    assert evaluation.figures == expected.figures
    for path in (tmp_path / "predictions" / "clip").iterdir():
        write_mask(path, np.ones(truths.shape[1:], np.uint8))
    assert evaluate_davis(clips, tmp_path / "predictions").figures["J-Mean"] < 0.9
