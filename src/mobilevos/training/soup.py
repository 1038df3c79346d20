"""Model soups (Wortsman et al., ICML 2022): the average of several checkpoints, at the cost of one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from mobilevos.datasets.davis import davis_places, davis_split
from mobilevos.errors import InputError
from mobilevos.model.checkpoint import build, read_checkpoint, save_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.training.lineage import lineage
from mobilevos.training.recipe import Recipe
from mobilevos.training.validation import check_clips, mean_score, validate

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Soup:
    """Averaged weights, and how they came about."""

    weights: Weights
    ingredients: tuple[int, ...]
    """Positions of the checkpoints that went in, in the order of their going in"""
    score: float
    """Of the soup"""
    scores: tuple[float, ...]
    """Of each checkpoint alone"""


def average(ingredients: Sequence[Weights]) -> Weights:
    """The mean of weights of the same network."""
    first = ingredients[0]
    for other in ingredients[1:]:
        if other.keys() != first.keys() or any(other[name].shape != first[name].shape for name in first):
            raise InputError("the checkpoints of a soup must be of one and the same network")
    return {name: torch.stack([weights[name].double() for weights in ingredients]).mean(0).float() for name in first}


def uniform_soup(ingredients: Sequence[Weights], score: Callable[[Weights], float]) -> Soup:
    """The mean of all ingredients, whatever they score; `score` is asked for the record."""
    weights = average(ingredients)
    scores = tuple(score(each) for each in ingredients)
    return Soup(weights, tuple(range(len(ingredients))), score(weights), scores)


def greedy_soup(ingredients: Sequence[Weights], score: Callable[[Weights], float]) -> Soup:
    """Best first, each kept only if the soup does not become worse by it; so it is never below its best ingredient."""
    scores = tuple(score(each) for each in ingredients)
    order = sorted(range(len(ingredients)), key=lambda i: -scores[i])
    chosen, best, weights = [order[0]], scores[order[0]], average([ingredients[order[0]]])
    for candidate in order[1:]:
        tasted = average([ingredients[i] for i in (*chosen, candidate)])
        quality = score(tasted)
        if quality >= best:
            chosen, best, weights = [*chosen, candidate], quality, tasted
    return Soup(weights, tuple(chosen), best, scores)


def cook(
    checkpoints: Sequence[Path],
    output: Path,
    recipe: Recipe,
    *,
    greedy: bool = True,
    clips: Sequence[str] = (),
    report: Callable[[str], None] = print,
) -> Soup:
    """A soup of checkpoint files, selected on training clips as in the paper: no further data is looked at.

    Args:
        recipe: whose DAVIS source names the training clips, and whose validation the working size.
        clips: use these training clips only.
    """
    if not checkpoints:
        raise InputError("expected at least one checkpoint")
    read = [read_checkpoint(path) for path in checkpoints]
    metadata = read[0][0]
    if len({m["variant"] for m, _ in read}) > 1:
        raise InputError("the checkpoints of a soup must be of one and the same network")
    root, names = training_clips(recipe)
    unknown = sorted(set(clips) - set(names))
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a training clip of the recipe")
    check_clips(root, clips or names)

    def network(weights: Weights) -> VOSNetwork:
        built = build(metadata["variant"], **json.loads(metadata["options"]))
        built.load_state_dict(weights)
        return built.eval()

    def score(weights: Weights) -> float:
        scores = validate(
            network(weights), root, clips or names, queue=recipe.validation_queue, size=recipe.validation.size
        )
        report(f"J&F {mean_score(scores):.4f} on {len(scores)} training clips")
        return mean_score(scores)

    method = greedy_soup if greedy else uniform_soup
    soup = method([{name: tensor.float() for name, tensor in state.items()} for _, state in read], score)
    notes = {
        "soup": [str(checkpoints[i]) for i in soup.ingredients],
        "scores": [{"file": str(path), "score": score} for path, score in zip(checkpoints, soup.scores, strict=True)],
        "training_j_and_f": soup.score,
        "lineage": list(dict.fromkeys(run for i in soup.ingredients for run in lineage(read[i][0]))),
    }
    save_checkpoint(output, network(soup.weights), recipe=dataclasses.asdict(recipe), notes=notes)
    return soup


def training_clips(recipe: Recipe) -> tuple[Path, list[str]]:
    """Folder and names of the real clips a recipe trains on."""
    for source in recipe.sources:
        if source.kind == "davis":
            root = Path(recipe.data_root) / source.root
            names = davis_split(root, source.split) if source.split else [place.name for place in davis_places(root)]
            return root, [name for name in names if name not in source.exclude]
    raise InputError("the recipe has no DAVIS source whose clips a soup could be selected on")
