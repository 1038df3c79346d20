"""The loop: a run that was stopped goes on as if it had not been."""

import csv
import dataclasses
from pathlib import Path

import pytest
import torch

from mobilevos.clips.clip import Batch, ClipConfig
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.training.distributed import Processes
from mobilevos.training.log import RunLog
from mobilevos.training.loop import Trainer, train
from mobilevos.training.objective import LossReport
from mobilevos.training.recipe import Loss, Optimizer, Phase, Recipe, Teacher, Validation
from mobilevos.training.schedule import drawn_queue


class Killed(BaseException):
    """As abrupt as an exception can be: nothing catches it."""


def weights(path: Path) -> dict[str, torch.Tensor]:
    return read_checkpoint(path)[1]


def curve(folder: Path) -> list[tuple[str, str]]:
    with (folder / "curve.csv").open() as stream:
        return [(row["iteration"], row["loss"]) for row in csv.DictReader(stream)]


def test_a_killed_run_ends_as_if_it_had_not_been(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mobilevos.training.loop.LOG_EVERY", 1)
    recipe = dataclasses.replace(tiny_recipe, checkpoint_minutes=0.0)
    whole = train(recipe, tmp_path / "whole")
    step = Trainer.step

    def dies(self: Trainer, batch: Batch, rate: float) -> LossReport:
        if self.iteration == 4:
            raise Killed
        return step(self, batch, rate)

    monkeypatch.setattr(Trainer, "step", dies)
    with pytest.raises(Killed):
        train(recipe, tmp_path / "killed")
    monkeypatch.setattr(Trainer, "step", step)
    resumed = train(recipe, tmp_path / "killed")
    expected = weights(whole)
    for name, tensor in weights(resumed).items():
        assert torch.equal(tensor, expected[name]), name
    assert curve(whole.parent) == curve(resumed.parent)
    assert len(curve(whole.parent)) == 6


def test_another_recipe_is_not_resumed(tiny_recipe: Recipe, tmp_path: Path) -> None:
    recipe = dataclasses.replace(tiny_recipe, iterations=1)
    train(recipe, tmp_path)
    other = dataclasses.replace(recipe, seed=1)
    with pytest.raises(InputError, match=r"run of another recipe \(seed differ\)"):
        train(other, tmp_path)
    train(other, tmp_path, fresh=True)
    longer = dataclasses.replace(other, iterations=2)
    train(longer, tmp_path)
    assert Trainer(longer, tmp_path / "tiny", Processes(), False).iteration == 2
    (tmp_path / "tiny" / "state.pt").write_bytes(b"damaged")
    with pytest.raises(InputError, match="cannot resume"):
        train(longer, tmp_path)


def test_validation_keeps_the_best_and_leaves_pictures(tiny_recipe: Recipe, tmp_path: Path) -> None:
    recipe = dataclasses.replace(
        tiny_recipe, iterations=2, validation=Validation("davis", ("swim",), minutes=0.0, size=96, backwards=True)
    )
    train(recipe, tmp_path)
    folder = tmp_path / "tiny"
    assert load_checkpoint(folder / "best.safetensors").variant == "mobilenetv2-lite"
    metadata, _ = read_checkpoint(folder / "best.safetensors")
    assert "j_and_f" in metadata["notes"]
    assert {path.suffix for path in (folder / "pictures").iterdir()} == {".jpg"}
    with (folder / "curve.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["validation"]]
    best = max((float(row["validation"]) + float(row["val/backwards"])) / 2 for row in rows)
    assert Trainer(recipe, folder, Processes(), False).best == pytest.approx(best)


@pytest.mark.parametrize(
    ("clips", "sentence"), [(("swim", "swum"), "no video 'swum'"), ((), "the names of clips .* got none")]
)
def test_validation_clips_are_looked_for_before_training(
    tiny_recipe: Recipe, tmp_path: Path, clips: tuple[str, ...], sentence: str
) -> None:
    recipe = dataclasses.replace(tiny_recipe, validation=Validation("davis", clips))
    with pytest.raises(InputError, match=sentence):
        train(recipe, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_what_was_trained_outlives_a_validation_that_fails(
    tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(self: Trainer, log: RunLog) -> None:
        raise Killed

    recipe = dataclasses.replace(tiny_recipe, iterations=1, validation=Validation("davis", ("swim",), size=96))
    monkeypatch.setattr(Trainer, "_validate", dies)
    with pytest.raises(Killed):
        train(recipe, tmp_path)
    assert (tmp_path / "tiny" / "last.safetensors").is_file()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    train(recipe, tmp_path)
    trainer = Trainer(recipe, tmp_path / "tiny", Processes(), False)
    assert trainer.iteration == 1
    assert trainer.validated == trainer.elapsed


def test_gradients_are_clipped_and_logged(tiny_recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mobilevos.training.loop.LOG_EVERY", 2)
    found = {}
    for limit in (0.0, 0.01, 1e6):
        recipe = dataclasses.replace(tiny_recipe, name=str(limit), iterations=2, optimizer=Optimizer(clip_norm=limit))
        trainer = Trainer(dataclasses.replace(recipe, seed=0), tmp_path / recipe.name, Processes(), True)
        trainer.run()
        squares = [p.grad.square().sum() for p in trainer.objective.parameters() if p.grad is not None]
        found[limit] = float(torch.stack(squares).sum().sqrt())
        with (trainer.folder / "curve.csv").open() as stream:
            (row,) = csv.DictReader(stream)
        assert float(row["clipped"]) == (1 if limit == 0.01 else 0)
        assert float(row["gradient"]) > 0.05, "as they were before"
    assert found[0.01] == pytest.approx(0.01, rel=1e-3)
    assert found[0.0] == pytest.approx(found[1e6], rel=1e-3)
    assert found[0.0] > 0.05


def test_the_recipe_reaches_the_objective(tiny_recipe: Recipe, tmp_path: Path) -> None:
    """Spoiling and forcing as it is made; bootstrapping, queue and prefix of each iteration."""
    save_checkpoint(tmp_path / "teacher.safetensors", build("mobilenetv2"))
    clip = ClipConfig(size=64, frames=4, min_pixels=20)
    recipe = dataclasses.replace(
        tiny_recipe,
        queue=(2, 3, 5),
        spoil=0.25,
        teacher=Teacher(str(tmp_path / "teacher.safetensors"), forcing=False),
        loss=Loss(logit=1.0, keep=0.2, keep_from=0.0, keep_to=0.5),
        phases=(Phase(0.5, 1, clip=clip, prefix=2), Phase(1.0, 1, clip=clip, prefix=1)),
        iterations=8,
        seed=3,
    )
    trainer = Trainer(recipe, tmp_path / "run", Processes(), True)
    objective, seen = trainer.objective, []
    assert (objective.spoil, objective.forcing, objective.loss) == (0.25, False, recipe.loss)
    assert objective.teacher is not None
    assert objective.teacher.variant == "mobilenetv2"

    def recorded(batch: Batch, keep: float, queue: int | None, prefix: int) -> LossReport:
        seen.append((keep, queue, prefix))
        return objective(batch, keep, queue, prefix)

    trainer.parallel = recorded  # type: ignore[assignment]
    trainer.run()
    keeps, queues, prefixes = zip(*seen, strict=True)
    assert keeps == pytest.approx((1, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2, 0.2))
    assert queues == tuple(drawn_queue((2, 3, 5), 3, i) for i in range(8))
    assert set(queues) == {2, 3, 5}
    assert prefixes == (2, 2, 2, 2, 1, 1, 1, 1)
