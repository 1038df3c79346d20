"""Rendering many clips into a folder in BL30K's layout: seeded, in several processes, and resumable."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from mobilevos.arrays import Ids, Image
from mobilevos.errors import InputError
from mobilevos.files import replacing
from mobilevos.media.masks import write_mask
from mobilevos.progress import Progress, no_progress
from mobilevos.render.backgrounds import Background, list_backgrounds, show
from mobilevos.render.meshes import list_meshes
from mobilevos.render.rasterise import Rasteriser
from mobilevos.render.scene import Scene, draw_scene
from mobilevos.threads import cores

SETTINGS = "render.json"


@dataclass(frozen=True)
class RenderConfig:
    """What the clips of one folder have in common."""

    frames: int = 60
    height: int = 480
    width: int = 854
    fewest: int = 1
    """Things in a clip: at least."""
    most: int = 4
    blurred: float = 0.3
    """Share of the clips with motion blur."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.frames < 1 or min(self.height, self.width) < 16:
            raise InputError(f"expected a frame or more of 16 pixels or more, got {self}")
        if not 1 <= self.fewest <= self.most <= 20:
            raise InputError(f"expected 1 to 20 objects, the fewest first, got {self.fewest} to {self.most}")


def render(
    meshes: Path,
    backgrounds: Path,
    output: Path,
    clips: int,
    config: RenderConfig | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> int:
    """Render the clips that are not there yet; gives their number.

    Clip i follows from the seed, i, and the files below `meshes` and `backgrounds`. It is there whole or not at all, so
    that the same call goes on where another ended.
    """
    config = config or RenderConfig()
    work = Work(tuple(list_meshes(meshes)), tuple(list_backgrounds(backgrounds)), output, config)
    check_settings(output, config)
    missing = [i for i in range(clips) if not work.masks(i).is_dir()]
    jobs = min(jobs or cores(), max(1, len(missing)))
    output.mkdir(parents=True, exist_ok=True)
    with replacing(output / SETTINGS) as part:
        part.write_text(json.dumps(asdict(config)) + "\n", encoding="utf-8")
    with progress("rendering", len(missing) * config.frames) as tell:
        if jobs == 1:
            for done, _ in enumerate(_render_all(work, missing), 1):
                tell(done * config.frames)
        else:
            with multiprocessing.get_context("spawn").Pool(jobs, _begin, (work,)) as pool:
                for done, _ in enumerate(pool.imap_unordered(_render_here, missing), 1):
                    tell(done * config.frames)
    return len(missing)


def check_settings(output: Path, config: RenderConfig) -> None:
    """Raise an InputError where a folder holds clips that were rendered otherwise, or something else."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    try:
        there = json.loads((output / SETTINGS).read_text(encoding="utf-8"))
        different = [f"{key} {there[key]}, not {value}" for key, value in asdict(config).items() if there[key] != value]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"the folder {output} is not empty, and holds no clips that this command began") from None
    if different:
        raise InputError(f"the clips in {output} have {', '.join(different)}: choose another folder")


@dataclass(frozen=True)
class Work:
    """All that a process needs to render any clip of a folder."""

    meshes: tuple[Path, ...]
    backgrounds: tuple[Background, ...]
    output: Path
    config: RenderConfig

    def pictures(self, index: int) -> Path:
        """Where a clip's frames are."""
        return self.output / "JPEGImages" / f"{index:06d}"

    def masks(self, index: int) -> Path:
        """Where a clip's masks are; the last thing to be put in place."""
        return self.output / "Annotations" / f"{index:06d}"

    def render(self, index: int, rasteriser: Rasteriser) -> None:
        """Render a clip into place."""
        building = self.output / f".building-{index:06d}"
        shutil.rmtree(building, ignore_errors=True)
        shutil.rmtree(self.pictures(index), ignore_errors=True)
        places = {name: building / name for name in ("pictures", "masks")}
        for place in places.values():
            place.mkdir(parents=True)
        rng = np.random.default_rng((self.config.seed, index))
        quality = int(rng.integers(85, 96))
        for i, (picture, ids) in enumerate(self.shots(rng, rasteriser)):
            encoded = cv2.imencode(
                ".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality]
            )[1]
            (places["pictures"] / f"{i:05d}.jpg").write_bytes(encoded.tobytes())
            write_mask(places["masks"] / f"{i:05d}.png", ids)
        for place, target in ((places["pictures"], self.pictures(index)), (places["masks"], self.masks(index))):
            target.parent.mkdir(exist_ok=True)
            os.replace(place, target)
        building.rmdir()

    def shots(self, rng: np.random.Generator, rasteriser: Rasteriser) -> Iterator[tuple[Image, Ids]]:
        """The frames of a clip with their masks."""
        config = self.config
        things = (config.fewest, config.most)
        scene = draw_scene(rng, list(self.meshes), config.frames, config.width / config.height, things, config.blurred)
        background = self.backgrounds[int(rng.integers(len(self.backgrounds)))]
        # films have a grain, and what is put before them must have it too
        grain, soft = float(rng.uniform(0, 5)), float(rng.uniform(0, 0.9))
        for i, behind in enumerate(background.frames(config.frames, rng)):
            view = show(behind, scene.camera[i], config.height, config.width)
            seen, ids = self._composed(scene, i, view, rasteriser, soft)
            noise = rng.normal(size=(config.height // 2, config.width // 2, 3)).astype(np.float32) * grain
            seen += cv2.resize(noise, (config.width, config.height), interpolation=cv2.INTER_LINEAR)
            yield np.clip(np.rint(seen), 0, 255).astype(np.uint8), ids

    @staticmethod
    def _composed(scene: Scene, frame: int, view: Image, rasteriser: Rasteriser, soft: float) -> tuple[np.ndarray, Ids]:
        moments = range(frame * scene.blur, (frame + 1) * scene.blur)
        drawn = [rasteriser.draw(scene.actors, moment, scene.light) for moment in moments]
        colour = sum(one.colour for one in drawn) / np.float32(len(drawn))
        if soft > 0.3:
            colour = cv2.GaussianBlur(colour, (0, 0), soft)
        seen = colour[..., :3] + view * (1 - colour[..., 3:] / np.float32(255))
        return np.asarray(seen, np.float32), drawn[len(drawn) // 2].ids


_state: dict[str, partial[None]] = {}


def _begin(work: Work) -> None:
    """Of a process of several: one thread each, so that they do not wait for each other."""
    os.environ.setdefault("LP_NUM_THREADS", "0")
    cv2.setNumThreads(1)
    rasteriser = Rasteriser(work.config.height, work.config.width)
    _state["render"] = partial(work.render, rasteriser=rasteriser)


def _render_here(index: int) -> None:
    _state["render"](index)


def _render_all(work: Work, indices: list[int]) -> Iterator[None]:
    if not indices:
        return
    rasteriser = Rasteriser(work.config.height, work.config.width)
    try:
        for index in indices:
            work.render(index, rasteriser)
            yield
    finally:
        rasteriser.close()
