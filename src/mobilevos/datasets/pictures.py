"""Pictures with label maps: reading the files, and a cache of them in decoded form.

Decoding costs more than everything a training clip needs afterwards, so it is done once. A cache is a folder with two
flat files that workers map into memory, named after a digest of the files it was made from: any file that is added,
removed or changed makes another cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from mobilevos.datasets.labels import read_labels
from mobilevos.errors import InputError

CACHE = Path("runs/cache")
"""Where decoded pictures are kept unless another place is given; it can be deleted at any time."""

_FORMAT = 1  # of the cache


@dataclass(frozen=True)
class PictureFile:
    """A picture and its label map on disk."""

    image: Path
    mask: Path


def read_image(path: Path) -> np.ndarray:
    """Read a picture as (H, W, 3) uint8 RGB."""
    data = np.frombuffer(_read_bytes(path), np.uint8)
    # The orientation flag is ignored, because masks are drawn on the stored pixels.
    image = cv2.imdecode(data, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION) if data.size else None
    if image is None:
        raise InputError(f"expected a picture, but {path} cannot be decoded")
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"the picture {path} is missing") from None
    except OSError as error:
        raise InputError(f"the picture {path} cannot be read ({error.strerror})") from None


class Pictures:
    """A list of pictures with label maps; `pictures[i]` is ((H, W, 3) RGB, (H, W) labels), both uint8."""

    def __init__(self, files: Sequence[PictureFile], short_side: int | None = None) -> None:
        """List the files; pictures whose short side is longer than `short_side` are made smaller."""
        self.files = list(files)
        self.short_side = short_side

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        file = self.files[index]
        image, labels = read_image(file.image), read_labels(file.mask)
        if image.shape[:2] != labels.shape:
            raise InputError(
                f"expected a mask of {image.shape[1]}x{image.shape[0]} pixels like its picture, "
                f"but {file.mask} has {labels.shape[1]}x{labels.shape[0]}"
            )
        height, width = labels.shape
        if self.short_side and min(height, width) > self.short_side:
            scale = self.short_side / min(height, width)
            size = (round(width * scale), round(height * scale))
            image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
            labels = np.asarray(cv2.resize(labels, size, interpolation=cv2.INTER_NEAREST), np.uint8)
        return image, labels


class CachedPictures(Pictures):
    """The same pictures, decoded once into flat files below a cache folder and mapped into memory from then on."""

    def __init__(self, files: Sequence[PictureFile], cache: Path, short_side: int | None = None) -> None:
        super().__init__(files, short_side)
        self.folder = Path(cache) / self._digest()
        if not self.folder.is_dir():
            self._build()

    def _digest(self) -> str:
        """Digest of the format and of every file's path, size and time of change."""
        digest = hashlib.sha256(f"{_FORMAT} {self.short_side}".encode())
        for file in self.files:
            for path in (file.image, file.mask):
                try:
                    status = path.stat()
                except OSError:
                    raise InputError(f"the file {path} is missing") from None
                digest.update(f"{os.path.abspath(path)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        return digest.hexdigest()[:24]

    def _build(self) -> None:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=self.folder.parent))
        try:
            index = np.zeros((len(self.files), 3), np.int64)
            pixels = 0
            with open(building / "images", "wb") as images, open(building / "labels", "wb") as labels:
                for i in range(len(self.files)):
                    image, label = Pictures.__getitem__(self, i)
                    images.write(np.ascontiguousarray(image).data)
                    labels.write(np.ascontiguousarray(label).data)
                    index[i] = pixels, *label.shape
                    pixels += label.size
            np.save(building / "index.npy", index)
            building.chmod(0o755)
            try:
                os.rename(building, self.folder)
            except OSError:
                # Another process was faster; its cache is the same as ours.
                if not self.folder.is_dir():
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        index = np.load(self.folder / "index.npy")
        images, labels = (np.memmap(self.folder / name, np.uint8, "r") for name in ("images", "labels"))
        return index, np.asarray(images), np.asarray(labels)

    def __getstate__(self) -> dict[str, object]:
        # Worker processes map the files themselves: pickling a memory map would copy all of it.
        return {key: value for key, value in self.__dict__.items() if key != "_arrays"}

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        table, images, labels = self._arrays
        offset, height, width = table[index].tolist()
        end = offset + height * width
        return images[3 * offset : 3 * end].reshape(height, width, 3), labels[offset:end].reshape(height, width)


def open_pictures(files: Sequence[PictureFile], cache: Path | None, short_side: int | None = None) -> Pictures:
    """Pictures decoded once below `cache`, or each time they are used where it is None."""
    return Pictures(files, short_side) if cache is None else CachedPictures(files, cache, short_side)
