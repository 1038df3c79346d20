"""The training loop.

mobilevos train recipes/cpu/lite.yaml data_root=... weights_root=...
torchrun --nproc-per-node 4 -m mobilevos train recipes/paper/main-mobilenetv2.yaml
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from mobilevos.clips import Batch, ClipSource, PhotoSource, VideoSource, clip_loader
from mobilevos.clips.sheet import paint
from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.losses import annealed_keep
from mobilevos.model.backbones import MobileNetV2, load_backbone
from mobilevos.model.checkpoint import build, load_checkpoint, read_checkpoint, save_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.model.teacher import STCN
from mobilevos.training.allocator import keep_freed_memory
from mobilevos.training.average import WeightAverage
from mobilevos.training.distributed import Processes, processes
from mobilevos.training.log import RunLog
from mobilevos.training.objective import Objective, Outcome
from mobilevos.training.recipe import Optimizer, Phase, Recipe
from mobilevos.training.validation import check_clips, mean_score, validate, validate_prompts
from mobilevos.weights import find_checkpoint

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
LOG_EVERY = 20
FREE_TO_CHANGE = {"iterations", "minutes", "workers", "checkpoint_minutes", "validation", "data_root", "weights_root"}
"""Parts of a recipe that may differ when a run is resumed."""


def train(recipe: Recipe, output: Path, *, fresh: bool = False) -> Path:
    """Run a training stage, or go on with it where it was stopped.

    Args:
        recipe: what to do.
        output: the folder of all runs; this one goes into a folder of its name.
        fresh: begin anew, even if the folder holds a run that could go on.

    Returns:
        The file of the averaged weights; `best.safetensors` beside it holds the ones with the best validation.
    """
    keep_freed_memory()
    with processes() as team:
        return Trainer(recipe, output / recipe.name, team, fresh).run()


class Trainer:
    """The state of a run and what happens to it. All processes hold one."""

    def __init__(self, recipe: Recipe, folder: Path, team: Processes, fresh: bool) -> None:
        self.recipe, self.folder, self.team = recipe, folder, team
        if recipe.validation.root:
            check_clips(Path(recipe.data_root) / recipe.validation.root, recipe.validation.clips)
        torch.manual_seed(recipe.seed)
        network = initial_network(recipe).to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        teacher = None
        if recipe.teacher.checkpoint:
            teacher = load_checkpoint(find_checkpoint(recipe.teacher.checkpoint)).requires_grad_(False)
            teacher = teacher.to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.objective = Objective(
            network,
            recipe.loss,
            teacher=teacher,
            queue=recipe.queue or None,
            forcing=recipe.teacher.forcing,
            spoil=recipe.spoil,
        ).to(team.device)
        self.network = network
        freeze(network, recipe.optimizer.freeze)
        self.optimizer = make_optimizer(self.objective, recipe.optimizer)
        self.average = WeightAverage(network, recipe.optimizer.ema)
        self.scaler = torch.amp.GradScaler(team.device.type, enabled=recipe.precision == "float16")
        self.parallel: nn.Module = self.objective
        if team.count > 1:
            self.parallel = DistributedDataParallel(self.objective)
        self.sources = open_sources(recipe)
        self.iteration, self.elapsed, self.validated, self.best = 0, 0.0, 0.0, 0.0
        if not fresh and self._state_file.exists():
            self._resume()

    @property
    def _state_file(self) -> Path:
        return self.folder / "state.pt"

    @property
    def progress(self) -> float:
        """How much of the training is done, 0..1; minutes count where they are the tighter limit."""
        by_time = self.elapsed / (60 * self.recipe.minutes) if self.recipe.minutes else 0.0
        return min(1.0, max(self.iteration / self.recipe.iterations, by_time))

    def run(self) -> Path:
        """The loop. Time is counted over all starts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = RunLog(self.folder, self.iteration, self.recipe.iterations) if self.team.leads else None
        with log or nullcontext():
            began, saved = time.monotonic() - self.elapsed, self.elapsed
            meter = Meter()
            batches: Iterator[Batch] = iter(())
            phase: Phase | None = None
            while self.progress < 1:
                if (current := current_phase(self.recipe, self.progress)) is not phase:
                    phase, batches = current, self.batches(current)
                torch.manual_seed(hash((self.recipe.seed, self.iteration, self.team.rank)) % 2**63)
                waiting = time.monotonic()
                batch = next(batches)
                waited = time.monotonic() - waiting
                rate = learning_rate(self.recipe.optimizer, self.iteration, self.progress)
                outcome = self.step(batch, rate)
                self.iteration += 1
                self.elapsed = self.team.agree(time.monotonic() - began)
                meter.add(outcome, len(batch.frames), waited)
                if log and self.iteration % LOG_EVERY == 0:
                    log.record(self.iteration, {**meter.flush(), "rate": rate, "minutes": self.elapsed / 60})
                if log and self._validation_is_due():
                    self._picture(log, batch, outcome)
                    self._validate(log)
                if self.team.leads and self.elapsed - saved > 60 * self.recipe.checkpoint_minutes:
                    self.save()
                    saved = self.elapsed
            if self.team.leads:
                self.save()
            if log and self.recipe.validation.root and self.validated < self.elapsed:
                self._validate(log)
                self.save()
        return self.folder / "last.safetensors"

    def step(self, batch: Batch, rate: float) -> Outcome:
        """One iteration: forward, backward, update."""
        recipe = self.recipe
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        device = self.team.device
        if device.type != "cpu":
            batch = dataclasses.replace(
                batch,
                frames=batch.frames.to(device),
                masks=batch.masks.to(device),
                prompts=batch.prompts.to(device),
                far=None if batch.far is None else batch.far.to(device),
            )
        keep = annealed_keep(
            round(self.progress * 1_000_000),
            round(recipe.loss.keep_from * 1_000_000),
            round(recipe.loss.keep_to * 1_000_000),
            recipe.loss.keep,
        )
        with torch.autocast(device.type, DTYPES.get(recipe.precision), enabled=recipe.precision != "float32"):
            outcome: Outcome = self.parallel(batch, keep)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(outcome.total).backward()
        self.scaler.unscale_(self.optimizer)
        trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        norm = nn.utils.clip_grad_norm_(trained, recipe.optimizer.clip_norm or math.inf)
        if torch.isfinite(norm):
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.average.update(self.network, self.iteration)
        return outcome

    def averaged(self) -> VOSNetwork:
        """A copy of the network with the averaged weights."""
        network = build(self.recipe.model, **model_options(self.recipe))
        network.load_state_dict(self.average.weights)
        return network.eval()

    def save(self) -> None:
        """The state to resume from, and the averaged weights for use."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = {
            "recipe": dataclasses.asdict(self.recipe),
            "objective": self.objective.state_dict(),
            "average": self.average.weights,
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "iteration": self.iteration,
            "elapsed": self.elapsed,
            "validated": self.validated,
            "best": self.best,
        }
        with replacing(self._state_file) as part:
            torch.save(state, part)
        self._save_weights("last", {})

    def _save_weights(self, name: str, notes: dict[str, Any]) -> None:
        notes = {"iteration": self.iteration, "minutes": round(self.elapsed / 60, 1), **notes}
        recipe = dataclasses.asdict(self.recipe)
        save_checkpoint(self.folder / f"{name}.safetensors", self.averaged(), recipe=recipe, notes=notes)

    def _resume(self) -> None:
        try:
            state = torch.load(self._state_file, map_location=self.team.device, weights_only=True)
        except Exception as error:
            raise InputError(f"cannot resume from {str(self._state_file)!r}: {error}") from error
        changed = [
            key
            for key, value in dataclasses.asdict(self.recipe).items()
            if state["recipe"].get(key) != value and key not in FREE_TO_CHANGE
        ]
        if changed:
            raise InputError(
                f"{str(self.folder)!r} holds a run of another recipe ({', '.join(changed)} differ); "
                "give this one another name, or --fresh to begin anew"
            )
        self.objective.load_state_dict(state["objective"])
        self.average.load(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.iteration, self.elapsed = state["iteration"], state["elapsed"]
        self.validated, self.best = state["validated"], state["best"]

    def batches(self, phase: Phase) -> Iterator[Batch]:
        """Training batches from the current iteration on."""
        if phase.batch_size % self.team.count:
            raise InputError(f"a batch of {phase.batch_size} clips does not divide among {self.team.count} processes")
        return clip_loader(
            self.sources,
            phase.clip,
            batch_size=phase.batch_size // self.team.count,
            seed=self.recipe.seed,
            start=self.iteration,
            workers=self.recipe.workers,
            multi_object=phase.multi_object,
            rank=self.team.rank,
            world_size=self.team.count,
        )

    def _validation_is_due(self) -> bool:
        validation = self.recipe.validation
        return bool(validation.root) and self.elapsed - self.validated > 60 * validation.minutes

    def _validate(self, log: RunLog) -> None:
        validation = self.recipe.validation
        root = Path(self.recipe.data_root) / validation.root
        options: dict[str, Any] = {"queue": self.recipe.queue or None, "size": validation.size}
        scores = validate(self.averaged(), root, validation.clips, **options)
        mean = mean_score(scores)
        values = {"validation": mean, **{f"val/{s.name}": s.j_and_f for s in scores}}
        quality = mean
        if validation.backwards:
            back = mean_score(validate(self.averaged(), root, validation.clips, backwards=True, **options))
            values["val/backwards"] = back
            quality = (mean + back) / 2
        if self.recipe.loss.prompt:
            prompts = validate_prompts(self.averaged(), root, validation.clips, size=validation.size)
            values |= {"val/box": prompts.box, "val/clicks": prompts.clicks}
        log.record(self.iteration, values)
        for score in scores:
            log.picture(score.name, self.iteration, score.picture)
        self.validated = self.elapsed
        if quality > self.best:
            self.best = quality
            self._save_weights("best", {"j_and_f": mean, "clips": {s.name: s.j_and_f for s in scores}})

    def _picture(self, log: RunLog, batch: Batch, outcome: Outcome) -> None:
        """Training clips with their first mask and what was predicted."""
        frames = batch.frames.cpu().permute(0, 1, 3, 4, 2).numpy()
        masks = batch.masks.cpu().numpy()
        predicted = outcome.predicted.cpu().numpy().astype(np.uint8)
        rows = [
            np.concatenate([paint(f[0], m[0]), *(paint(f[t + 1], p) for t, p in enumerate(ps))], 1)
            for f, m, ps in zip(frames, masks, predicted, strict=True)
        ]
        log.picture("training", self.iteration, np.concatenate(rows))


class Meter:
    """Means since the last time they were asked for."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._sums: dict[str, float] = {}
        self._count, self._clips, self._waited, self._began = 0, 0, 0.0, time.monotonic()

    def add(self, outcome: Outcome, clips: int, waited: float) -> None:
        for name, value in {"loss": outcome.total.detach(), **outcome.terms}.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value)
        self._count += 1
        self._clips += clips
        self._waited += waited

    def flush(self) -> dict[str, float]:
        took = time.monotonic() - self._began
        means = {name: total / self._count for name, total in self._sums.items()}
        means |= {"its_per_s": self._count / took, "data_wait": self._waited / took}
        self._reset()
        return means


def model_options(recipe: Recipe) -> dict[str, Any]:
    return {} if recipe.model == STCN.variant else {"locality": recipe.locality}


def initial_network(recipe: Recipe) -> VOSNetwork:
    """The network a stage begins with: a checkpoint, or ImageNet backbones and the rest from scratch.

    A checkpoint may be of a related variant: what fits is taken over (`mobilenetv2` grows from `mobilenetv2-lite`,
    `resnet18` takes the value encoder of either and gets its key encoder from ImageNet).
    """
    network = build(recipe.model, **model_options(recipe))
    own = network.state_dict()
    fitting: dict[str, Tensor] = {}
    if recipe.init:
        _, state = read_checkpoint(find_checkpoint(recipe.init))
        fitting = {name: t.float() for name, t in state.items() if name in own and own[name].shape == t.shape}
    wanted = set(own)
    prefixes = {module: f"{name}." for name, module in network.named_modules()}
    for backbone, file in ((network.backbone, recipe.backbone), (network.value_backbone, recipe.value_backbone)):
        names = {name for name in own if name.startswith(prefixes[backbone])}
        if file and not names <= fitting.keys():
            load_backbone(backbone, Path(recipe.weights_root) / file, eps=1e-3 if "resnet50" in file else 1e-5)
            wanted -= names
    if recipe.init and len(wanted & fitting.keys()) < len(wanted) / 2:
        raise InputError(f"the weights of {recipe.init!r} do not fit a {recipe.model!r}")
    network.load_state_dict(fitting, strict=False)
    return network


def freeze(network: VOSNetwork, layers: int) -> None:
    """Train the first layers of the key encoder no more."""
    if not layers:
        return
    backbone = network.backbone
    blocks = list(backbone.features) if isinstance(backbone, MobileNetV2) else list(backbone.children())
    for block in blocks[:layers]:
        block.requires_grad_(False)


def make_optimizer(objective: Objective, settings: Optimizer) -> torch.optim.Optimizer:
    backbone = {id(p) for p in objective.student.backbone.parameters()}
    parameters = [p for p in objective.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if id(p) in backbone], "scale": settings.backbone_scale},
        {"params": [p for p in parameters if id(p) not in backbone], "scale": 1.0},
    ]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.kind]
    return kind(groups, lr=settings.learning_rate, weight_decay=settings.weight_decay)


def learning_rate(settings: Optimizer, iteration: int, progress: float) -> float:
    """The highest rate, times warm-up and schedule."""
    rate = settings.learning_rate * min(1.0, (iteration + 1) / max(1, settings.warmup))
    if settings.schedule == "cosine":
        return rate * (settings.final + (1 - settings.final) * 0.5 * (1 + math.cos(math.pi * progress)))
    if settings.schedule == "step" and progress >= settings.step_at:
        return rate * 0.1
    return rate


def current_phase(recipe: Recipe, progress: float) -> Phase:
    return next((phase for phase in recipe.phases if progress < phase.until), recipe.phases[-1])


def open_sources(recipe: Recipe) -> list[tuple[ClipSource, float]]:
    """The datasets of a recipe; objects to paste into clips come from the first folder of photos."""
    root = Path(recipe.data_root)
    photos = {s.root: PhotoSource(root / s.root) for s in recipe.sources if s.kind == "photos"}
    cutouts = next(iter(photos.values()), None)
    sources: list[tuple[ClipSource, float]] = []
    for source in recipe.sources:
        if source.kind == "photos":
            sources.append((photos[source.root], source.weight))
        else:
            opened = VideoSource(
                source.kind, root / source.root, split=source.split, exclude=source.exclude, cutouts=cutouts
            )
            sources.append((opened, source.weight))
    return sources
