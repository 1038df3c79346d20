"""Scoring folders of predictions, in several processes."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from mobilevos.arrays import VOID
from mobilevos.datasets.task import VideoTask, check_predictions
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import SequenceScores, extra_id, score_frame
from mobilevos.progress import Progress, no_progress

BLOCK = 32
"""Frames a process scores at a time: enough to make sending them free, few enough to share the work evenly."""


_Job = tuple[VideoTask, list[str]]
"""A task, and those of its frames that are to be scored."""


@dataclass(frozen=True)
class _Block:
    """Some frames of a task, and their values."""

    values: npt.NDArray[np.float64]
    """(objects, 2, frames), NaN where an object is not scored."""
    unknown: tuple[str, int] | None
    """The first frame whose ground truth has an id that is none of the objects, and the id."""


def score_videos(
    tasks: Sequence[VideoTask], predictions: Path, processes: int = 1, progress: Progress = no_progress
) -> tuple[tuple[SequenceScores, ...], tuple[str, ...]]:
    """Score the predictions `<predictions>/<clip>/<frame>.png`; returns the scores and notes about the data.

    With more than one process the caller's script must be importable (`if __name__ == "__main__":`).
    """
    _check_tasks(tasks)
    check_predictions(tasks, predictions)
    jobs = [(task, frames) for task in tasks for frames in _blocks(list(task.scored))]
    total, done = sum(len(frames) for _, frames in jobs), 0
    outcomes: dict[int, _Block] = {}
    with progress("scoring", total) as tell:
        for number, block in _run(partial(_score_block, predictions), jobs, processes):
            outcomes[number] = block
            done += len(jobs[number][1])
            tell(done)
    blocks: dict[str, list[_Block]] = {task.name: [] for task in tasks}
    for number, (task, _) in enumerate(jobs):
        blocks[task.name].append(outcomes[number])
    scores, notes = [], []
    for task in tasks:
        sequence, remarks = _join(task, blocks[task.name])
        scores.append(sequence)
        notes.extend(remarks)
    return tuple(scores), tuple(notes)


def _check_tasks(tasks: Sequence[VideoTask]) -> None:
    if not tasks:
        raise InputError("there is no sequence to score")
    for task in tasks:
        if not task.scored:
            raise InputError(f"{task.name} cannot be scored: it has no ground truth but that of the given frames")


def _blocks(frames: list[str]) -> list[list[str]]:
    return [frames[start : start + BLOCK] for start in range(0, len(frames), BLOCK)]


def _run(score: Callable[[_Job], _Block], jobs: Sequence[_Job], processes: int) -> Iterator[tuple[int, _Block]]:
    """Score all jobs; gives their numbers and outcomes, in the order in which they are done."""
    others = min(processes, len(jobs)) - 1
    if others < 1:
        yield from enumerate(map(score, jobs))
        return
    context = multiprocessing.get_context("spawn")  # a fork may hang where threads have been started
    pool = ProcessPoolExecutor(others, context, initializer=cv2.setNumThreads, initargs=(1,))
    try:
        futures = [pool.submit(score, job) for job in jobs]
        front = 0
        # this process works too, at once, while the others start: on the last job that nobody has begun
        for index in reversed(range(len(jobs))):
            if not futures[index].cancel():
                break
            yield index, score(jobs[index])
            while front < index and futures[front].done():
                yield front, futures[front].result()
                front += 1
        for number in range(front, len(jobs)):
            if not futures[number].cancelled():
                yield number, futures[number].result()
    finally:
        pool.shutdown(cancel_futures=True)


def _score_block(predictions: Path, job: _Job) -> _Block:
    task, frames = job
    rows = {index: row for row, index in enumerate(task.objects)}
    values = np.full((len(rows), 2, len(frames)), np.nan)
    unknown = None
    for column, frame in enumerate(frames):
        truth, pred = task.truth(frame), task.prediction(predictions, frame)
        if pred.shape != truth.shape:
            raise InputError(
                f"{task.name}, frame {frame}: the prediction is {_size(pred)} pixels, the ground truth {_size(truth)}"
            )
        extra = extra_id(pred, task.objects)
        if extra is not None:
            raise InputError(
                f"{task.name}, frame {frame}: the prediction has id {extra}, the objects are {_listed(task.objects)}"
            )
        if unknown is None and truth.max() > task.objects[-1]:
            others = truth[(truth > task.objects[-1]) & (truth != VOID)]
            unknown = (frame, int(others[0])) if others.size else None
        ids = task.scored[frame]
        values[[rows[index] for index in ids], :, column] = score_frame(pred, truth, ids)
    return _Block(values, unknown)


def _join(task: VideoTask, blocks: Sequence[_Block]) -> tuple[SequenceScores, list[str]]:
    notes = []
    unknown = next((block.unknown for block in blocks if block.unknown), None)
    if unknown:
        notes.append(
            f"{task.name}: id {unknown[1]} is in the ground truth of frame {unknown[0]} but was never given; "
            "it is not scored"
        )
    values = np.concatenate([block.values for block in blocks], axis=-1)
    has_values = ~np.isnan(values[:, 0]).all(axis=1)
    for index in np.array(task.objects)[~has_values]:
        notes.append(f"{task.name}: object {index} has no frame to score after the one in which it was given")
    objects = tuple(index for index, has in zip(task.objects, has_values, strict=True) if has)
    j, f = values[has_values].transpose(1, 0, 2)
    return SequenceScores(task.name, objects, tuple(task.scored), j, f), notes


def _size(mask: npt.NDArray[np.uint8]) -> str:
    return f"{mask.shape[1]} x {mask.shape[0]}"


def _listed(objects: Sequence[int]) -> str:
    return ", ".join(map(str, objects))
