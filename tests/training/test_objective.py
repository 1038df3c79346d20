"""The losses that tie student and teacher, and what they are computed from."""

import dataclasses
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos import losses
from mobilevos.arrays import VOID
from mobilevos.model.checkpoint import build, save_checkpoint
from mobilevos.model.features import Features
from mobilevos.model.network import upsample
from mobilevos.training.distributed import Processes
from mobilevos.training.loop import Trainer
from mobilevos.training.objective import LOOKS, Objective, distillation_terms, is_turn, with_given_second_frames
from mobilevos.training.prompting import Guess
from mobilevos.training.recipe import Loss, Recipe, Teacher
from mobilevos.training.spoil import spoiled
from mobilevos.training.unroll import Unrolled, one_hot, unroll
from tests.training.clips import moving_batch, square_batch, trained


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
    assert all(
        not torch.equal(after[name], before[name])
        for name in before
        if name.endswith("weight") and ".rating." not in name
    )
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


ALL = 256
"""Enough samples to take every pixel there is."""


class Case:
    """A student and a teacher that see two objects differently, with some void; and every term by hand."""

    def __init__(self) -> None:
        batch = moving_batch(3)
        self.labels = batch.masks[:, 1:].clone()
        self.labels[:, :, 20:32, :] = VOID
        self.masks = one_hot(self.labels, 2)
        torch.manual_seed(0)
        self.out, self.taught = (
            Unrolled(torch.randn(1, 2, 3, 16, 16), torch.randn(4, channels, 16, 16)) for channels in (8, 12)
        )
        self.embed = nn.Linear(8, 8)
        self.ground = F.avg_pool2d(self.masks.flatten(0, 2)[:, None], 4)
        self.known = (F.avg_pool2d((self.labels[0] == VOID).float(), 4) == 0).repeat_interleave(2, 0)

    def terms(self, loss: Loss) -> dict[str, Tensor]:
        return distillation_terms(loss, self.out, self.taught, self.masks, self.labels, self.embed, None)

    def near(self, width: int) -> Tensor:
        return losses.boundary_mask(self.ground, width) & self.known

    def logit(self, near: Tensor, temperature: float) -> Tensor:
        pixels = near.unflatten(0, (2, 2)).any(1)
        return losses.logit_distillation(self.out.logits[0], self.taught.logits[0], pixels, temperature=temperature)

    def representation(self, near: Tensor, omega: float, embed: nn.Module) -> Tensor:
        sample = losses.sample_pixels(near, ALL)
        z_s, z_t, y = (sample.of(maps) for maps in (self.out.z, self.taught.z, self.ground))
        return losses.representation_loss(embed(z_s), z_t, y.squeeze(-1), sample.valid, omega=omega)


def assert_is_only(found: Tensor, right: Tensor, *wrong: Tensor) -> None:
    torch.testing.assert_close(found, right)
    for other in wrong:
        assert not torch.isclose(found, other, rtol=1e-3)


def test_the_logit_term_has_the_recipes_temperature_width_and_pixels() -> None:
    case = Case()
    found = case.terms(Loss(logit=1.0, temperature=0.5, boundary_width=1))["logit"]
    by_hand = case.logit
    void = losses.boundary_mask(case.ground, 1)
    assert_is_only(
        found,
        by_hand(case.near(1), 0.5),
        by_hand(case.near(1), 0.1),
        by_hand(case.near(2), 0.5),
        by_hand(void, 0.5),
        by_hand(case.known, 0.5),
    )
    found = case.terms(Loss(logit=1.0, temperature=0.5, sampling="random"))["logit"]
    assert_is_only(found, by_hand(case.known, 0.5), by_hand(case.near(2), 0.5), by_hand(case.known | True, 0.5))


def test_the_logit_term_has_the_recipes_direction_and_mean() -> None:
    case = Case()
    pixels = case.near(2).unflatten(0, (2, 2)).any(1)
    ways = {
        (direction, over): losses.logit_distillation(
            case.out.logits[0], case.taught.logits[0], pixels, temperature=0.5, direction=direction, over=over
        )
        for direction in ("teacher", "student")
        for over in ("selected", "all")
    }
    for (direction, over), right in ways.items():
        found = case.terms(Loss(logit=1.0, temperature=0.5, logit_direction=direction, logit_over=over))["logit"]
        assert_is_only(found, right, *(other for way, other in ways.items() if way != (direction, over)))
    torch.testing.assert_close(case.terms(Loss(logit=1.0, temperature=0.5))["logit"], ways["teacher", "selected"])


def test_the_representation_has_the_recipes_omega_and_pixels_and_an_embedding() -> None:
    case = Case()
    found = case.terms(Loss(representation=1.0, omega=0.3, boundary_width=1, samples=ALL))["representation"]
    near, by_hand = case.near(1), case.representation
    assert_is_only(
        found,
        by_hand(near, 0.3, case.embed),
        by_hand(near, 0.95, case.embed),
        by_hand(near, 0.3, nn.Identity()),
        by_hand(case.near(2), 0.3, case.embed),
        by_hand(losses.boundary_mask(case.ground, 1), 0.3, case.embed),
    )
    found = case.terms(Loss(representation=1.0, omega=0.3, sampling="random", samples=ALL))["representation"]
    assert_is_only(found, by_hand(case.known, 0.3, case.embed), by_hand(case.near(2), 0.3, case.embed))


@pytest.mark.parametrize("forcing", [True, False])
@torch.no_grad()
def test_the_teacher_remembers_everything_and_the_truth_where_it_may(forcing: bool) -> None:
    batch, student, teacher = moving_batch(6), trained(), trained("mobilenetv2")
    loss = Loss(logit=1.0, temperature=0.5)
    found = Objective(student, loss, teacher=teacher, forcing=forcing)(batch, 1.0).terms["logit"]
    frames, masks = batch.frames.float(), one_hot(batch.masks, 2)

    def by_hand(queue: int | None, forcing: bool) -> Tensor:
        out = unroll(student, frames, masks, queue=2)
        taught = unroll(teacher, frames, masks, queue=queue, teacher_forcing=forcing)
        return distillation_terms(loss, out, taught, masks[:, 1:], batch.masks[:, 1:], None, None)["logit"]

    torch.testing.assert_close(found, by_hand(None, forcing), rtol=1e-3, atol=1e-5)
    for wrong in (by_hand(2, forcing), by_hand(None, not forcing)):
        assert not torch.isclose(found, wrong, rtol=1e-2)


@pytest.mark.parametrize(("queue", "prefix"), [(None, 0), (1, 0), (3, 1), (2, 2)])
@torch.no_grad()
def test_the_student_has_the_queue_and_the_prefix_that_were_asked_for(queue: int | None, prefix: int) -> None:
    batch, student = moving_batch(5), trained()
    loss = Loss(dice=1.0)
    report = Objective(student, loss)(batch, 0.3, queue, prefix)
    frames, masks = batch.frames.float(), one_hot(batch.masks, 2)
    labels = batch.masks[0, 1 + prefix :]
    for length in (None, 1, 2, 3):
        out = unroll(student, frames, masks, queue=length).logits[0, prefix:]
        dice = losses.soft_dice(upsample(out, 4), labels)
        assert torch.isclose(report.terms["dice"], dice, rtol=1e-3) == (length == queue)
    out = unroll(student, frames, masks, queue=queue).logits[0, prefix:]
    assert torch.equal(report.predicted[0], out.argmax(1))
    expected = losses.bootstrapped_poly_cross_entropy(upsample(out, 4), labels, keep=0.3)
    torch.testing.assert_close(report.terms["cross_entropy"], expected, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(report.total, sum(report.terms.values()))


@torch.no_grad()
def test_the_hardest_pixels_count() -> None:
    batch, student = moving_batch(3), trained()
    objective = Objective(student, Loss())
    logits = upsample(unroll(student, batch.frames.float(), one_hot(batch.masks, 2)).logits[0], 4)
    for keep in (1.0, 0.1):
        expected = losses.bootstrapped_poly_cross_entropy(logits, batch.masks[0, 1:], keep=keep)
        torch.testing.assert_close(objective(batch, keep).terms["cross_entropy"], expected, rtol=1e-3, atol=1e-5)


@torch.no_grad()
def test_the_memory_is_spoiled_as_often_as_asked_for() -> None:
    batch, student = moving_batch(4), trained()
    masks = one_hot(batch.masks, 2)
    torch.manual_seed(2)
    out = unroll(student, batch.frames.float(), masks, spoil=spoiled(student, masks, 1.0))
    expected = losses.soft_dice(upsample(out.logits[0], 4), batch.masks[0, 1:])
    torch.manual_seed(2)
    found = Objective(student, Loss(dice=1.0), spoil=1.0)(batch, 1.0).terms["dice"]
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)
    clean = Objective(student, Loss(dice=1.0), spoil=0.0)(batch, 1.0).terms["dice"]
    assert not torch.isclose(found, clean, rtol=1e-3)


def test_a_second_frame_within_the_prefix_has_no_loss_to_be_left_out_of() -> None:
    """The third frame, which is the first with a loss, counts for clips from afar too."""
    batch = square_batch()
    batch.masks[0, 2] = 1
    far = dataclasses.replace(batch, far=torch.tensor([True, False, False, False]))
    module = objective()
    with torch.no_grad():
        found = module(far, 1.0, 2, 1).terms["dice"]
        remembered = with_given_second_frames(module.student, one_hot(far.masks, 1), None, far.far)
        out = unroll(module.student, far.frames.float(), one_hot(far.masks, 1), spoil=remembered)
    torch.testing.assert_close(found, losses.soft_dice(upsample(out.logits[:, 1], 4), far.masks[:, 2]))


def test_clips_that_go_around_the_aspp_are_followed_as_without_one() -> None:
    torch.manual_seed(0)
    large, small = build("mobilenetv2"), build("mobilenetv2-lite")
    torch.nn.init.normal_(large.decoder.aspp.project.weight)  # type: ignore[union-attr,arg-type]
    shared = {name: tensor for name, tensor in large.state_dict().items() if not name.startswith("decoder.aspp.")}
    small.load_state_dict(shared)
    batch = square_batch()
    around, through = (Objective(large, Loss(), bypass=part)(batch, 1.0).total for part in (1.0, 0.0))
    torch.testing.assert_close(around, Objective(small, Loss())(batch, 1.0).total)
    assert not torch.isclose(around, through)


def test_the_rating_teaches_its_head_and_nothing_else() -> None:
    torch.manual_seed(0)
    network = build("mobilenetv2-lite")
    torch.nn.init.normal_(network.rating.out.weight)  # type: ignore[union-attr,arg-type]
    silent = Loss(cross_entropy=0.0, prompt=0.0, rating=1.0)
    report = Objective(network, silent)(square_batch(), 1.0)
    assert set(report.terms) == {"rating"}
    report.total.backward()
    touched = {name.split(".")[0] for name, p in network.named_parameters() if p.grad is not None}
    assert touched == {"rating"}


def test_prompts_are_rated_too() -> None:
    torch.manual_seed(0)
    batch = square_batch()
    batch.prompts[:, 0, :, 25:30, 30:35] = 1
    network = build("mobilenetv2-lite")
    torch.nn.init.normal_(network.rating.out.weight)  # type: ignore[union-attr,arg-type]
    with torch.no_grad():
        alone, both = (
            Objective(network, Loss(rating=1.0, prompt=prompt, prompt_part=1.0))(batch, 1.0).terms["rating"]
            for prompt in (0.0, 1.0)
        )
    assert not torch.isclose(alone, both)


def test_each_look_at_a_prompt_knows_the_one_before_and_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many looks as `LOOKS`; each but the first has the last guess in its memory, and most have one click more."""
    torch.manual_seed(0)
    batch = square_batch()
    network = build("mobilenetv2-lite")
    marks: list[int] = []
    befores: list[Tensor | None] = []
    size = [side // 4 for side in batch.frames.shape[-2:]]
    answers = [torch.randn(len(batch.frames), 1 + batch.prompts.shape[2], *size) for _ in range(LOOKS)]

    def look(
        net: nn.Module,
        frames: Tensor,
        features: Features,
        prompts: Tensor,
        before: Tensor | None = None,
        *,
        rate: bool,
    ) -> Guess:
        marks.append(int(prompts.sum()))
        befores.append(before)
        return Guess(answers[len(marks) - 1], None)

    monkeypatch.setattr("mobilevos.training.objective.guess", look)
    with torch.no_grad():
        Objective(network, Loss(prompt=1.0, prompt_part=1.0))(batch, 1.0)
    assert len(marks) == LOOKS == 3
    assert befores[0] is None
    for before, last in zip(befores[1:], answers, strict=False):
        assert before is not None
        torch.testing.assert_close(before, network.own_masks(last))
    assert marks[0] < marks[-1]
