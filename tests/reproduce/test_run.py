"""From recipes to tables, on a tiny DAVIS."""

import csv
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import pytest

from mobilevos.cli.reproduce import reproduce as command
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, save_checkpoint
from mobilevos.reproduce.paper import EXPERIMENTS, Row
from mobilevos.reproduce.plan import Job, Place
from mobilevos.reproduce.run import plan, reproduce
from mobilevos.reproduce.write import Found, columns_of, read_curve, write_csv, write_markdown
from mobilevos.synthetic.clip import synthetic_clip
from mobilevos.training import loop
from mobilevos.training.recipe import Recipe
from tests.builders.youtube import objects_of, write_youtube
from tests.cli.command import run_command
from tests.reproduce.conftest import RECIPES, TINY


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that would have been trained; their weights are random."""
    names = []

    def train(recipe: Recipe, output: Path, *, fresh: bool = False) -> Path:
        names.append(recipe.name)
        save_checkpoint(output / recipe.name / "last.safetensors", build(recipe.model, locality=recipe.locality))
        (output / recipe.name / "curve.csv").write_text("iteration,loss,validation\n1,2,\n2,1,0.5\n")
        return output / recipe.name / "last.safetensors"

    monkeypatch.setattr(loop, "train", train)
    return names


def test_a_table_from_beginning_to_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained, resumed, scored and written; nothing is done twice."""
    place = dataclasses.replace(place, seeds=2)
    target = reproduce("7", place)
    assert target == place.folder / "table7.md"
    lines = target.read_text().splitlines()
    assert lines[0] == "# Poly loss, MobileNetV2 wo/ ASPP"
    assert lines[4].startswith("| with | 89.8 | ")
    assert lines[5].startswith("| without | 89.8 | ")
    with target.with_suffix(".csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["row"], row["column"], row["paper"]) for row in rows] == [
        ("with", "DAVIS16 J&F", "89.800"),
        ("with", "DAVIS17 J&F", "80.100"),
        ("without", "DAVIS16 J&F", "89.800"),
        ("without", "DAVIS17 J&F", "79.900"),
    ]
    for row in rows:
        one, other = (float(value) for value in row["seeds"].split())
        assert float(row["mean"]) == pytest.approx((one + other) / 2, abs=1e-3)
        assert float(row["spread"]) == pytest.approx(abs(one - other) / 2**0.5, abs=1e-3)
    assert cv2.imread(str(target.with_suffix(".png"))) is not None
    weights = [load_checkpoint(Job("no-poly", seed).weights(place)) for seed in (0, 1)]
    assert not all(
        one.equal(other) for one, other in zip(weights[0].parameters(), weights[1].parameters(), strict=True)
    )

    again = []
    real = loop.train
    monkeypatch.setattr(loop, "train", lambda recipe, output: again.append(recipe.name) or real(recipe, output))
    before = target.read_bytes()
    assert reproduce("table7", place).read_bytes() == before
    assert not again
    (place.runs / "no-poly-seed1" / "done.json").unlink()  # as if it had been stopped
    assert reproduce("table7", place).read_bytes() == before
    assert again == ["no-poly-seed1"]


@pytest.mark.parametrize("name", ["figure2", "figure3", "figure4", "figure5", "figure9"])
def test_figures(name: str, place: Place, trained: list[str]) -> None:
    target = reproduce(name, place, say=lambda line: None)
    rows = target.read_text().splitlines()[4 : 4 + len(EXPERIMENTS[name].rows)]
    assert [row.split(" | ")[0] for row in rows] == [f"| {row.label}" for row in EXPERIMENTS[name].rows]
    assert cv2.imread(str(target.with_suffix(".png"))) is not None
    if name == "figure2":
        assert "swim" in target.with_suffix(".html").read_text()
    if name == "figure3":
        sheet = cv2.imread(str(target.with_name("figure3-masks.png")))
        assert sheet is not None
        assert sheet.shape == (2 * 64, 4 * 96, 3)
    if name == "figure4":
        assert trained == ["static-mobilenetv2-lite", "distil-mobilenetv2-lite-seed0"]
        assert sorted(path.name for path in (place.folder / "masks").iterdir()) == [
            "distil-mobilenetv2-lite-seed0-queue-1",
            "distil-mobilenetv2-lite-seed0-queue-2",
            "distil-mobilenetv2-lite-seed0-queue-unbounded",
        ]


def test_youtube_comes_later(place: Place, davis: Path, trained: list[str], tmp_path: Path) -> None:
    """Another dataset is scored on top, with the masks of the first as they are; a hidden one gives a zip."""
    frames, masks = synthetic_clip(frames=3, height=64, width=96, objects=2, seed=3)
    meta = {"swim": objects_of({1: "dog", 2: "cat"}, range(3))}
    root = write_youtube(tmp_path / "valid", {"swim": (frames, masks)}, meta)
    reproduce("table7", place, say=lambda line: None)
    first = place.folder / "masks" / "no-poly-seed0-queue-2" / "davis2016" / "swim" / "00001.png"
    made = first.stat().st_mtime_ns
    text = reproduce("table7", dataclasses.replace(place, youtube=root), say=lambda line: None).read_text()
    assert "YouTube J&F, ours" in text
    assert first.stat().st_mtime_ns == made
    for number in (1, 2):
        (root / "Annotations" / "swim" / f"0000{number}.png").unlink()
    hidden = root.rename(tmp_path / "hidden")
    reproduce("table7", dataclasses.replace(place, youtube=hidden), say=lambda line: None)
    assert (place.folder / "masks" / "no-poly-seed0-queue-2" / "youtube.zip").is_file()


def test_speed_is_measured_on_short_and_long_clips(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(models: list[str], **options: Any) -> SimpleNamespace:
        lengths = {**dict.fromkeys(models, options["lengths"]), "stcn": options["teacher_lengths"]}
        rows = [
            {"model": model, "parameters_m": 1.9, "frames": frames, "fps": frames / 10}
            for model, every in lengths.items()
            for frames in every
        ]
        return SimpleNamespace(rows=rows)

    monkeypatch.setattr("mobilevos.benchmark.tables.benchmark_speed", measured)
    lines = reproduce("table4", dataclasses.replace(place, davis=None)).read_text().splitlines()
    assert lines[4] == "| STCN | 54.4 | 1.9 | 37.4 | 5.0 | 8.3 | – |"
    assert lines[7] == "| MobileNetV2 wo/ ASPP | 1.9 | 1.9 | 105.1 | 5.0 | 103.4 | 50.0 |"


def test_soups_are_made_of_runs(place: Place, trained: list[str]) -> None:
    place = dataclasses.replace(place, overrides=(*TINY, "model=mobilenetv2-lite"))
    target = reproduce("figure7", place, say=lambda line: None)
    assert trained == [
        "static-resnet18",
        "distil-resnet18-seed0",
        "omega-0.2-seed0",
        "omega-0.8-seed0",
        "omega-1.0-seed0",
    ]
    rows = target.read_text().splitlines()[4:10]
    assert [row.split(" | ")[0] for row in rows][-2:] == ["| uniform soup", "| greedy soup"]
    soup, one = (load_checkpoint(Job(run, 0).weights(place)) for run in ("soup-uniform", "omega-0.2"))
    assert not next(soup.parameters()).equal(next(one.parameters()))


def test_a_dry_run_says_what_is_left(place: Place, trained: list[str]) -> None:
    assert plan("table7", place, measure=False) == [
        "static-mobilenetv2-lite: 2 iterations of static-mobilenetv2-lite",
        "main-mobilenetv2-lite-seed0: 2 iterations of main-mobilenetv2-lite",
        "no-poly-seed0: 2 iterations of main-mobilenetv2-lite",
        "then table7: 2 rows, 1 seeds",
    ]
    assert not place.folder.exists()
    reproduce("table7", place, say=lambda line: None)
    assert plan("table7", place)[:2] == ["static-mobilenetv2-lite: done", "main-mobilenetv2-lite-seed0: done"]


def test_a_dry_run_measures(place: Place) -> None:
    *runs, _, total = plan("table7", place)
    assert all(" hours" in line for line in runs)
    assert total.startswith("about ")


def test_the_command(
    place: Place, trained: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    common = ["--recipes", RECIPES, "-o", place.folder, "--data", place.data, "--weights", place.weights]
    common += [part for change in TINY for part in ("--set", change)]

    def run(*arguments: object) -> tuple[int, str, str]:
        ran = run_command(command, [*map(str, arguments), *map(str, common)], monkeypatch, capfd)
        return ran.code, ran.out, ran.err

    code, out, _ = run("table7", "--davis", place.davis, "--dry-run", "--no-estimate")
    assert (code, out.splitlines()[-1]) == (0, "then table7: 2 rows, 1 seeds")
    code, out, _ = run("table7", "--davis", place.davis)
    assert code == 0
    assert "| without | 89.8 |" in out
    for arguments, message in (
        (("table12", "--davis", place.davis), "the paper has no 'table12' to reproduce"),
        (("table7",), "expected a dataset to score on"),
        (("table5", "--davis", place.davis, "--scale", "cpu"), "name a teacher"),
        (("figure3", "--youtube", place.davis), "expected a DAVIS folder for figure3"),
    ):
        code, _, err = run(*arguments)
        assert (code, message in err) == (2, True), err
    common[1] = place.folder / "none"
    assert "there is no folder of recipes" in run("table7", "--davis", place.davis)[2]


def test_a_run_that_fails_says_how_to_go_on(place: Place) -> None:
    from mobilevos.reproduce.train import train_missing

    lost = dataclasses.replace(place, data=place.folder / "lost")
    with pytest.raises(InputError, match="goes on where it was when it is begun again"):
        train_missing([Job("static-mobilenetv2-lite", 0)], lost, side_by_side=2, say=lambda line: None)
    assert not Job("static-mobilenetv2-lite", 0).is_done(lost)


def test_files_have_the_papers_numbers_beside_ours(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["table7"]
    found = [
        Found(experiment.rows[0], {"DAVIS16 J&F": [80.0, 82.0], "YouTube J&F": [70.0, 71.0]}),
        Found(Row("ours only", "no-poly"), {"DAVIS16 J&F": [60.0]}),
    ]
    assert columns_of(experiment, found) == ["DAVIS16 J&F", "DAVIS17 J&F", "YouTube J&F"]
    write_markdown(tmp_path / "table.md", experiment, found, ["a note"])
    text = (tmp_path / "table.md").read_text()
    assert "| with | 89.8 | 81.0 ± 1.4 | 80.1 | – | – | 70.5 ± 0.7 |" in text
    assert "| ours only | – | 60.0 | – | – | – | – |" in text
    assert text.endswith("- a note\n")
    write_csv(tmp_path / "table.csv", experiment, found)
    assert "with,DAVIS16 J&F,89.800,81.000,1.414,80.000 82.000" in (tmp_path / "table.csv").read_text()


def test_curves_are_those_of_the_runs(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text("iteration,loss,validation\n20,1.0,\n40,0.9,0.4\n60,0.8,0.5\n")
    curve = read_curve(tmp_path)
    assert (curve.iterations, curve.scores) == ((40, 60), (0.4, 0.5))
    assert read_curve(tmp_path / "none").scores == ()


def test_runs_side_by_side_share_the_cores(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from mobilevos.reproduce import train

    told = []

    def run(command: list[str], *, check: bool, env: dict[str, str]) -> SimpleNamespace:
        told.append(env.get("OMP_NUM_THREADS"))
        return SimpleNamespace(returncode=1)

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(train, "cores", lambda: 8)
    monkeypatch.setattr(train.subprocess, "run", run)
    jobs = [Job("static-mobilenetv2-lite", 0)]
    for gpus in (0, 4):
        with pytest.raises(InputError):
            train.train_missing(jobs, place, side_by_side=2, gpus=gpus, say=lambda line: None)
    assert told == ["4", None]  # torchrun says it itself


@pytest.mark.slow
def test_runs_in_processes_of_their_own(place: Place) -> None:
    """Two at once, after the one that both begin with."""
    from mobilevos.reproduce.plan import jobs_of
    from mobilevos.reproduce.train import train_missing

    short = dataclasses.replace(place, overrides=(*TINY, "iterations=1", "validation.root=''"))
    jobs = jobs_of(EXPERIMENTS["table7"], short)
    train_missing(jobs, short, side_by_side=2, say=lambda line: None)
    assert all(job.is_done(short) for job in jobs)
    assert load_checkpoint(jobs[-1].weights(short)).variant == "mobilenetv2-lite"
