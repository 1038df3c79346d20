"""The training objective: clips in, one weighted sum of losses out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mobilevos import losses
from mobilevos.arrays import VOID
from mobilevos.clips.clip import Batch
from mobilevos.model.network import VOSNetwork, upsample
from mobilevos.model.student import Student
from mobilevos.training.prompting import clicked, guess
from mobilevos.training.recipe import Loss
from mobilevos.training.spoil import spoiled
from mobilevos.training.unroll import Unrolled, one_hot, unroll

LOOKS = 3
"""How often a prompt is looked at, each time with the guess before."""
CLICK_AGAIN = 0.6
"""Part of the prompts that get one more click after a look."""


@dataclass(frozen=True)
class LossReport:
    """The loss of a batch, and what it is made of."""

    total: Tensor
    """Scalar, the weighted sum"""
    terms: dict[str, Tensor]
    """Each term before weighting"""
    measured: dict[str, Tensor]
    """What else is logged: `iou`, on masks at stride 4"""
    predicted: Tensor
    """(B, P, H/4, W/4), ids of the last P frames, those with a loss"""


class Objective(nn.Module):
    """Student, embedding and (frozen) teacher, with the losses that tie them.

    A module, so that distributed training wraps one forward pass.

    Args:
        student: the network that is trained.
        loss: weights of the terms.
        teacher: the network that is learned from.
        forcing: the teacher's memory holds the ground truth of every earlier frame.
        spoil: probability that a clip has bad masks in its memory, see `spoiled`.
        bypass: probability that a clip goes around the student's ASPP, see `Decoder.bypass`.
    """

    def __init__(
        self,
        student: VOSNetwork,
        loss: Loss,
        *,
        teacher: VOSNetwork | None = None,
        forcing: bool = True,
        spoil: float = 0.0,
        bypass: float = 0.0,
    ) -> None:
        super().__init__()
        self.student, self.loss = student, loss
        self.forcing, self.spoil, self.bypass = forcing, spoil, bypass
        self._teacher = [teacher]  # in a list: it is neither trained, nor saved, nor averaged
        # the paper's extra linear layer: the student need not think in the same space as it is compared in
        width = student.z_channels
        self.embed = nn.Linear(width, width) if loss.representation else None
        self.regressor = losses.HintRegressor(width, teacher.z_channels) if loss.hint and teacher else None

    @property
    def teacher(self) -> VOSNetwork | None:
        return self._teacher[0]

    def forward(self, batch: Batch, keep: float, queue: int | None = 2, prefix: int = 0) -> LossReport:
        """The loss of a batch.

        Args:
            keep: the bootstrapping's current part of the pixels.
            queue: frames in the student's memory, None for all.
            prefix: frames after the first that are followed without gradient or loss.
        """
        if isinstance(self.student, Student):
            chances = torch.rand(len(batch.frames), device=batch.frames.device) if self.bypass else None
            self.student.decoder.bypass = None if chances is None else chances < self.bypass
        frames = batch.frames.float()
        frames = frames.flatten(0, 1).contiguous(memory_format=torch.channels_last).unflatten(0, frames.shape[:2])
        masks = one_hot(batch.masks, batch.objects)
        remembered = with_given_second_frames(self.student, masks, spoiled(self.student, masks, self.spoil), batch.far)
        out = unroll(
            self.student, frames, masks, queue=queue, spoil=remembered, prefix=prefix, rate=bool(self.loss.rating)
        )
        truth = batch.masks[:, 1 + prefix :]
        if batch.far is not None and not prefix:
            # Nothing is followed from a moment that is far away: the second frame is given as well.
            truth = truth.clone()
            truth[batch.far, 0] = VOID
        labels = truth.flatten(0, 1)
        logits = upsample(out.logits.flatten(0, 1), 4)
        terms: dict[str, Tensor] = {}
        if self.loss.cross_entropy:
            terms["cross_entropy"] = losses.bootstrapped_poly_cross_entropy(
                logits, labels, keep=keep, epsilon=self.loss.epsilon
            )
        if self.loss.dice:
            terms["dice"] = losses.soft_dice(logits, labels)
        if self.loss.prompt and is_turn(batch.index, self.loss.prompt_part):
            terms |= self._prompt(batch, frames, out, keep)
        predicted = out.logits.argmax(2)  # at stride 4: at full size it would take 5% of a step
        if out.rating is not None:
            rating = losses.rating_loss(out.rating, predicted, truth[..., 1::4, 1::4])
            terms["rating"] = (terms["rating"] + rating) / 2 if "rating" in terms else rating
        if self._distils:
            terms |= self._distil(frames, masks, truth, out, prefix)
        total = torch.stack([getattr(self.loss, name) * term for name, term in terms.items()]).sum()
        return LossReport(
            total,
            {name: term.detach() for name, term in terms.items()},
            {"iou": mean_iou(predicted, truth[..., 1::4, 1::4])},
            predicted,
        )

    @property
    def _distils(self) -> bool:
        return any((self.loss.logit, self.loss.representation, self.loss.hint, self.loss.attention))

    def _distil(self, frames: Tensor, masks: Tensor, truth: Tensor, out: Unrolled, prefix: int) -> dict[str, Tensor]:
        taught: Unrolled | None = None
        if self.teacher is not None:
            with torch.no_grad():
                taught = unroll(self.teacher, frames, masks, queue=None, teacher_forcing=self.forcing, prefix=prefix)
        return distillation_terms(self.loss, out, taught, masks[:, 1 + prefix :], truth, self.embed, self.regressor)

    def _prompt(self, batch: Batch, frames: Tensor, out: Unrolled, keep: float) -> dict[str, Tensor]:
        """Some looks at each prompt, each of which knows the one before; see `prompting`."""
        labels, rate, first = batch.masks[:, 0], bool(self.loss.rating), out.first
        assert first is not None
        prompts = batch.prompts
        guesses = [guess(self.student, frames[:, 0], first, prompts, rate=rate)]
        turn = int(batch.index * self.loss.prompt_part)
        for look in range(1, LOOKS):
            last = guesses[-1].logits.detach()
            if is_turn(turn + look - 1, CLICK_AGAIN):
                prompts = clicked(prompts, last.argmax(1), labels)
            before = self.student.own_masks(last)
            guesses.append(guess(self.student, frames[:, 0], first, prompts, before, rate=rate))
        terms = {"prompt": torch.stack([self._of_prompt(each.logits, labels, keep) for each in guesses]).mean()}
        ratings = [
            losses.rating_loss(each.rating, each.logits.argmax(1), labels[..., 1::4, 1::4])
            for each in guesses
            if each.rating is not None
        ]
        return terms | ({"rating": torch.stack(ratings).mean()} if ratings else {})

    def _of_prompt(self, logits: Tensor, labels: Tensor, keep: float) -> Tensor:
        logits = upsample(logits, 4)
        entropy = losses.bootstrapped_poly_cross_entropy(logits, labels, keep=keep, epsilon=self.loss.epsilon)
        return entropy + losses.soft_dice(logits, labels)


def distillation_terms(
    loss: Loss,
    out: Unrolled,
    taught: Unrolled | None,
    masks: Tensor,
    labels: Tensor,
    embed: nn.Module | None,
    regressor: nn.Module | None,
) -> dict[str, Tensor]:
    """The terms that look at pixels near boundaries.

    Args:
        out, taught: of student and teacher; without a teacher only contrastive learning (omega 0) is possible.
        masks: (B, P, N, H, W), the ground truth of the frames that were predicted.
        labels: (B, P, H, W), the same as ids, with void.
        embed, regressor: the student's learned maps into the space of comparison.
    """
    terms: dict[str, Tensor] = {}
    ground = F.avg_pool2d(masks.flatten(0, 2).unsqueeze(1), 4)  # (B * P * N, 1, H/4, W/4)
    valid = ~(F.max_pool2d((labels.flatten(0, 1) == VOID).float().unsqueeze(1), 4) > 0).squeeze(1)
    per_object = valid.repeat_interleave(masks.shape[2], 0)
    near = losses.boundary_mask(ground, loss.boundary_width) & per_object
    if loss.sampling == "random":
        near = per_object
    if loss.logit and taught is not None:
        any_object = near.unflatten(0, (-1, masks.shape[2])).any(1)
        terms["logit"] = losses.logit_distillation(
            out.logits.flatten(0, 1),
            taught.logits.flatten(0, 1),
            any_object,
            temperature=loss.temperature,
            direction=loss.logit_direction,
            over=loss.logit_over,
        )
    if loss.representation and embed is not None:
        pixels = losses.sample_pixels(near, loss.samples)
        z_t = None if taught is None else pixels.of(taught.z.float())
        terms["representation"] = losses.representation_loss(
            embed(pixels.of(out.z.float())),
            z_t,
            pixels.of(ground).squeeze(-1),
            pixels.valid,
            omega=loss.omega,
        )
    if loss.hint and taught is not None and regressor is not None:
        terms["hint"] = losses.hint_loss(regressor(out.z), taught.z)
    if loss.attention and taught is not None:
        terms["attention"] = losses.attention_transfer(out.z, taught.z)
    return terms


def with_given_second_frames(
    network: VOSNetwork, masks: Tensor, spoil: Tensor | None, far: Tensor | None
) -> Tensor | None:
    """`spoil` of `unroll`, with the true masks of the second frames of clips whose first one is far away.

    Args:
        masks: (B, T, N, H, W).
        spoil: (B, T, N, H/4, W/4), NaN where nothing is spoiled.
        far: (B,) bool.
    """
    if far is None or not far.any():
        return spoil
    second = network.given_masks(masks[:, 1])
    out = second.new_full((*masks.shape[:2], *second.shape[1:]), float("nan")) if spoil is None else spoil.clone()
    out[far, 1] = second[far]
    return out


def is_turn(index: int, part: float) -> bool:
    """True for an even `part` of the iterations, in all processes for the same ones: they wait for each other."""
    return int((index + 1) * part) > int(index * part)


def mean_iou(predicted: Tensor, labels: Tensor) -> Tensor:
    """Mean IoU over the objects that are there, in ids (..., H, W)."""
    labels = labels.long()
    valid = labels != VOID
    scores = []
    for identity in labels[valid].unique().tolist():
        if identity:
            truth, mine = labels == identity, (predicted == identity) & valid
            scores.append((truth & mine).sum() / (truth | mine).sum())
    return torch.stack(scores).mean() if scores else torch.zeros(())
