"""The training loop.

mobilevos train recipes/cpu/lite-a.yaml data_root=... weights_root=...
torchrun --nproc-per-node 4 -m mobilevos train recipes/paper/main-mobilenetv2.yaml
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from mobilevos.clips import Batch, clip_loader
from mobilevos.clips.sheet import prediction_sheet
from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.model.checkpoint import save_checkpoint
from mobilevos.model.network import VOSNetwork
from mobilevos.training.allocator import keep_freed_memory
from mobilevos.training.arithmetic import autocast, usable_precision
from mobilevos.training.average import WeightAverage
from mobilevos.training.distributed import Processes, processes
from mobilevos.training.lineage import ancestors, derived_seed
from mobilevos.training.log import RunLog
from mobilevos.training.meter import Meter
from mobilevos.training.objective import LossReport, Objective
from mobilevos.training.optimizer import learning_rate, make_optimizer
from mobilevos.training.recipe import Phase, Recipe
from mobilevos.training.resume import read_state
from mobilevos.training.schedule import current_phase, drawn_queue, iteration_seed, kept_pixels
from mobilevos.training.start import freeze, initial_network, load_teacher, open_sources, untrained_network
from mobilevos.training.validation import check_clips, validate_recipe

LOG_EVERY = 20


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
        self.folder, self.team = folder, team
        if recipe.validation.root:
            check_clips(Path(recipe.data_root) / recipe.validation.root, recipe.validation.clips)
        self.iteration, self.elapsed, self.validated, self.best = 0, 0.0, 0.0, -1.0  # even 0 is better than none
        state = None if fresh or not self._state_file.exists() else read_state(self._state_file, recipe, team.device)
        self.ancestors = ancestors(recipe)
        if (seed := recipe.seed) is None:
            seed = state["recipe"]["seed"] if state else derived_seed(recipe.name, self.ancestors)
        self.seed: int = seed
        self.recipe = dataclasses.replace(recipe, seed=self.seed)
        torch.manual_seed(self.seed)
        self.network = initial_network(recipe)
        freeze(self.network, recipe)
        teacher = load_teacher(recipe)
        for network in (self.network, teacher):
            if network is not None:
                network.to(team.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.objective = Objective(
            self.network,
            recipe.loss,
            teacher=teacher,
            forcing=recipe.teacher.forcing,
            spoil=recipe.spoil,
            bypass=recipe.bypass,
        ).to(team.device)
        self.optimizer = make_optimizer(self.objective, recipe.optimizer)
        self.average = WeightAverage(self.network, recipe.optimizer.ema)
        self.precision = usable_precision(recipe.precision, team.device)
        if self.precision != recipe.precision and team.is_main:
            print(f"this processor has no {recipe.precision}: training in {self.precision} instead", file=sys.stderr)
        self.scaler = torch.amp.GradScaler(team.device.type, enabled=self.precision == "float16")
        self.parallel: nn.Module = self.objective if team.count == 1 else DistributedDataParallel(self.objective)
        self.sources = open_sources(recipe)
        if state:
            self._resume(state)

    @property
    def progress(self) -> float:
        """How much of the training is done, 0..1; minutes count where they are the tighter limit."""
        by_time = self.elapsed / (60 * self.recipe.minutes) if self.recipe.minutes else 0.0
        return min(1.0, max(self.iteration / self.recipe.iterations, by_time))

    def run(self) -> Path:
        """The loop. Time is counted over all starts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log = RunLog(self.folder, self.iteration, self.recipe.iterations) if self.team.is_main else None
        with log or nullcontext():
            began, saved = time.monotonic() - self.elapsed, self.elapsed
            meter = Meter()
            batches: Iterator[Batch] = iter(())
            phase: Phase | None = None
            while self.progress < 1:
                if (current := current_phase(self.recipe, self.progress)) is not phase:
                    phase, batches = current, self.batches(current)
                torch.manual_seed(iteration_seed(self.seed, self.iteration, self.team.rank))
                waiting = time.monotonic()
                batch = next(batches)
                waited = time.monotonic() - waiting
                rate = learning_rate(self.recipe.optimizer, self.iteration, self.progress)
                report = self.step(batch, rate)
                self.iteration += 1
                self.elapsed = self.team.agree(time.monotonic() - began)
                meter.add(report, len(batch.frames), waited)
                if log and self.iteration % LOG_EVERY == 0:
                    log.record(self.iteration, {**meter.flush(), "rate": rate, "minutes": self.elapsed / 60})
                if log and self._validation_is_due():
                    sheet = prediction_sheet(batch, report.predicted.cpu().numpy().astype(np.uint8))
                    log.picture("training", self.iteration, sheet)
                    self._validate(log)
                if self.team.is_main and self.elapsed - saved > 60 * self.recipe.checkpoint_minutes:
                    self.save()
                    saved = self.elapsed
            if self.team.is_main:
                self.save()
            if log and self.recipe.validation.root and self.validated < self.elapsed:
                self._validate(log)
                self.save()
        return self.folder / "last.safetensors"

    def step(self, batch: Batch, rate: float) -> LossReport:
        """One iteration: forward, backward, update."""
        recipe, device = self.recipe, self.team.device
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        keep = kept_pixels(recipe.loss, self.progress)
        queue = drawn_queue(recipe.queue, self.seed, self.iteration)
        prefix = current_phase(recipe, self.progress).prefix
        with autocast(self.precision, device):
            report: LossReport = self.parallel(batch.to(device), keep, queue, prefix)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(report.total).backward()
        self.scaler.unscale_(self.optimizer)
        trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        norm = nn.utils.clip_grad_norm_(trained, recipe.optimizer.clip_norm or math.inf)
        if torch.isfinite(norm):
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.average.update(self.network, self.iteration)
        clipped = norm > (recipe.optimizer.clip_norm or math.inf)
        return dataclasses.replace(report, measured={**report.measured, "gradient": norm, "clipped": clipped})

    def batches(self, phase: Phase) -> Iterator[Batch]:
        """Training batches from the current iteration on."""
        if phase.batch_size % self.team.count:
            raise InputError(f"a batch of {phase.batch_size} clips does not divide among {self.team.count} processes")
        return clip_loader(
            self.sources,
            phase.clip,
            batch_size=phase.batch_size // self.team.count,
            seed=self.seed,
            start=self.iteration,
            workers=self.recipe.workers,
            multi_object=phase.multi_object,
            rank=self.team.rank,
            world_size=self.team.count,
        )

    def averaged(self) -> VOSNetwork:
        """A copy of the network with the averaged weights."""
        network = untrained_network(self.recipe)
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

    @property
    def _state_file(self) -> Path:
        return self.folder / "state.pt"

    def _resume(self, state: dict[str, Any]) -> None:
        self.objective.load_state_dict(state["objective"])
        self.average.load(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scaler.load_state_dict(state["scaler"])
        self.iteration, self.elapsed = state["iteration"], state["elapsed"]
        self.validated, self.best = state["validated"], state["best"]

    def _save_weights(self, name: str, notes: dict[str, Any]) -> None:
        notes = {
            "iteration": self.iteration,
            "minutes": round(self.elapsed / 60, 1),
            "lineage": [*self.ancestors, self.recipe.name],
            **notes,
        }
        recipe = dataclasses.asdict(self.recipe)
        save_checkpoint(self.folder / f"{name}.safetensors", self.averaged(), recipe=recipe, notes=notes)

    def _validation_is_due(self) -> bool:
        validation = self.recipe.validation
        return bool(validation.root) and self.elapsed - self.validated > 60 * validation.minutes

    def _validate(self, log: RunLog) -> None:
        """Log how well the averaged weights do, and keep them if none did better."""
        found = validate_recipe(self.averaged(), self.recipe)
        log.record(self.iteration, found.values)
        for clip in found.clips:
            log.picture(clip.name, self.iteration, clip.picture)
        self.validated = self.elapsed
        if found.quality > self.best:
            self.best = found.quality
            clips = {clip.name: clip.j_and_f for clip in found.clips}
            self._save_weights("best", {"j_and_f": found.j_and_f, "clips": clips})
