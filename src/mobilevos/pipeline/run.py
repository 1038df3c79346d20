"""The whole way from a source and marks to a folder of outputs."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mobilevos.errors import InputError
from mobilevos.media.edges import Edges, check_grow
from mobilevos.media.sinks import GREEN, CallingSink, Look
from mobilevos.media.video import GIVEN, Frame, Readable, Source, VideoInfo, describe, is_live, open_source
from mobilevos.pipeline.alarm import Alarm, find_alarms
from mobilevos.pipeline.backward import Backward, sweep_back
from mobilevos.pipeline.follow import FollowedFrame, MarkFollower
from mobilevos.pipeline.marks import Marks, check_marks, digest, first_marks
from mobilevos.pipeline.output import CONFIDENCE, Output, finished
from mobilevos.pipeline.passes import SNAPSHOT, STATES, States, resume_pass, run_pass
from mobilevos.pipeline.record import Record, Stored, read_rows
from mobilevos.pipeline.refine import Refine, by_network
from mobilevos.pipeline.revision import KEPT, Revision, leave_marks, revise
from mobilevos.pipeline.staging import claimed
from mobilevos.pipeline.stopping import LostWatch, until_lost
from mobilevos.progress import Progress, no_progress
from mobilevos.threads import depth_for, read_ahead
from mobilevos.tracking import Tracker
from mobilevos.tracking.snapshot import save_state
from mobilevos.version import VERSION

CLEAN = Edges()


@dataclass(frozen=True)
class Segmented:
    """How it went."""

    folder: Path | None
    """None where only a sink got the masks."""
    frames: int
    objects: tuple[int, ...]
    network_frames: int
    """Frames that went through the network in this run: fewer after resuming, more with a backward pass."""
    network_seconds: float
    seconds: float
    """All in all, reading and writing included."""
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]
    complete: bool = False
    """Whether all was there already, and nothing was done."""
    stopped: bool = False
    """Whether following stopped before the end, because an object was lost; a note says where."""

    @property
    def rate(self) -> float:
        """Frames a second, all in all."""
        return self.frames / max(self.seconds, 1e-9)

    @property
    def network_rate(self) -> float:
        """Frames a second without reading and writing; 0 where the network had nothing to do."""
        return self.network_frames / self.network_seconds if self.network_frames else 0.0


def segment(
    tracker: Tracker,
    source: Readable,
    marks: Marks,
    folder: str | os.PathLike[str] | None,
    *,
    formats: Sequence[str] = ("masks", "overlay"),
    color: tuple[int, int, int] = GREEN,
    feather: float = 1.0,
    edges: Edges = CLEAN,
    backward: bool = True,
    resume: bool = False,
    force: bool = False,
    stop_when_lost: int | None = None,
    refine: Refine | None = None,
    settings: Mapping[str, str] | None = None,
    inputs: Sequence[Path] = (),
    sink: Callable[[Frame, np.ndarray, Mapping[int, float]], object] | None = None,
    progress: Progress = no_progress,
) -> Segmented:
    """Follow the marked objects through a source and write the formats that were asked for.

    Args:
        source: anything `media.video.open_source` takes, frames of your own included.
        folder: for the formats; None where only `sink` is to get the masks.
        marks: by number of the frame; see `segment.marks`.
        color: behind cut-outs.
        feather: pixels to either side of the outline over which the edges of cut-outs are soft.
        edges: what is done to masks besides: specks, holes, growing, smoothing over time.
        backward: whether objects are followed back to the start from the frame where they are marked first.
        resume: go on with a run that was stopped or killed; the masks are the same as without the stop. One that is
            finished is left as it is. With other marks, all frames before the first that differs stay, and following
            goes on from there; objects that are new are followed back into them. Anything else that is other is an
            InputError, and so is a source that broke.
        force: replace an earlier output, once the new one is complete.
        stop_when_lost: stop after so many frames in a row in which an object is not found. What was followed is
            finished, and `resume` goes on, also with more marks.
        refine: what makes a mask of a box or clicks; the tracker's network by default.
        settings: what else the masks depend on, such as the model's file; a run is resumed with the same only.
        sink: called with each frame, its ids (H, W) and confidence, in order, and in a thread of its own.
        inputs: files that the marks were read from; where they lie among the outputs, they are kept.
    """
    if folder is None:
        if sink is None or resume or force:
            raise InputError(
                "expected a folder for what is made; only a sink can do without, and then nothing is resumed"
            )
        with tempfile.TemporaryDirectory() as passing:
            passed = segment(
                tracker,
                source,
                marks,
                passing,
                formats=["masks"],
                edges=edges,
                backward=backward,
                stop_when_lost=stop_when_lost,
                refine=refine,
                sink=sink,
                progress=progress,
            )
        return replace(passed, folder=None)
    if tracker.order != "rgb":
        raise InputError(f"expected a tracker for RGB frames, which is what sources give, got one for {tracker.order}")
    began = time.perf_counter()
    refine = refine or by_network(tracker)
    live = is_live(source)
    if live and resume:
        raise InputError(f"cannot resume with {_name(source)}: it can be read only once")
    with open_source(source) as opened:
        told = opened.info.frames
        look = Look(color, feather)
        check_grow(edges.grow, opened.info.width, opened.info.height)
        marks = check_marks(marks, opened.info, is_rough(source), tracker.size)
        late = {identity: frame for identity, frame in first_marks(marks).items() if frame > opened.info.first}
        watch = None if stop_when_lost is None else LostWatch(stop_when_lost, marks)
        run = _Run(tracker, marks, refine, opened.info, watch, edges)
        made_with = {**_settings(tracker, source, opened, marks, backward), **edges.settings(), **(settings or {})}
        with contextlib.ExitStack() as held:
            held.enter_context(claimed(folder))
            if resume and not force:
                revise(folder, formats, edges.smooth, made_with, look, marks, opened)
                done = finished(folder, formats, made_with, look)
                if done:
                    return run.result(folder, began, done["frames"])
            output = Output(
                folder,
                formats,
                opened.info,
                source=source,
                audio=opened.audio,
                look=look,
                smooth=edges.smooth,
                settings=made_with,
                resume=resume,
                force=force,
                inputs=inputs,
                sinks=[CallingSink(sink)] if sink else [],
            )
            held.enter_context(output)
            leave_marks(output.again_folder, marks)
            revision = run.revision = Revision.read(output.resume_folder)
            until = opened.info.first
            if revision:
                run.notes.append(f"Frames before number {revision.begin} are those of before.")
                run.kept = revision.kept(output.resume_folder)
                if run.kept:
                    held.callback(run.kept.close)
                late = {i: frame for i, frame in late.items() if i in revision.anew or frame > revision.begin}
                until = until if revision.anew & late.keys() else revision.begin
            if late and backward and isinstance(source, (str, os.PathLike)) and not live:
                with (
                    contextlib.closing(output.side_record("backward")) as record,
                    progress("following back", max(late.values()) - until) as tell,
                ):
                    run.count(*sweep_back(tracker, source, marks, late, refine, record, until, tell))
                record = held.enter_context(contextlib.closing(output.side_record("backward")))
                run.backward = Backward(record, late, revision)
            elif late and live:
                run.notes.append(
                    f"{opened.name} can be read only once: before its first mark an object is not followed."
                )
            with progress("following", told) as tell:
                run.forward(opened, output, tell, endless=_name(source).startswith("camera:"))
            output.stopped = run.stopped and not live  # what can be read only once cannot go on
        run.notes += [*output.notes, *opened.damage.sentences(opened.name, opened.info.width, opened.info.height)]
    return run.result(folder, began)


class _Run:
    """The pass from the first frame to the last, and what it leads to."""

    def __init__(
        self, tracker: Tracker, marks: Marks, refine: Refine, info: VideoInfo, watch: LostWatch | None, edges: Edges
    ) -> None:
        self.follower = MarkFollower(tracker, marks, refine, watch=watch)
        self.watch = watch
        self.stopped = False
        self.marks, self.edges = marks, edges
        self.info = info
        self.backward: Backward | None = None
        self.revision: Revision | None = None
        self.kept: Record | None = None
        """Frames of an earlier run in which objects change; see `revision`."""
        self.notes: list[str] = []
        self.shown: tuple[np.ndarray, Mapping[int, float]] | None = None
        """Ids (H, W) and confidence of the frame that was written last."""
        self.frames = self.network_frames = 0
        self.network_seconds = 0.0

    def count(self, frames: int, seconds: float) -> None:
        """So many frames went through the network in so many seconds."""
        self.network_frames += frames
        self.network_seconds += seconds

    def forward(self, source: Source, output: Output, tell: Callable[[int], None], endless: bool) -> None:
        """Follow, and write everything. An endless source ends when the user says so."""

        def write(frame: Frame, outcome: FollowedFrame | None) -> None:
            self.shown = ids, confidence = self._final(frame, outcome, output.stored(frame))
            output.write(frame, ids, confidence, exact=frame.index in self.marks)
            self.frames += 1
            tell(self.frames)

        depth = depth_for(self.info.width * self.info.height * 3)
        frames = read_ahead(source, depth)
        snapshot = output.resume_folder / SNAPSHOT
        recorded = resume_pass(self.follower, snapshot)
        if self.watch:
            logs = (output.resume_folder / f"{KEPT}.csv", output.work / CONFIDENCE)
            self._look_back(self.watch, [log for log in logs if log.exists()], recorded)
            frames = until_lost(frames, self.follower, self.watch, recorded)
        # the states of a memory without bound grow with it: none stay
        bounded = self.follower.tracker.queue is not None
        states = States(output.again_folder / STATES, self.info.first) if bounded else None
        try:
            run_pass(frames, self.follower, write, snapshot, depth, recorded, states)
        except KeyboardInterrupt:
            if not endless:
                raise
        self.count(self.follower.frames, self.follower.seconds)
        self.notes += self.follower.notes
        if self.watch and self.watch.lost:
            self.stopped = True
            self.notes.append(str(self.watch.lost))
            if self.watch.good:
                save_state(snapshot, *self.watch.good)
            return
        stop = self.info.first + self.frames
        unused = [frame for frame in sorted(self.marks) if frame >= stop]
        if unused:
            self.notes.append(f"Frame {unused[0]} was marked, but the source has {stop} frames only.")

    def _look_back(self, watch: LostWatch, logs: Sequence[Path], recorded: int | None) -> None:
        """Tell the watch of the frames that are recorded, and not followed again."""
        seen: dict[int, dict[int, float]] = {}
        for row in (row for log in logs for row in read_rows(log)):
            if recorded is not None and row.frame <= recorded:
                seen.setdefault(row.frame, {})[row.identity] = row.confidence
        for frame, confidence in sorted(seen.items()):
            watch.see(frame, confidence)

    def result(self, folder: str | os.PathLike[str], began: float, complete: int | None = None) -> Segmented:
        """How it went; complete: how many frames were there already, if there was nothing to do."""
        return Segmented(
            folder=Path(folder),
            frames=self.frames if complete is None else complete,
            objects=tuple(sorted(first_marks(self.marks))),
            network_frames=self.network_frames,
            network_seconds=self.network_seconds,
            seconds=time.perf_counter() - began,
            alarms=tuple(find_alarms(read_rows(Path(folder) / CONFIDENCE))),
            notes=tuple(self.notes),
            complete=complete is not None,
            stopped=self.stopped,
        )

    def _final(
        self, frame: Frame, outcome: FollowedFrame | None, stored: Stored | None
    ) -> tuple[np.ndarray, Mapping[int, float]]:
        """Ids (H, W) and confidence: as recorded before, or as computed, with what came of the backward pass."""
        if stored:
            return stored.ids, stored.confidence
        kept = self.kept.stored(frame) if self.kept else None
        if kept and self.revision:
            before = self.revision.without_anew(kept)
            if not self.backward:
                return before.ids, before.confidence
            merged, trusted = self.backward.merge(frame, before.ids, before.confidence, self.marks)
            return self.revision.joined(before.ids, merged, self.edges), trusted
        if frame.damaged and frame.index not in self.marks and self.shown:
            return self.shown
        if outcome is None:
            raise InputError(f"cannot resume: the mask of frame {frame.index} is missing; force to begin anew")
        ids, confidence = outcome.mask(frame.rgb), dict(outcome.confidence)
        if self.backward:
            ids, confidence = self.backward.merge(frame, ids, confidence, self.marks)
        return self.edges.cleaned(ids, marked=frame.index in self.marks), confidence


def is_rough(source: Readable) -> bool:
    """Whether a source says only roughly how many frames it has, as files of videos do."""
    return not isinstance(source, (str, os.PathLike)) or is_live(source) or Path(source).is_file()


def _name(source: Readable) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else GIVEN


def _settings(tracker: Tracker, source: Readable, opened: Source, marks: Marks, backward: bool) -> dict[str, str]:
    return {
        "source": describe(source, opened.info),
        "marks": digest(marks),
        "backward": str(backward),
        "network": tracker.runtime.variant,
        "runtime": tracker.runtime.name,
        "queue": str(tracker.queue),
        "size": str(tracker.size),
        "every": str(tracker.every),
        "window": tracker.window,
        "version": VERSION,
    }
