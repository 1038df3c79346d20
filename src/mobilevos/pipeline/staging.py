"""Results that replace earlier ones: made in a folder of their own, and moved into place when all of them are complete.

    out/.new      the new results, until they are complete
    out/.old      the earlier ones, while the new ones are moved

Moving is renaming, and can be killed at any moment: the list of what is to be moved is on disk before the first of it
is, and `settle` goes on with it. One process at a time has a folder: see `claimed`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.masks import load_mask, read_mask

NEW = ".new"
OLD = ".old"
READY = "ready.json"
"""In the folder of new results: what is to be moved, and what is to go."""
KEPT = "kept"
"""Where files that a person made go, if a result takes their place."""


@contextlib.contextmanager
def claimed(folder: str | os.PathLike[str]) -> Iterator[None]:
    """A folder, made if need be, that no other process works in; one that stays empty is removed again."""
    folder = Path(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from error
    try:
        with _locked(folder):
            settle(folder)
            yield
    finally:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """A lock that ends with the process, however that ends. Where the system has none for folders, there is none."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError(f"another run is writing to {folder}: wait for it, or give another folder") from None
    except OSError:
        pass  # some network drives cannot
    try:
        yield
    finally:
        os.close(handle)


def replace_results(
    folder: Path, dropped: Sequence[str], inputs: Sequence[Path], left: Sequence[str] = ()
) -> list[str]:
    """Move the new results of a folder into place; sentences on what became of files that a person made.

    dropped: names of what belongs to the earlier results only. inputs: files that were read to make the new ones. left:
    names of what is not moved, but goes.
    """
    new = folder / NEW
    names = sorted(path.name for path in new.iterdir() if path.name not in (READY, *left))
    notes = [note for path in inputs if (note := _keep(path, folder, names))]
    halves = [path.name for name in names for path in folder.glob(f"{name}*.part")]  # of a run that was killed
    gone = [name for name in (*dropped, *halves) if name not in names]
    with replacing(new / READY) as part:
        part.write_text(json.dumps({"names": names, "dropped": gone}), encoding="utf-8")
    settle(folder)
    return notes


def settle(folder: Path) -> None:
    """Finish moving results, where a process was killed while it did so."""
    new, old = folder / NEW, folder / OLD
    if not (new / READY).exists():
        return
    todo = json.loads((new / READY).read_text(encoding="utf-8"))
    old.mkdir(exist_ok=True)
    for name in todo["names"]:
        if not (new / name).exists():
            continue  # it was moved before the kill
        if (folder / name).exists():
            (folder / name).rename(old / name)
        (new / name).rename(folder / name)
    for name in todo["dropped"]:
        _delete(folder / name)
    for name in todo["names"]:
        if (old / name).is_dir():
            _give_back(old / name, folder / name)
    shutil.rmtree(old)
    shutil.rmtree(new)


def _give_back(old: Path, folder: Path) -> None:
    """Files in a folder of pictures that are no pictures of ours stay in it."""
    if folder.name.startswith("."):
        return
    for path in old.iterdir():
        if not path.name.endswith((".png", ".png.part", ".exr", ".exr.part")) and not (folder / path.name).exists():
            path.rename(folder / path.name)


def _keep(path: Path, folder: Path, names: Sequence[str]) -> str:
    """See to it that a file that was read is not lost; a sentence on where it is, unless it stays where it was."""
    name = next((n for n in names if path.resolve().is_relative_to((folder / n).resolve())), None)
    if name is None or not path.is_file():
        return ""
    result = folder / NEW / path.resolve().relative_to(folder.resolve())
    if result.suffix == ".png" and result.exists() and np.array_equal(load_mask(path).ids, read_mask(result)):
        shutil.copy2(path, result)
        return ""
    (folder / KEPT).mkdir(exist_ok=True)
    kept = folder / KEPT / path.name
    count = 2
    while kept.exists() and kept.read_bytes() != path.read_bytes():
        kept, count = kept.with_name(f"{path.stem}-{count}{path.suffix}"), count + 1
    shutil.copy2(path, kept)
    return f"{path} was read as a mark, and now holds the result; as it was, it is {kept}."


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
