"""The losses that tie student and teacher, and what they are computed from."""

import dataclasses
from pathlib import Path

import torch

from mobilevos import losses
from mobilevos.arrays import VOID
from mobilevos.model.checkpoint import build, save_checkpoint
from mobilevos.model.network import upsample
from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.objective import Objective, is_turn, with_given_second_frames
from mobilevos.training.recipe import Loss, Recipe, Teacher
from mobilevos.training.unroll import one_hot, unroll
from tests.training.clips import square_batch


def objective() -> Objective:
    torch.manual_seed(1)
    return Objective(build("mobilenetv2-lite"), Loss(dice=1.0))


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
    report = trainer.step(batch, 1e-3)
    assert {"cross_entropy", "dice", "logit", "representation", "hint", "attention"} == set(report.terms)
    assert {"iou", "gradient", "clipped"} == set(report.measured)
    assert all(torch.isfinite(each) for each in (*report.terms.values(), *report.measured.values()))
    after = dict(trainer.objective.named_parameters())
    assert all(not torch.equal(after[name], before[name]) for name in before if name.endswith("weight"))
    assert all(torch.equal(p, taught[name]) for name, p in teacher.state_dict().items())


def test_moments_far_away_are_remembered_and_not_followed_from() -> None:
    """The second frame of such a clip is in memory as it is, and no loss looks at it."""
    batch = square_batch()
    batch.masks[0, 1] = 0
    batch.masks[0, 1, :30] = 1
    far = dataclasses.replace(batch, far=torch.tensor([True, False, False, False]))
    network = build("mobilenetv2-lite")
    masks = one_hot(batch.masks, 1)
    remembered = with_given_second_frames(network, masks, None, far.far)
    assert remembered is not None
    torch.testing.assert_close(remembered[0, 1], network.given_masks(masks[:, 1])[0])
    assert remembered[1:].isnan().all()
    assert remembered[0, [0, 2]].isnan().all()
    assert with_given_second_frames(network, masks, None, None) is None
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
