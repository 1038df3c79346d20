"""Files that are there whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mobilevos.errors import InputError


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; a text that cannot be a name, too long or with a null character, names none."""
    return os.path.isfile(path)  # where that of Path raises


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside `path` to write to; move it to `path` on success, delete it on failure.

    The temporary name ends in `.part`, so no pattern such as `*.png` finds it, and it is always the same one, so
    what a killed process left behind is overwritten by the next.
    """
    target = Path(path)
    part = target.with_name(target.name + ".part")
    try:
        yield part
        os.replace(part, target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def replace_folder(source: Path, target: Path) -> None:
    """Put a copy of a folder in the place of `target`; what was there stays until the copy is complete."""
    part = target.with_name(target.name + ".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(source, part)
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(part, target)
    except OSError as error:  # those of a copy come as a list, each with its file
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
