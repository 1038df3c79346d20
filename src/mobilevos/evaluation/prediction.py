"""Running a tracker over the clips of a dataset, and the files that come of it."""

import json
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mobilevos.datasets.task import VideoTask
from mobilevos.errors import InputError
from mobilevos.evaluation.scores import Speed
from mobilevos.files import replacing
from mobilevos.media.masks import write_mask
from mobilevos.progress import Progress, no_progress

RUN = "run.json"
"""Says beside the predictions what made them, so that no run goes on with another's."""


class FrameTracker(Protocol):
    """The part of `mobilevos.tracking.Tracker` that is used here."""

    def start(self, frame: npt.NDArray[np.uint8], mask: npt.NDArray[np.uint8]) -> Any:
        """Forget what was; follow the objects of mask (H, W) from frame (H, W, 3) on."""

    def step(self, frame: npt.NDArray[np.uint8]) -> Any:
        """Return the next frame's result, of which `.mask` is (H, W) ids."""

    def add(self, mask: npt.NDArray[np.uint8]) -> Any:
        """Follow the objects of mask (H, W) too, from the frame of the last step on."""


def predict_videos(
    tracker: FrameTracker,
    tasks: Sequence[VideoTask],
    folder: Path,
    run: Mapping[str, str],
    resume: bool = False,
    progress: Progress = no_progress,
) -> Speed | None:
    """Follow the objects of all clips and write `<folder>/<clip>/<frame>.png`, palette files, one frame at a time.

    run: what makes the predictions (model, runtime ...), kept beside them.
    resume: leave out the clips whose predictions are there already; otherwise the folder must be new or empty.
    Returns how fast it went, or nothing where all was there.
    """
    for task in tasks:
        if not task.pictures:
            raise InputError(f"{task.name}: there are no pictures to give to a model")
    _claim(folder, run, resume)
    todo = [task for task in tasks if task.missing(folder, task.wanted)]
    total, done = sum(len(task.pictures) for task in todo), 0
    frames = objects = 0
    step_seconds = 0.0
    began = time.perf_counter()
    with progress("tracking", total) as tell:
        for task in todo:
            follow = _Follow(tracker, task, folder)
            for frame in task.pictures:
                follow.take(frame)
                done += 1
                tell(done)
            frames, objects = frames + follow.frames, objects + follow.objects
            step_seconds += follow.step_seconds
    return Speed(frames, objects / frames, step_seconds, time.perf_counter() - began) if frames else None


def write_submission(tasks: Sequence[VideoTask], predictions: Path, path: Path, below: str = "") -> None:
    """Zip the wanted frames of all clips as the servers of hidden ground truths take them.

    below: the folder inside the zip, such as "Annotations" for YouTube-VOS.
    """
    for task in tasks:
        missing = task.missing(predictions, task.wanted)
        if missing:
            raise InputError(f"{task.name}, frame {missing[0]}: there is no prediction to submit")
    with replacing(path) as part, zipfile.ZipFile(part, "w") as archive:  # stored: the masks are compressed already
        for task in tasks:
            for frame in task.wanted:
                archive.write(task.prediction_file(predictions, frame), Path(below, task.name, f"{frame}.png"))


class _Follow:
    """One clip on its way through a tracker, and the times it takes."""

    def __init__(self, tracker: FrameTracker, task: VideoTask, folder: Path) -> None:
        self.tracker, self.task, self.folder = tracker, task, folder
        self.frames = self.objects = 0
        self.step_seconds = 0.0
        self.followed: set[int] = set()

    def take(self, frame: str) -> None:
        """Take the next frame; those before the first object are passed over."""
        given = self.task.given.get(frame, ())
        if not given and not self.followed:
            return
        picture = self.task.picture(frame)
        shown = self._shown(frame, given, picture.shape[:2]) if given else np.zeros(picture.shape[:2], np.uint8)
        try:
            mask = self._track(picture, shown)
        except InputError as error:
            raise InputError(f"{self.task.name}, frame {frame}: {error}") from error
        self.followed.update(given)
        if frame in self.task.wanted:
            target = self.task.prediction_file(self.folder, frame)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_mask(target, mask)

    def _track(self, picture: npt.NDArray[np.uint8], shown: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The mask of a frame: what the tracker finds, with what it is shown on top."""
        if not self.followed:
            self.tracker.start(picture, shown)
            return shown
        mask = self._step(picture)
        if not shown.any():
            return mask
        self.tracker.add(shown)
        return np.where(shown != 0, shown, mask)

    def _step(self, picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        began = time.perf_counter()
        mask = self.tracker.step(picture).mask
        self.step_seconds += time.perf_counter() - began
        self.frames += 1
        self.objects += len(self.followed)
        return mask

    def _shown(self, frame: str, given: tuple[int, ...], size: tuple[int, ...]) -> npt.NDArray[np.uint8]:
        """The given objects of a frame, and nothing else: (H, W) ids."""
        truth = self.task.truth(frame)
        if truth.shape != size:
            raise InputError(f"{self.task.name}, frame {frame}: the picture is {size}, its annotation {truth.shape}")
        absent = set(given).difference(np.unique(truth).tolist())
        if absent:
            raise InputError(
                f"{self.task.name}, frame {frame}: object {min(absent)} is given but not in the annotation"
            )
        return np.where(np.isin(truth, given), truth, 0).astype(np.uint8)


def _claim(folder: Path, run: Mapping[str, str], resume: bool) -> None:
    """Make the folder this run's, or raise an InputError where it is another's."""
    if folder.is_file():
        raise InputError(f"expected a folder for the predictions, got the file {folder}")
    marker = folder / RUN
    if folder.is_dir() and any(folder.iterdir()):
        if not resume:
            raise InputError(f"{folder} is not empty: resume the run that wrote it, or choose another folder")
        try:
            before = json.loads(marker.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot resume in {folder}: its {RUN} cannot be read") from error
        if before != dict(run):
            raise InputError(f"cannot resume in {folder}: it was written by {before}, this is {dict(run)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    with replacing(marker) as part:
        part.write_text(json.dumps(dict(run), indent=2) + "\n", encoding="utf-8")
