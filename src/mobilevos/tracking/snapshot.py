"""The state of a tracker in a file: arrays only (no pickle), there whole or not at all."""

from __future__ import annotations

import json
import os
import zipfile

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.runtime.base import Memory
from mobilevos.tracking.geometry import Geometry
from mobilevos.tracking.queue import MemoryQueue, Seen
from mobilevos.tracking.tracker import TrackerState

FORMAT = 1
"""Another number whenever the layout changes."""


def save_state(path: str | os.PathLike[str], state: TrackerState, frame: int) -> None:
    """Write a state as it is after frame number `frame`. Frames that are remembered twice are written once."""
    unique = {id(seen): seen for seen in (*state.queue.seen, state.current)}
    place = {key: number for number, key in enumerate(unique)}
    about = {
        "format": FORMAT,
        "frame": frame,
        "ids": state.ids,
        "geometry": [state.geometry.height, state.geometry.width, state.geometry.scaled, state.geometry.padding],
        "queue": [state.queue.anchors, state.queue.length, state.queue.every],
        "times": [seen.time for seen in unique.values()],
        "seen": [place[id(seen)] for seen in state.queue.seen],
        "current": place[id(state.current)],
    }
    memory = state.queue.memory
    arrays: dict[str, np.ndarray] = {"keys": memory.keys, "values": memory.values, "nearness": memory.nearness}
    for number, seen in enumerate(unique.values()):
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
            seen = [Seen(t, file[f"frame{n}"], file[f"masks{n}"]) for n, t in enumerate(about["times"])]
            memory = Memory(file["keys"], file["values"], file["nearness"])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"expected a tracker's state, but {path} cannot be read as one ({error})") from error
    height, width, scaled, padding = about["geometry"]
    anchors, length, every = about["queue"]
    queue = MemoryQueue(memory, tuple(seen[n] for n in about["seen"]), anchors, length, every)
    geometry = Geometry(height, width, tuple(scaled), tuple(padding))
    return TrackerState(geometry, tuple(about["ids"]), queue, seen[about["current"]]), about["frame"]
