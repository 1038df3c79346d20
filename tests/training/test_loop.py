"""The loop: resumes exactly, in one process or two."""

import csv
import dataclasses
import os
import socket
from pathlib import Path

import pytest
import torch
import torch.multiprocessing
from safetensors.torch import save_file
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mobilevos import losses
from mobilevos.arrays import VOID
from mobilevos.clips.clip import Batch
from mobilevos.errors import InputError
from mobilevos.model.backbones import resnet18
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.model.network import upsample
from mobilevos.training.distributed import Processes, processes
from mobilevos.training.log import RunLog
from mobilevos.training.loop import Trainer, freeze, initial_network, learning_rate, train
from mobilevos.training.objective import Objective, Outcome, is_turn, told
from mobilevos.training.recipe import Loss, Optimizer, Recipe, Teacher, Validation
from mobilevos.training.unroll import one_hot, unroll


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

    def dies(self: Trainer, batch: Batch, rate: float) -> Outcome:
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
    ("clips", "sentence"), [(("swim", "swum"), "annotations of 'swum'"), ((), "the names of clips .* got none")]
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


def test_distillation_and_its_baselines_train(tiny_recipe: Recipe, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "teacher.safetensors", build("mobilenetv2"))
    loss = Loss(dice=1.0, logit=1.0, representation=1.0, omega=0.5, hint=1.0, attention=1.0, samples=32)
    recipe = dataclasses.replace(
        tiny_recipe, loss=loss, teacher=Teacher(str(tmp_path / "teacher.safetensors")), precision="bfloat16"
    )
    trainer = Trainer(recipe, tmp_path / "run", Processes(), True)
    batch = next(trainer.batches(recipe.phases[0]))
    before = {name: p.detach().clone() for name, p in trainer.objective.named_parameters()}
    teacher = trainer.objective.teacher
    assert teacher is not None
    taught = {name: p.clone() for name, p in teacher.state_dict().items()}
    outcome = trainer.step(batch, 1e-3)
    assert {"cross_entropy", "dice", "logit", "representation", "hint", "attention", "iou"} == set(outcome.terms)
    assert all(torch.isfinite(term) for term in outcome.terms.values())
    after = dict(trainer.objective.named_parameters())
    assert all(not torch.equal(after[name], before[name]) for name in before if name.endswith("weight"))
    assert all(torch.equal(p, taught[name]) for name, p in teacher.state_dict().items())


def test_moments_far_away_are_remembered_and_not_followed_from() -> None:
    """The second frame of such a clip is in memory as it is, and no loss looks at it."""
    batch = joined_batch()
    batch.masks[0, 1] = 0
    batch.masks[0, 1, :30] = 1
    far = dataclasses.replace(batch, far=torch.tensor([True, False, False, False]))
    network = build("mobilenetv2-lite")
    masks = one_hot(batch.masks, 1)
    remembered = told(network, masks, None, far.far)
    assert remembered is not None
    torch.testing.assert_close(remembered[0, 1], network.given_masks(masks[:, 1])[0])
    assert remembered[1:].isnan().all()
    assert remembered[0, [0, 2]].isnan().all()
    assert told(network, masks, None, None) is None
    blind = dataclasses.replace(far, masks=far.masks.clone())
    blind.masks[0, 1] = VOID  # what the loss sees of it
    module = objective()
    with torch.no_grad():
        found = module(far, 1.0).terms["dice"]
        out = unroll(module.student, far.frames.float(), masks, spoil=remembered)
    logits = upsample(out.logits.flatten(0, 1), 4)
    torch.testing.assert_close(found, losses.soft_dice(logits, blind.masks[:, 1:].flatten(0, 1)))
    assert not torch.isclose(found, losses.soft_dice(logits, far.masks[:, 1:].flatten(0, 1)))


def test_turns_come_evenly() -> None:
    assert [is_turn(i, 0.25) for i in range(8)] == [False, False, False, True] * 2
    assert all(is_turn(i, 1.0) for i in range(5))
    assert sum(is_turn(i, 0.3) for i in range(1000)) == 300


def test_freezing() -> None:
    network = build("mobilenetv2-lite")
    freeze(network, 4)
    assert not any(p.requires_grad for p in network.backbone.features[:4].parameters())  # type: ignore[union-attr,index]
    assert all(p.requires_grad for p in network.backbone.features[4:].parameters())  # type: ignore[union-attr,index]


def test_learning_rate() -> None:
    cosine = Optimizer(learning_rate=1.0, warmup=10, final=0.1)
    assert learning_rate(cosine, 4, 0.0) == pytest.approx(0.5)
    assert learning_rate(cosine, 100, 0.5) == pytest.approx(0.55)
    assert learning_rate(cosine, 100, 1.0) == pytest.approx(0.1)
    step = Optimizer(learning_rate=1.0, warmup=0, schedule="step", step_at=0.8)
    assert [learning_rate(step, 5, p) for p in (0.79, 0.81)] == [1.0, pytest.approx(0.1)]


def joined_batch() -> Batch:
    torch.manual_seed(0)
    masks = torch.zeros(4, 3, 64, 64, dtype=torch.uint8)
    masks[:, :, 16:40, 20:50] = 1
    return Batch(torch.randint(0, 255, (4, 3, 3, 64, 64), dtype=torch.uint8), masks, torch.zeros(4, 2, 1, 64, 64), 1, 0)


def gradients(module: nn.Module, batch: Batch) -> dict[str, torch.Tensor]:
    module(batch, 0.5).total.backward()
    return {name.removeprefix("module."): p.grad for name, p in module.named_parameters() if p.grad is not None}


def objective() -> Objective:
    torch.manual_seed(1)
    return Objective(build("mobilenetv2-lite"), Loss(dice=1.0))


def one_of_two(rank: int, port: int, results: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": "2"}
    torch.set_num_threads(1)
    with processes() as team:
        assert team.agree(10.0 + rank) == 10.0
        batch = joined_batch()
        half = slice(2 * rank, 2 * rank + 2)
        part = dataclasses.replace(
            batch, frames=batch.frames[half], masks=batch.masks[half], prompts=batch.prompts[half]
        )
        found = gradients(DistributedDataParallel(objective()), part)
        if team.leads:
            torch.save(found, results)


def test_two_processes_give_the_gradients_of_one(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(one_of_two, (port, str(tmp_path / "gradients.pt")), nprocs=2)
    expected = gradients(objective(), joined_batch())
    found = torch.load(tmp_path / "gradients.pt")
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-5, msg=name)


def test_a_larger_network_grows_from_a_smaller_one(tiny_recipe: Recipe, tmp_path: Path) -> None:
    """mobilenetv2 begins as the mobilenetv2-lite it was made from."""
    lite = build("mobilenetv2-lite").eval()
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    recipe = dataclasses.replace(tiny_recipe, model="mobilenetv2", init=str(tmp_path / "lite.safetensors"))
    grown = initial_network(recipe).eval()
    features = [network.encode(torch.rand(1, 3, 64, 64) * 0 + 99) for network in (lite, grown)]
    readout = torch.randn(1, 1, 64, 4, 4)
    ours, theirs = (n.decode(readout, f) for n, f in zip((lite, grown), features, strict=True))
    torch.testing.assert_close(ours.logits, theirs.logits)
    with pytest.raises(InputError, match="do not fit"):
        initial_network(dataclasses.replace(recipe, model="stcn"))


def test_a_network_of_another_kind_takes_the_value_encoder_and_a_backbone_of_its_own(
    tiny_recipe: Recipe, tmp_path: Path
) -> None:
    lite, trained = build("mobilenetv2-lite"), resnet18()
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    save_file(trained.state_dict(), tmp_path / "key.safetensors")
    recipe = dataclasses.replace(
        tiny_recipe,
        model="resnet18",
        init=str(tmp_path / "lite.safetensors"),
        backbone="key.safetensors",
        weights_root=str(tmp_path),
    )
    network = initial_network(recipe)
    for ours, theirs in ((network.value_backbone, lite.value_backbone), (network.backbone, trained)):
        for name, tensor in theirs.state_dict().items():
            assert torch.equal(ours.state_dict()[name], tensor), name
    with pytest.raises(InputError, match="do not fit"):
        initial_network(dataclasses.replace(recipe, backbone=""))


def test_a_checkpoint_of_the_same_kind_needs_no_backbones(tiny_recipe: Recipe, tmp_path: Path) -> None:
    lite = build("mobilenetv2-lite")
    save_checkpoint(tmp_path / "lite.safetensors", lite)
    recipe = dataclasses.replace(
        tiny_recipe, model="mobilenetv2-lite", init=str(tmp_path / "lite.safetensors"), backbone="missing.safetensors"
    )
    for name, tensor in initial_network(recipe).state_dict().items():
        assert torch.equal(tensor, lite.state_dict()[name])
