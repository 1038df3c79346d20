"""The state of a tracker in a file: arrays only (no pickle), there whole or not at all."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict
from typing import Any

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.runtime.base import MemoryArrays
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.group import Group
from mobilevos.tracking.queue import MemoryQueue, Seen
from mobilevos.tracking.tracker import TrackerState
from mobilevos.tracking.window import Extent, LookAhead

FORMAT = 4
"""Another number whenever the layout changes."""


def save_state(path: str | os.PathLike[str], state: TrackerState, frame: int) -> None:
    """Write a state as it is after frame number `frame`. Frames that are remembered twice are written once."""
    frames = {id(seen): seen for seen in (*state.group.queue.seen, state.group.current)}
    place = {key: number for number, key in enumerate(frames)}
    about = {
        "format": FORMAT,
        "frame": frame,
        "ids": state.ids,
        "time": state.time,
        "geometry": asdict(state.geometry),
        "group": _describe(state.group, place),
        "frames": [{"time": seen.time, "geometry": asdict(seen.geometry)} for seen in frames.values()],
    }
    arrays: dict[str, np.ndarray] = {} if state.palette is None else {"palette": state.palette}
    memory = state.group.queue.memory
    arrays |= {"keys": memory.keys, "values": memory.values, "nearness": memory.nearness}
    for number, seen in enumerate(frames.values()):
        arrays |= {f"frame{number}": seen.frame, f"masks{number}": seen.masks}
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)


def load_state(path: str | os.PathLike[str]) -> tuple[TrackerState, int]:
    """The state and the number of its frame."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if about["format"] != FORMAT:
                raise ValueError(f"its format is {about['format']}, expected {FORMAT}")
            frames = [
                Seen(one["time"], file[f"frame{n}"], file[f"masks{n}"], _geometry(one["geometry"]))
                for n, one in enumerate(about["frames"])
            ]
            memory = MemoryArrays(file["keys"], file["values"], file["nearness"])
            palette = file["palette"] if "palette" in file.files else None
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"expected a tracker's state, but {path} cannot be read as one ({error})") from error
    group = _group(about["group"], memory, frames)
    state = TrackerState(_geometry(about["geometry"]), tuple(about["ids"]), group, about["time"], palette)
    return state, about["frame"]


def _describe(group: Group, place: dict[int, int]) -> dict[str, Any]:
    return {
        "ids": group.ids,
        "look": asdict(group.look),
        "queue": [group.queue.anchors, group.queue.length, group.queue.every],
        "given": [sorted(drawn) for drawn in group.queue.given],
        "seen": [place[id(seen)] for seen in group.queue.seen],
        "current": place[id(group.current)],
    }


def _group(about: dict[str, Any], memory: MemoryArrays, frames: list[Seen]) -> Group:
    anchors, length, every = about["queue"]
    drawn = tuple(frozenset(objects) for objects in about["given"])
    queue = MemoryQueue(memory, tuple(frames[n] for n in about["seen"]), anchors, length, every, drawn)
    look, extent = about["look"], about["look"]["extent"]
    return Group(
        tuple(about["ids"]),
        LookAhead(
            look["x"],
            look["y"],
            look["zoom"],
            tuple(look["speed"]),
            tuple(look["growth"]),
            None if extent is None else Extent(**extent),
        ),
        queue,
        frames[about["current"]],
    )


def _geometry(about: dict[str, Any]) -> Geometry:
    return Geometry(
        about["height"], about["width"], *(tuple(about[name]) for name in ("view", "scaled", "padding", "box"))
    )
