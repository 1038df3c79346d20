"""Training what is missing: one run after the other, or several side by side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.model.checkpoint import digest
from mobilevos.reproduce.paper import Soup
from mobilevos.reproduce.plan import Job, Place, recipe_of, write_recipe
from mobilevos.threads import cores

Say = Callable[[str], None]


def train_missing(jobs: Sequence[Job], place: Place, *, side_by_side: int = 1, gpus: int = 0, say: Say = print) -> None:
    """Do the jobs that are not done, in order; what was stopped goes on where it was.

    Args:
        jobs: ordered, see `jobs_of`.
        side_by_side: so many runs at once, each in a process of its own.
        gpus: processes of each run under torchrun; 0 trains in one process.
    """
    left = [job for job in jobs if not job.is_done(place)]
    if side_by_side == 1 and not gpus:
        for job in left:
            _do(job, place, None, say)
        return
    while left:
        ready = [job for job in left if all(need.is_done(place) for need in job.needs(place))]
        with ThreadPoolExecutor(side_by_side) as pool:
            # all of them end before an error is told: what could be done is done
            results = [pool.submit(_do, job, place, gpus, say, max(1, cores() // side_by_side)) for job in ready]
        for result in results:
            result.result()
        left = [job for job in left if not job.is_done(place)]


def _do(job: Job, place: Place, gpus: int | None, say: Say, threads: int = 1) -> None:
    """gpus: processes of a run that is trained apart, 0 without torchrun; None trains it here."""
    folder = place.runs / job.name
    recipe = recipe_of(job, place)
    if isinstance(job.what, Soup):
        from mobilevos.training.soup import cook

        say(f"{job.name}: mixing {', '.join(job.what.of)}")
        ingredients = [need.weights(place) for need in job.needs(place)]
        folder.mkdir(parents=True, exist_ok=True)
        cook(ingredients, job.weights(place), recipe, greedy=job.what.greedy, report=say)
    else:
        file = place.folder / "recipes" / f"{job.name}.yaml"
        write_recipe(recipe, file)
        say(f"{job.name}: training, {recipe.iterations} iterations")
        if gpus is not None:
            _train_apart(file, place.runs, gpus, threads)
        else:
            from mobilevos.training.loop import train

            train(recipe, place.runs)
    with replacing(folder / "done.json") as part:
        part.write_text(json.dumps({"sha256": digest(job.weights(place))}) + "\n", encoding="utf-8")


def _train_apart(recipe: Path, runs: Path, gpus: int, threads: int) -> None:
    """threads: of a process without torchrun, unless OMP_NUM_THREADS says another number."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={gpus}"] if gpus else []
    done = subprocess.run(
        [sys.executable, *launcher, "-m", "mobilevos", "train", str(recipe), "-o", str(runs)],
        check=False,
        env=os.environ if gpus else {"OMP_NUM_THREADS": str(threads), **os.environ},
    )
    if done.returncode:
        raise InputError(
            f"the run of {recipe} ended with {done.returncode}; it goes on where it was when it is begun again"
        )
