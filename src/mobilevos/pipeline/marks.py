"""What people say about the objects: masks, boxes, clicks, and that an object is gone, each at a frame.

As text, all are `[FRAME=][OBJECT:]VALUE`: `50=2:10,20` is a click on object 2 at x 10, y 20 in frame 50.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mobilevos.errors import InputError
from mobilevos.files import is_file
from mobilevos.media.masks import load_mask
from mobilevos.media.video import VideoInfo

Point = tuple[int, int]
"""x, y"""

MOST = 255
"""The highest number of an object."""

SLACK = 0.1
"""Share by which a video may be longer than its file says."""

SMALLEST = 4
"""Pixels of an object at the network's size; fewer are a slip of the hand."""


@dataclass(frozen=True)
class Prompt:
    """A rough mark of one object, to be refined to a mask."""

    box: tuple[int, int, int, int] | None = None
    """x, y, width, height"""
    on: tuple[Point, ...] = ()
    """Clicks on the object."""
    off: tuple[Point, ...] = ()
    """Clicks on what is not the object."""


@dataclass(frozen=True)
class FrameMarks:
    """All marks of one frame. Objects without a mark are as the tracker finds them."""

    mask: NDArray[np.uint8] | None = None
    """(H, W), the ids of objects drawn exactly, 0 elsewhere."""
    prompts: Mapping[int, Prompt] = field(default_factory=dict)
    """By object."""
    gone: frozenset[int] = frozenset()
    """Objects that are not to be seen in this frame."""

    @property
    def drawn(self) -> frozenset[int]:
        """The objects in the mask."""
        return frozenset() if self.mask is None else frozenset(int(i) for i in np.unique(self.mask) if i)

    @property
    def shown(self) -> frozenset[int]:
        """The objects that are marked as visible."""
        return self.drawn | frozenset(self.prompts)

    def only(self, objects: frozenset[int]) -> FrameMarks:
        """The marks of some objects."""
        mask = None if self.mask is None else np.where(np.isin(self.mask, list(objects)), self.mask, np.uint8(0))
        return FrameMarks(mask, {i: p for i, p in self.prompts.items() if i in objects}, self.gone & objects)


Marks = Mapping[int, FrameMarks]
"""By number of the frame."""


def read_marks(
    masks: Sequence[str] = (),
    boxes: Sequence[str] = (),
    clicks: Sequence[str] = (),
    not_clicks: Sequence[str] = (),
    gone: Sequence[str] = (),
    first: int = 0,
) -> tuple[dict[int, FrameMarks], list[str]]:
    """Marks from text, and sentences on how mask files were repaired.

    A mask file holds the objects by its ids, or one object if a number is given. A box without a number is a new
    object, in the order of frames; a click without a number belongs to object 1. first: the frame of marks without one.
    """
    marks: dict[int, FrameMarks] = {}
    notes: list[str] = []
    for text in masks:
        whole = is_file(text)
        frame, identity, name = (first, None, text) if whole else _split(text, "--mask", "FILE", first)
        repaired = load_mask(name)
        notes += [f"{Path(name).name}: {note}" for note in repaired.notes]
        ids = repaired.ids if identity is None else np.where(repaired.ids > 0, np.uint8(identity), np.uint8(0))
        marks[frame] = _with_mask(marks.get(frame, FrameMarks()), ids, frame, name)
    known = [(frame, identity) for frame, at in marks.items() for identity in at.shown]
    given = [(*_split(text, "--box", "X,Y,WIDTH,HEIGHT", first), text) for text in boxes]
    known += [(frame, identity) for frame, identity, _, _ in given if identity is not None]
    for frame, number, value, text in sorted(given, key=lambda box: box[0]):
        used = {identity for at, identity in known if at <= frame}  # what is marked later corrects what is marked here
        identity = number or next((i for i in range(1, MOST + 1) if i not in used), 0)
        if not identity:
            raise InputError(f"expected at most {MOST} objects, got one more: --box {text}")
        known.append((frame, identity))
        x, y, width, height = _numbers(value, 4, f"--box {text}", "X,Y,WIDTH,HEIGHT")
        _prompt(marks, frame, identity, box=(x, y, width, height))
    for texts, option, key in ((clicks, "--click", "on"), (not_clicks, "--not", "off")):
        for text in texts:
            frame, number, value = _split(text, option, "X,Y", first)
            x, y = _numbers(value, 2, f"{option} {text}", "X,Y")
            before = marks.get(frame, FrameMarks()).prompts.get(number or 1, Prompt())
            _prompt(marks, frame, number or 1, **{key: (*getattr(before, key), (x, y))})
    for text in gone:
        match = re.fullmatch(r"([0-9]+)(?:=([0-9]+))?", text)
        if not match:
            raise InputError(f"expected --gone FRAME or --gone FRAME=OBJECT, got {text}")
        frame = int(match[1])
        at = marks.get(frame, FrameMarks())
        marks[frame] = replace(at, gone=at.gone | {_identity(match[2] or "1")})
    return marks, notes


def mask_files(masks: Sequence[str]) -> list[Path]:
    """The files that masks, given as text, are read from."""
    return [Path(text if is_file(text) else _split(text, "--mask", "FILE")[2]) for text in masks]


def check_marks(marks: Marks, info: VideoInfo, rough: bool = False, size: int | None = None) -> Marks:
    """The marks, cut to the frame; an InputError where they do not fit the source or one another.

    rough: whether there may be somewhat more frames than `info` says, as in files of videos.
    size: of the short side the network sees, as far as it is not the frame's own.
    """
    width, height, stop = info.width, info.height, info.first + (info.frames or 0)
    most = stop + (2 + round(SLACK * stop) if rough and not info.ends_early else 0) if info.frames else None
    if not any(at.shown for at in marks.values()):
        raise InputError("nothing is marked: show an object with a mask, a box or a click")
    first = first_marks(marks)
    checked = {}
    for frame, at in sorted(marks.items()):
        if frame < info.first or (most is not None and frame >= most):
            there = f"{info.first} to {stop - 1}" if most else f"from {info.first} on"
            raise InputError(f"frame {frame} is marked, but the source has the frames {there}")
        if at.mask is not None and at.mask.shape != (height, width):
            h, w = at.mask.shape
            raise InputError(f"expected a mask of {width} x {height} pixels like the video, got one of {w} x {h}")
        for identity in sorted(at.shown | at.gone):
            if not 1 <= identity <= MOST:
                raise InputError(f"expected objects numbered 1 to {MOST}, got {identity}")
        for identity in sorted(at.gone):
            if identity in at.shown:
                raise InputError(f"object {identity} is both marked and gone in frame {frame}")
            if first.get(identity, frame) >= frame:
                raise InputError(f"object {identity} is gone in frame {frame}, but was never marked before")
        prompts = {i: _inside(prompt, i, width, height) for i, prompt in at.prompts.items()}
        _check_clicks(prompts, frame)
        for identity, prompt in prompts.items():
            if not (prompt.box or prompt.on) and identity not in at.drawn and first[identity] == frame:
                raise InputError(f"object {identity} has clicks on what it is not only: click on it, too")
        if at.mask is not None:
            check_size(at.mask, at.drawn - frozenset(prompts), frame, size)
        checked[frame] = replace(at, prompts=prompts)
    return checked


def check_size(ids: NDArray[np.uint8], objects: Iterable[int], frame: int, size: int | None) -> None:
    """An InputError where one of the objects in a mask (H, W) is too small to be followed at the network's size."""
    reduced = 1.0 if size is None else min(1.0, size / min(ids.shape))
    for identity in sorted(objects):
        pixels = int((ids == identity).sum())
        if not pixels:
            raise InputError(
                f"nothing of object {identity} is left in frame {frame}: another object or --not covers it"
            )
        if pixels * reduced**2 < SMALLEST:
            raise InputError(
                f"object {identity} has {pixels} pixels, too few to be followed, in frame {frame}; "
                "is it a stray pixel of a mask, or a click that was read too small and needs a box?"
            )


def first_marks(marks: Marks) -> dict[int, int]:
    """The first frame in which each object is shown."""
    first: dict[int, int] = {}
    for frame, at in sorted(marks.items()):
        for identity in at.shown:
            first.setdefault(identity, frame)
    return first


def digest(marks: Marks) -> str:
    """A short text that is another one for other marks."""
    whole = hashlib.sha256()
    for frame, at in sorted(marks.items()):
        whole.update(repr((frame, sorted(at.prompts.items()), sorted(at.gone))).encode())
        if at.mask is not None:
            whole.update(at.mask.astype(np.uint8).tobytes())
    return whole.hexdigest()[:16]


def _split(text: str, option: str, what: str, first: int = 0) -> tuple[int, int | None, str]:
    match = re.fullmatch(r"(?:([0-9]+)=)?(?:([0-9]+):)?(.+)", text)
    if not match:
        raise InputError(f"expected {option} [FRAME=][OBJECT:]{what}, got {text!r}")
    return int(match[1] or first), _identity(match[2]) if match[2] else None, match[3]


def _identity(text: str) -> int:
    if not 1 <= int(text) <= MOST:
        raise InputError(f"expected objects numbered 1 to {MOST}, got {text}")
    return int(text)


def _numbers(value: str, count: int, given: str, what: str) -> list[int]:
    parts = value.replace(" ", "").split(",")
    if len(parts) != count or not all(re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", part) for part in parts):
        raise InputError(f"expected {count} numbers {what}, got {given}")
    return [round(float(part)) for part in parts]


def _with_mask(at: FrameMarks, ids: NDArray[np.uint8], frame: int, name: str) -> FrameMarks:
    """A further mask in a frame: its objects must be others."""
    if at.mask is None:
        return replace(at, mask=ids)
    twice = at.drawn & FrameMarks(ids).drawn
    if twice:
        raise InputError(f"object {min(twice)} is in two masks of frame {frame}; number one: --mask {frame}=2:{name}")
    if at.mask.shape != ids.shape:
        raise InputError(f"the masks of frame {frame} have two sizes, {at.mask.shape[::-1]} and {ids.shape[::-1]}")
    return replace(at, mask=np.where(ids > 0, ids, at.mask))


def _prompt(marks: dict[int, FrameMarks], frame: int, identity: int, **change: object) -> None:
    """Add to the prompt of an object, in place."""
    at = marks.get(frame, FrameMarks())
    before = at.prompts.get(identity, Prompt())
    if change.get("box") and before.box:
        raise InputError(f"object {identity} has two boxes in frame {frame}")
    marks[frame] = replace(at, prompts={**at.prompts, identity: replace(before, **change)})  # type: ignore[arg-type]


def _check_clicks(prompts: Mapping[int, Prompt], frame: int) -> None:
    """An InputError where clicks contradict one another."""
    owners: dict[Point, int] = {}
    for identity, prompt in sorted(prompts.items()):
        for x, y in prompt.on:
            where = f"the pixel {x},{y} of frame {frame} is clicked as on object"
            if (x, y) in prompt.off:
                raise InputError(f"{where} {identity} and as not on it")
            if owners.setdefault((x, y), identity) != identity:
                raise InputError(f"{where} {owners[x, y]} and as on object {identity}")


def _inside(prompt: Prompt, identity: int, width: int, height: int) -> Prompt:
    """A prompt cut to the frame."""
    for x, y in (*prompt.on, *prompt.off):
        if not (0 <= x < width and 0 <= y < height):
            raise InputError(f"the click {x},{y} on object {identity} is outside the frame of {width} x {height}")
    if prompt.box is None:
        return prompt
    x, y, w, h = prompt.box
    said = ",".join(map(str, prompt.box))
    if w < 1 or h < 1:
        raise InputError(f"the box {said} of object {identity} is empty: expected X,Y,WIDTH,HEIGHT")
    left, top, right, bottom = max(0, x), max(0, y), min(width, x + w), min(height, y + h)
    if left >= right or top >= bottom:
        raise InputError(f"the box {said} of object {identity} is outside the frame of {width} x {height}")
    return replace(prompt, box=(left, top, right - left, bottom - top))
