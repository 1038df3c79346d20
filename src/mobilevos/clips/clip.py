"""The values that travel from files to the trainer: clips, batches, and how clips are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mobilevos.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Clip:
    """A short training video of T frames."""

    frames: np.ndarray
    """(T, H, W, 3) uint8 RGB."""
    masks: np.ndarray
    """(T, H, W) uint8: 0 background, 1..N objects, 255 void."""
    name: str
    """Where it came from, for pictures and messages."""
    far: bool = False
    """Whether frame 0 is of another moment than the others, which follow each other: see `ClipConfig.far`."""


@dataclass(frozen=True)
class Batch:
    """B clips of T frames, S x S pixels, with the same number of object channels."""

    frames: Tensor
    """(B, T, 3, S, S) uint8 RGB."""
    masks: Tensor
    """(B, T, S, S) uint8: 0 background, 1..objects, 255 void."""
    prompts: Tensor
    """(B, 2, objects, S, S) uint8 0/1: a rough positive and negative prompt of frame 0 for every object."""
    objects: int
    """Object channels of this batch; some samples may lack some of the objects."""
    index: int
    """Position in the stream."""
    far: Tensor | None = None
    """(B,) bool, see `Clip.far`; None where no clip is."""

    def to(self, device: torch.device) -> Batch:
        """The same batch on a device."""
        return replace(
            self,
            frames=self.frames.to(device),
            masks=self.masks.to(device),
            prompts=self.prompts.to(device),
            far=None if self.far is None else self.far.to(device),
        )


@dataclass(frozen=True)
class ClipConfig:
    """How training clips are drawn. Lengths are fractions of the clip's side, probabilities are per clip."""

    size: int = 192
    """Side of the square clips in pixels."""
    frames: int = 3
    """Frames in a clip."""
    max_skip: int = 5
    """Real clips: successive frames are 1 to this many frames apart."""
    max_objects: int = 2
    """A multi-object batch holds 2 to this many objects."""
    min_pixels: int = 80
    """An object has at least this many pixels in frame 0."""
    max_fill: float = 0.85
    """The objects fill at most this part of frame 0."""

    window: float = 0.0
    """Probability that objects are shown as the tracker's window shows them: at one size, followed (`clips.window`)."""
    whole: float = 0.0
    """Photos: probability that one whose objects the border cuts off is left aside: in use objects are whole."""
    crop_min: float = 0.5
    """Smallest crop, as a part of the picture's short side."""
    crop_max: float = 1.0
    """Largest crop, as a part of the picture's short side."""
    crop_aspect: float = 0.25
    """Crops are stretched by up to this much (log ratio of the sides)."""
    crop_rotation: float = 8.0
    """Crops are rotated by up to this many degrees."""
    flip: float = 0.5
    """Probability of a horizontal flip."""
    reverse: float = 0.5
    """Real clips: probability of running backwards."""
    drift: float = 0.15
    """Real clips: strength of the added camera motion, relative to that of synthetic clips."""
    far: float = 0.0
    """Real clips: probability that frame 0 is of any other moment of the video, as it is in use after a while."""
    foreign: float = 0.0
    """Real clips: probability that the object is not filmed, but a cut-out that moves over the footage."""
    transplant: float = 0.0
    """Real clips: probability that the objects move, as filmed, in another place: another clip or a photo."""

    move: float = 0.08
    """Synthetic motion: typical shift per frame."""
    rotate: float = 8.0
    """Synthetic motion: typical rotation per frame in degrees."""
    zoom: float = 0.07
    """Synthetic motion: typical change of scale per frame (natural logarithm)."""
    shear: float = 0.05
    """Synthetic motion: typical shear per frame."""
    jump: float = 0.2
    """Probability that one step of a synthetic motion is several times larger than the others."""
    elastic: float = 0.6
    """Probability of a smooth non-rigid deformation of the photo or the object."""
    elastic_strength: float = 0.02
    """Typical displacement of the non-rigid deformation per frame."""

    independent: float = 0.5
    """Photos: probability that the object moves apart from its background."""
    other_background: float = 0.4
    """Photos: probability that an object that moves apart does so over another photo."""
    shrink: float = 0.5
    """Photos: probability that an object that moves apart is drawn smaller than it was, down to a third."""
    leave: float = 0.12
    """Probability that an object that moves apart is out of the picture for some frames."""
    distractor: float = 0.3
    """Probability of an unlabelled cut-out as a hard negative."""
    look_alike: float = 0.3
    """Probability that the distractor is a copy of the object itself."""
    occluder: float = 0.25
    """Probability that something moves across the object and hides it."""

    jitter: float = 0.85
    """Probability of changed colours, the same for the whole clip."""
    brightness: float = 0.25
    """Colours: largest relative change of brightness."""
    contrast: float = 0.25
    """Colours: largest relative change of contrast."""
    saturation: float = 0.35
    """Colours: largest relative change of saturation."""
    hue: float = 20.0
    """Colours: largest rotation of the hue in degrees."""
    gamma: float = 0.25
    """Colours: largest gamma (natural logarithm)."""
    gray: float = 0.05
    """Probability of a grayscale clip."""
    flicker: float = 0.04
    """Colours: largest change of brightness and contrast from frame to frame."""
    motion_blur: float = 0.2
    """Probability of blur along the motion."""
    defocus: float = 0.1
    """Probability that frames are out of focus."""
    compression: float = 0.2
    """Probability of JPEG artefacts."""
    noise: float = 0.15
    """Probability of sensor noise."""

    def __post_init__(self) -> None:
        if self.size < 32 or min(self.frames, self.max_skip, self.max_objects) < 1:
            raise InputError(
                "expected size >= 32 and frames, max_skip and max_objects >= 1, "
                f"got {self.size}, {self.frames}, {self.max_skip} and {self.max_objects}"
            )
        if not 0 < self.crop_min <= self.crop_max <= 1:
            raise InputError(f"expected 0 < crop_min <= crop_max <= 1, got {self.crop_min} and {self.crop_max}")


class ClipSource(Protocol):
    """Anything that training clips can be drawn from."""

    def sample(self, rng: np.random.Generator, config: ClipConfig, objects: int) -> Clip:
        """Draw a clip with ids 1..n, n <= objects, object 1 present in frame 0."""
        ...
