"""What has to be trained for a table, in which order, and the recipe of each run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.reproduce.paper import RUNS, Experiment, Row, Run, Soup
from mobilevos.training.recipe import Recipe, load_recipe

Scale = Literal["paper", "cpu"]

SHORT = (
    "optimizer={kind: adamw, learning_rate: 4e-4, backbone_scale: 0.3, warmup: 100, clip_norm: 3.0, ema: 0.998}",
    "precision=bfloat16",
    "workers=1",
)
"""At the cpu scale: larger steps than the paper's, for some thousand times fewer clips"""
SHORT_CLIPS = "phases=[{batch_size: 4, multi_object: 0.0, clip: {size: 192, frames: 3, max_skip: 5}}]"
STATIC_ITERATIONS, MAIN_ITERATIONS = 1500, 800
"""At the cpu scale; the paper's recipes have their own"""
VALIDATION_CLIPS = 5
"""Of the DAVIS split, the first ones are followed during training, for the curves"""


@dataclass(frozen=True)
class Place:
    """Where everything is, and what is common to all runs."""

    folder: Path
    """Of all that is made: recipes, runs, figures, tables"""
    recipes: Path
    data: Path
    weights: Path
    davis: Path | None = None
    """A DAVIS folder to score on"""
    split: str = "val"
    youtube: Path | None = None
    """A split of YouTube-VOS to score on"""
    scale: Scale = "paper"
    seeds: int = 1
    teacher: str = ""
    """A checkpoint, or a shipped model's name; without it, the teacher is trained first"""
    overrides: tuple[str, ...] = ()
    """Of every recipe"""

    @property
    def runs(self) -> Path:
        return self.folder / "runs"


@dataclass(frozen=True)
class Job:
    """A run with a seed, or a soup of such."""

    run: str
    seed: int

    @property
    def what(self) -> Run | Soup:
        return RUNS[self.run]

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.run if isinstance(self.what, Run) and self.what.once else f"{self.run}-seed{self.seed}"

    def weights(self, place: Place) -> Path:
        return place.runs / self.name / "last.safetensors"

    def is_done(self, place: Place) -> bool:
        """Whether it was trained to its end; its weights are there earlier."""
        return (place.runs / self.name / "done.json").is_file()

    def needs(self, place: Place) -> list[Job]:
        """What has to be there before."""
        if isinstance(self.what, Soup):
            return [Job(run, self.seed) for run in self.what.of]
        before = [self.what.after] if self.what.after else []
        before += ["main-stcn"] if self.what.taught and not place.teacher else []
        return [job_of(run, self.seed) for run in before]


def job_of(run: str, seed: int) -> Job:
    """Runs that all seeds share have the first one."""
    what = RUNS[run]
    return Job(run, 0 if isinstance(what, Run) and what.once else seed)


def rows_of(experiment: Experiment, place: Place) -> list[Row]:
    """Those of a table that can be made at this scale: BL30K has no place on two cores."""
    return [row for row in experiment.rows if place.scale == "paper" or "bl30k" not in row.run]


def jobs_of(experiment: Experiment, place: Place) -> list[Job]:
    """All jobs of a table in an order in which they can be done, each once."""
    if experiment.speed:
        return []
    wanted = [job_of(row.run, seed) for row in rows_of(experiment, place) for seed in range(place.seeds)]

    def ordered(jobs: Sequence[Job]) -> Iterator[Job]:
        for job in jobs:
            yield from ordered(job.needs(place))
            yield job

    return list(dict.fromkeys(ordered(wanted)))


def recipe_of(job: Job, place: Place) -> Recipe:
    """The recipe of a run."""
    run = job.what
    if isinstance(run, Soup):  # whose training clips choose the ingredients
        return recipe_of(Job(run.of[0], job.seed), place)
    overrides = [*_scaled(run, place), *run.overrides, f"name={job.name}", f"seed={job.seed}"]
    overrides += [f"data_root={_text(place.data)}", f"weights_root={_text(place.weights)}"]
    if run.after:
        overrides.append(f"init={_text(job_of(run.after, job.seed).weights(place))}")
    if run.taught:
        teacher = place.teacher or str(Job("main-stcn", 0).weights(place))
        overrides.append(f"teacher.checkpoint={json.dumps(teacher)}")
    if place.davis and not run.once:
        overrides += [
            f"validation.root={_text(place.davis.resolve())}",
            f"validation.clips={json.dumps(_clips(place)[:VALIDATION_CLIPS])}",
        ]
    return load_recipe(place.recipes / f"{run.recipe}.yaml", [*overrides, *place.overrides])


def write_recipe(recipe: Recipe, path: Path) -> None:
    """As YAML, whole: it can be run by itself, under torchrun or on another machine."""
    import yaml

    path.parent.mkdir(parents=True, exist_ok=True)
    plain = json.loads(json.dumps(dataclasses.asdict(recipe)))
    with replacing(path) as part:
        part.write_text(yaml.safe_dump(plain, sort_keys=False, width=120), encoding="utf-8")


def _scaled(run: Run, place: Place) -> list[str]:
    """What the cpu scale changes in a recipe of the paper."""
    if place.scale == "paper":
        return []
    if not place.teacher and (run.taught or "stcn" in run.recipe):
        raise InputError("STCN cannot be trained at the cpu scale: name a teacher, such as --teacher resnet18")
    static = run.recipe.startswith("static")
    changes = [*SHORT, SHORT_CLIPS, f"iterations={STATIC_ITERATIONS if static else MAIN_ITERATIONS}"]
    if static:
        return changes
    source = {"kind": "davis", "root": "davis-2016-train", "exclude": _clips(place) if place.davis else []}
    return [*changes, f"sources={json.dumps([source])}", "validation.minutes=2"]


def _clips(place: Place) -> list[str]:
    """Those that are scored on: at the cpu scale they may be among the training set's, and are left out of it."""
    from mobilevos.datasets.davis import read_davis

    assert place.davis is not None
    return [task.name for task in read_davis(place.davis, place.split, 2016)]


def _text(path: Path) -> str:
    return json.dumps(str(path))
