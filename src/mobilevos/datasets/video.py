"""A video of a dataset: its pictures and its label maps, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mobilevos.arrays import Ids, Image
from mobilevos.datasets.labels import read_labels
from mobilevos.datasets.pictures import PictureFile, read_image
from mobilevos.errors import InputError

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
LABELS = (".png",)


@dataclass(frozen=True)
class Video:
    """One video. Frames go by their names, the files' names without the ending."""

    name: str
    pictures: Mapping[str, Path]
    """All frames in order; empty where a dataset has come without its pictures."""
    truths: Mapping[str, Path]
    """The annotated frames in order."""

    def picture(self, frame: str) -> Image:
        """The picture of a frame: (H, W, 3) RGB."""
        try:
            return read_image(self.pictures[frame])
        except InputError as error:
            raise InputError(f"{self.name}, frame {frame}: {error}") from error

    def labels(self, frame: str) -> Ids:
        """The label map of a frame: (H, W), void included."""
        try:
            return read_labels(self.truths[frame])
        except InputError as error:
            raise InputError(f"{self.name}, frame {frame}: {error}") from error

    def annotated(self, *, complete: bool) -> list[PictureFile]:
        """The annotated frames with their pictures; complete: whether a frame without an annotation is an error."""
        for frame, mask in self.truths.items():
            if frame not in self.pictures:
                raise InputError(f"{self.name}: the frame of the annotation {mask} is missing")
        if complete:
            for frame, picture in self.pictures.items():
                if frame not in self.truths:
                    raise InputError(f"{self.name}: the annotation of the frame {picture} is missing")
        if not self.truths:
            raise InputError(f"expected annotated frames of {self.name}, found none")
        return [PictureFile(self.pictures[frame], mask) for frame, mask in self.truths.items()]


def list_frames(folder: Path, endings: Sequence[str]) -> dict[str, Path]:
    """The files of a folder with one of these endings, in order, by their names without it; none without the folder."""
    if not folder.is_dir():
        return {}
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in endings}


@dataclass(frozen=True)
class VideoPlace:
    """Where a video lies; nothing of it has been listed yet, because there may be millions of frames."""

    name: str
    images: Path
    """Folder of its pictures."""
    masks: Path
    """Folder of its label maps."""

    def read(self) -> Video:
        """List its frames."""
        return Video(self.name, list_frames(self.images, PICTURES), list_frames(self.masks, LABELS))


def list_places(images: Path, masks: Path) -> list[VideoPlace]:
    """The videos below `images`, each a folder, with label maps below `masks`."""
    for folder in (images, masks):
        if not folder.is_dir():
            raise InputError(f"expected a folder of videos, but {folder} is missing")
    names = sorted(path.name for path in images.iterdir() if path.is_dir())
    if not names:
        raise InputError(f"expected a folder for every video in {images}, found none")
    return [VideoPlace(name, images / name, masks / name) for name in names]
