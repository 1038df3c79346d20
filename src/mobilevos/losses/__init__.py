"""The terms of the training loss, one file each: functions of tensors that return a scalar, without weights."""

from mobilevos.losses.baselines import HintRegressor, attention_transfer, hint_loss
from mobilevos.losses.boundary import PixelSample, boundary_mask, sample_pixels
from mobilevos.losses.cross_entropy import annealed_keep, bootstrapped_poly_cross_entropy
from mobilevos.losses.dice import soft_dice
from mobilevos.losses.information import joint_entropy, mutual_information, renyi_entropy
from mobilevos.losses.logit_distillation import logit_distillation
from mobilevos.losses.rating import rating_loss
from mobilevos.losses.representation import representation_loss

__all__ = [
    "HintRegressor",
    "PixelSample",
    "annealed_keep",
    "attention_transfer",
    "bootstrapped_poly_cross_entropy",
    "boundary_mask",
    "hint_loss",
    "joint_entropy",
    "logit_distillation",
    "mutual_information",
    "rating_loss",
    "renyi_entropy",
    "representation_loss",
    "sample_pixels",
    "soft_dice",
]
