"""The whole way: a video and masks to a video without the objects.

Backwards first: what will be seen later is carried to the start and kept on disk. Then forwards: what was seen before
is joined with it, what nobody ever saw is painted, and the result is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image as Pictures

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.backwards import Timeline, read_backwards
from mobilevos.media.damage import listed
from mobilevos.media.edges import check_grow, grown
from mobilevos.media.masks import read_mask
from mobilevos.media.pictures import find_pictures
from mobilevos.media.video import Frame, describe, is_live, open_source
from mobilevos.media.writer import VideoWriter
from mobilevos.pipeline.completion import leave_note, read_note
from mobilevos.pipeline.output import check_apart
from mobilevos.pipeline.staging import claimed
from mobilevos.progress import Progress, no_progress
from mobilevos.removal.carry import INVENTED, Carrier, Remembered
from mobilevos.removal.fill import fill, without_seam
from mobilevos.removal.flow import Bits
from mobilevos.threads import WorkBehind, depth_for, read_ahead

VIDEO = "removed.mp4"
MASKS = "masks-240p"
FUTURE = ".future"
"""What was seen later in each frame, and the new masks until all is complete; a run that left it was killed."""
FINISHED = ".removed.json"
PAINTED = 0.1
"""Share of what is hidden in a frame that may be painted before the frame is named."""
SMALL = 240
"""Height of the masks for other inpainters; their widths are multiples of 8."""


@dataclass(frozen=True)
class Removed:
    """How it went."""

    video: Path
    frames: int
    invented: float
    """Share of the hidden pixels that no frame shows: painted, not seen."""
    painted: tuple[int, ...] = ()
    """Frames in which more than a tenth of what was hidden is painted."""
    notes: tuple[str, ...] = ()
    complete: bool = False
    """Whether all was there already, and nothing was done."""


def remove(
    source: str | os.PathLike[str],
    masks: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    grow: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Progress = no_progress,
) -> Removed:
    """Take the objects of masks out of a video: writes `removed.mp4` and the masks, grown, 240 pixels high.

    Args:
        masks: a folder with a mask for each frame, in the order of their names; whatever is not 0 is taken out.
        grow: pixels by which the masks are made larger, for soft edges and close shadows; by default 3 % of the
            short side.
        resume: begin again what was killed, and leave what is finished as it is; it is an InputError if that was made
            otherwise.
        force: replace an earlier output.
    """
    if is_live(source):
        raise InputError(f"cannot remove objects from {source}: it can be read only once")
    work = _Work(source, find_pictures(os.fspath(masks)) or [], Path(folder), grow)
    if not Path(masks).is_dir():
        raise InputError(f"expected a folder of masks, got {masks}")
    check_apart(masks, _outputs(work.folder))
    with open_source(source) as opened:
        info, audio = opened.info, opened.audio
    check_grow(grow or 0, info.width, info.height)
    settings = {"source": describe(source, info), "masks": work.digest(), "grow": str(grow)}
    note = work.folder / FINISHED
    if resume and not force and (work.folder / VIDEO).exists() and not (work.folder / FUTURE).exists():
        done = read_note(note, settings)
        if done:
            painted = tuple(done.get("painted", ()))
            return Removed(work.folder / VIDEO, done["frames"], done["invented"], painted, complete=True)
    with work.claim(force, resume):
        timeline = work.scan(progress)
        with progress("looking ahead", len(timeline)) as tell:
            work.look_ahead(timeline, tell)
        with progress("removing", len(timeline)) as tell, VideoWriter(work.folder / VIDEO, info, audio=audio) as writer:
            work.write(writer, tell)
        work.put_masks()
        invented = work.invented / max(1, work.hidden)
        leave_note(note, settings, frames=len(timeline), invented=invented, painted=work.painted)
    notes = list(writer.notes)
    if work.painted:
        notes.append(
            f"{listed(work.painted)}: more than a tenth of what was hidden is painted there, not seen elsewhere."
        )
    return Removed(work.folder / VIDEO, len(timeline), invented, tuple(work.painted), tuple(notes))


def check_target(
    source: str | os.PathLike[str], folder: str | os.PathLike[str], *, force: bool = False, resume: bool = False
) -> None:
    """An InputError where an earlier output is in the way, or the source would be replaced."""
    folder = Path(folder)
    check_apart(source, _outputs(folder))
    existing = [path for path in (folder / VIDEO, folder / MASKS) if path.exists()]
    killed = (folder / FUTURE).exists() and (resume or not (folder / VIDEO).exists())
    if existing and resume and not (killed or force):
        raise InputError(f"nothing to resume in {folder}: it has {existing[0].name}, but no unfinished run")
    if existing and not (killed or force):
        raise InputError(f"{existing[0]} exists already; give another folder, or force to replace it")


class _Work:
    def __init__(self, source: str | os.PathLike[str], masks: list[Path], folder: Path, grow: int | None) -> None:
        self.source, self.masks, self.folder, self.grow = source, masks, folder, grow
        self.invented = self.hidden = 0
        self.painted: list[int] = []

    @contextlib.contextmanager
    def claim(self, force: bool, resume: bool) -> Iterator[None]:
        """The folder for the time of the work; when the work fails, all is in it as it was before."""
        check_target(self.source, self.folder, force=force, resume=resume)
        with claimed(self.folder):
            try:
                shutil.rmtree(self.folder / FUTURE, ignore_errors=True)
                (self.folder / FUTURE / MASKS).mkdir(parents=True)
                yield
            except OSError as error:
                raise InputError(f"cannot write to {self.folder}: {error.strerror or error}") from error
            finally:
                shutil.rmtree(self.folder / FUTURE, ignore_errors=True)

    def put_masks(self) -> None:
        """Replace the masks of an earlier run."""
        shutil.rmtree(self.folder / MASKS, ignore_errors=True)
        (self.folder / FUTURE / MASKS).rename(self.folder / MASKS)

    def digest(self) -> str:
        """A short text that is another one for other masks."""
        whole = hashlib.sha256()
        for path in self.masks:
            whole.update(path.read_bytes())
        return whole.hexdigest()[:16]

    def hole(self, frame: Frame) -> Bits:
        """Where objects are in a frame (H, W), with a margin."""
        if frame.index >= len(self.masks):
            raise InputError(f"expected a mask for each frame, but there are {len(self.masks)} only")
        path = self.masks[frame.index]
        ids = read_mask(path)
        height, width = frame.rgb.shape[:2]
        if ids.shape != (height, width):
            raise InputError(f"expected masks of {width} x {height} pixels, {path} has {ids.shape[1]} x {ids.shape[0]}")
        margin = max(2, round(0.03 * min(height, width))) if self.grow is None else self.grow
        return grown(ids > 0, margin)

    def scan(self, progress: Progress) -> Timeline:
        """Read everything once: where frames are, and that masks and frames fit."""
        timeline = Timeline()
        with open_source(self.source) as opened, progress("reading", opened.info.frames) as tell:
            for frame in opened:
                timeline.add(frame)
                tell(len(timeline))
                if frame.index == 0:
                    self.hole(frame)
        if len(timeline) != len(self.masks):
            raise InputError(f"expected {len(timeline)} masks, one for each frame, got {len(self.masks)}")
        return timeline

    def look_ahead(self, timeline: Timeline, tell: Callable[[int], None]) -> None:
        """Carry the background from the end to the start, and keep what is hidden in each frame."""
        carrier = Carrier()
        frames = read_ahead(read_backwards(self.source, timeline, len(timeline)), 2)
        for done, frame in enumerate(frames, start=1):
            hole = self.hole(frame)
            known = carrier.take(frame.rgb, hole)
            if hole.any():
                box = _box(hole)
                part = np.dstack([known.picture[box], known.age[box]])
                if not cv2.imwrite(str(self._future(frame)), part, [cv2.IMWRITE_PNG_COMPRESSION, 1]):
                    raise InputError(f"cannot write {self._future(frame)}: is the disk full?")
            tell(done)

    def write(self, writer: VideoWriter, tell: Callable[[int], None]) -> None:
        """Carry the background from the start to the end, join, and write."""
        carrier = Carrier()

        def finish(item: tuple[Frame, np.ndarray, Bits]) -> None:
            frame, picture, hole = item
            writer.write(picture, frame.time)
            self._write_small(frame, hole)
            tell(frame.index + 1)

        with open_source(self.source) as opened:
            depth = depth_for(opened.info.width * opened.info.height * 6)
            with contextlib.closing(read_ahead(opened, depth)) as frames, WorkBehind(finish, depth) as behind:
                for frame in frames:
                    hole = self.hole(frame)
                    known = carrier.take(frame.rgb, hole)
                    picture = frame.rgb
                    if hole.any():
                        known = fill(hole, known, self._remembered(frame, hole))
                        carrier.learn(known.picture, known.age)
                        picture = without_seam(frame.rgb, hole, known.picture)
                        hidden, invented = int(hole.sum()), int((known.age[hole] == INVENTED).sum())
                        self.hidden += hidden
                        self.invented += invented
                        if invented > PAINTED * hidden:
                            self.painted.append(frame.index)
                    behind.put((frame, picture, hole))

    def _future(self, frame: Frame) -> Path:
        return self.folder / FUTURE / f"{frame.index}.png"

    def _remembered(self, frame: Frame, hole: Bits) -> Remembered:
        part = cv2.imread(str(self._future(frame)), cv2.IMREAD_UNCHANGED)
        if part is None:
            raise InputError(f"cannot read {self._future(frame)}")
        picture, age = frame.rgb.copy(), np.zeros(hole.shape, np.uint8)
        box = _box(hole)
        picture[box], age[box] = part[..., :3], part[..., 3]
        return Remembered(picture, age)

    def _write_small(self, frame: Frame, hole: Bits) -> None:
        height, width = hole.shape
        size = (max(8, 8 * round(SMALL * width / height / 8)), SMALL)
        small = cv2.resize(hole.view(np.uint8) * 255, size, interpolation=cv2.INTER_AREA) > 0
        with replacing(self.folder / FUTURE / MASKS / f"{frame.index:05d}.png") as part:
            Pictures.fromarray(small.view(np.uint8) * 255).save(part, format="PNG")


def _outputs(folder: Path) -> list[Path]:
    return [folder / name for name in (VIDEO, MASKS, FUTURE)]


def _box(hole: Bits) -> tuple[slice, slice]:
    x, y, w, h = cv2.boundingRect(hole.view(np.uint8))
    return slice(y, y + h), slice(x, x + w)
