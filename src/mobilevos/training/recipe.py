"""A recipe: everything that defines a training stage, as plain values from a YAML file."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mobilevos.clips.clip import ClipConfig
from mobilevos.errors import InputError
from mobilevos.weights import WORKING_SIZE, find_checkpoint


@dataclass(frozen=True)
class DataSource:
    """Where training clips come from."""

    kind: Literal["photos", "davis", "youtube", "bl30k"]
    """Layout of the folder."""
    root: str
    """Folder, relative to the recipe's `data_root`."""
    weight: float = 1.0
    """How often it is drawn from, relative to the others."""
    exclude: tuple[str, ...] = ()
    """Videos that are left out."""
    split: str = ""
    """DAVIS: the videos listed in `ImageSets/<split>.txt`, e.g. 2017/train; none means all."""
    short_side: int = 0
    """Larger pictures are made smaller, to so many pixels on their short side; 0 leaves them as they are."""
    paste: bool = True
    """Videos: whether objects of other pictures are added where a clip has fewer than its batch."""


@dataclass(frozen=True)
class Phase:
    """A stretch of the training with its own clips: longer, larger, faster."""

    until: float = 1.0
    """Where it ends, as a part of the whole training."""
    batch_size: int = 8
    """Clips an iteration, over all processes."""
    multi_object: float = 0.3
    """Part of the batches with several objects."""
    clip: ClipConfig = field(default_factory=ClipConfig)
    """How clips are drawn."""
    prefix: int = 0
    """Frames after the first that are followed without gradient or loss, so that the rest begins with real drift."""

    def __post_init__(self) -> None:
        if not 0 <= self.prefix < max(1, self.clip.frames - 1):
            raise InputError(f"expected prefix below clip.frames - 1 = {self.clip.frames - 1}, got {self.prefix}")


@dataclass(frozen=True)
class Loss:
    """Weights of the terms; a term with weight 0 is not computed."""

    cross_entropy: float = 1.0
    """Bootstrapped poly cross-entropy."""
    epsilon: float = 1.0
    """Of the poly cross-entropy; 0 is the plain one."""
    keep: float = 0.15
    """Part of the pixels, the hardest ones, that the bootstrapping ends with."""
    keep_from: float = 0.1
    """Part of the training after which bootstrapping sets in."""
    keep_to: float = 0.35
    """Part of the training after which only `keep` is left."""
    dice: float = 0.0
    """Soft dice."""
    logit: float = 0.0
    """Distillation of logits on boundary pixels."""
    temperature: float = 0.1
    """Of the distillation of logits."""
    logit_direction: Literal["teacher", "student"] = "teacher"
    """KL(teacher || student), or KL(student || teacher), which is the paper's."""
    logit_over: Literal["selected", "all"] = "selected"
    """Whether the distillation of logits is divided by its pixels, or by all of the picture, which is the paper's."""
    representation: float = 0.0
    """Distillation and contrast of representations."""
    omega: float = 0.95
    """From contrastive learning (0) to distillation (1)."""
    sampling: Literal["boundary", "random"] = "boundary"
    """Which pixels the distillation terms look at."""
    boundary_width: int = 2
    """How far around a boundary, in pixels of stride 4."""
    samples: int = 256
    """Pixels an object and frame for the representation."""
    hint: float = 0.0
    """FitNets hints, a baseline."""
    attention: float = 0.0
    """Attention transfer, a baseline."""
    rating: float = 0.0
    """How well the network judges its own masks; its gradient ends at the head that does."""
    prompt: float = 0.0
    """From a rough prompt to the mask, on the first frame."""
    prompt_part: float = 0.25
    """Part of the iterations that look at prompts."""


@dataclass(frozen=True)
class Optimizer:
    """How weights are changed."""

    kind: Literal["adam", "adamw"] = "adamw"
    """Adam with L2 regularisation, or with decoupled weight decay."""
    learning_rate: float = 4e-4
    """At its highest."""
    backbone_scale: float = 0.3
    """The key encoder's learning rate, relative to the others'."""
    weight_decay: float = 1e-4
    """Of all weights."""
    schedule: Literal["constant", "cosine", "step"] = "cosine"
    """How the learning rate falls."""
    step_at: float = 0.8
    """Part of the training at which the step schedule divides the rate by ten."""
    final: float = 0.02
    """Of the cosine schedule, relative to the highest."""
    warmup: int = 200
    """Iterations from zero to the highest rate."""
    clip_norm: float = 3.0
    """Gradients are scaled down to this norm, 0 leaves them; the log says how large they are, how many are scaled."""
    ema: float = 0.999
    """Decay of the averaged weights, which are the ones that are validated and saved; 0 averages nothing."""
    freeze: int = 0
    """Leading layers of the key encoder that are not trained."""
    only: str = ""
    """The one part of the network that is trained, e.g. rating; none means all."""


@dataclass(frozen=True)
class Teacher:
    """Whom the student learns from."""

    checkpoint: str = ""
    """Its file; none means no teacher."""
    forcing: bool = True
    """Its memory holds the ground truth of every earlier frame."""


@dataclass(frozen=True)
class Validation:
    """Real clips that are tracked from time to time."""

    root: str = ""
    """A DAVIS folder, relative to `data_root`; none means no validation."""
    clips: tuple[str, ...] = ()
    """Their names."""
    minutes: float = 20.0
    """Time between two validations."""
    size: int = WORKING_SIZE
    """Working size of the tracker."""
    backwards: bool = False
    """Whether clips are also tracked from their last mask: twice the time; the best weights are chosen on both."""


@dataclass(frozen=True)
class Recipe:
    """One training stage."""

    name: str
    """Of the folder with its results."""
    model: str
    """The variant that is trained."""
    sources: tuple[DataSource, ...]
    """Where clips come from."""
    data_root: str = "data"
    """Folder of the datasets."""
    weights_root: str = "weights"
    """Folder of backbone weights."""
    backbone: str = ""
    """ImageNet weights of the key encoder, in `weights_root`."""
    value_backbone: str = ""
    """ImageNet weights of the value encoder, in `weights_root`."""
    init: str = ""
    """A checkpoint to start from instead, or a shipped model's name."""
    locality: bool = True
    """Whether the position in the previous frame counts in a student's memory read; False is the paper's."""
    queue: int | tuple[int, ...] | None = 2
    """Frames in the memory during training, null for all; of a list one is drawn an iteration, the first validates."""
    spoil: float = 0.0
    """Part of the clips in which one or two remembered masks are replaced by bad ones."""
    bypass: float = 0.0
    """Part of the clips that go around a student's ASPP: one run then trains `mobilenetv2` and `mobilenetv2-lite`."""
    phases: tuple[Phase, ...] = (Phase(),)
    """Stretches of the training, one after the other."""
    loss: Loss = field(default_factory=Loss)
    optimizer: Optimizer = field(default_factory=Optimizer)
    teacher: Teacher = field(default_factory=Teacher)
    validation: Validation = field(default_factory=Validation)
    iterations: int = 10_000
    """How long, in iterations."""
    minutes: float = 0.0
    """How long at most, in minutes, counted over all starts; 0 means no limit."""
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    """Of the forward pass; float16 needs a GPU. Processors without bfloat16 take float32 in its place, and say so."""
    seed: int | None = None
    """Of all random choices; null derives one from the names of this run and of those that made `init`."""
    workers: int = 1
    """Processes that draw clips."""
    checkpoint_minutes: float = 1.0
    """Time between two checkpoints."""

    def __post_init__(self) -> None:
        if not self.phases:
            raise InputError("expected at least one phase in the recipe, got none")
        if self.iterations < 1:
            raise InputError(f"expected at least 1 for iterations, got {self.iterations}")
        if self.queue is not None and min((self.queue,) if isinstance(self.queue, int) else self.queue, default=0) < 1:
            raise InputError(f"expected at least 1 for queue, or null for all frames, got {self.queue}")

    @property
    def validation_queue(self) -> int | None:
        """Frames in the memory during validation."""
        return self.queue[0] if isinstance(self.queue, tuple) else self.queue


def load_recipe(path: Path | str, overrides: Sequence[str] = ()) -> Recipe:
    """A recipe from YAML, with `key=value` overrides; dots reach into sections (`optimizer.learning_rate=1e-4`)."""
    import yaml

    content = _read_yaml(Path(path))
    content.setdefault("name", Path(path).stem)
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise InputError(f"expected key=value, got {override!r}")
        section = content
        *parents, last = key.split(".")
        for parent in parents:
            section = section.setdefault(parent, {})
            if not isinstance(section, dict):
                raise InputError(f"{key!r} does not lead to a single value of the recipe")
        try:
            section[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"{override!r} is not valid YAML: {' '.join(str(error).split())}") from error
    return parse(Recipe, content, "")


def recipe_text(model: str | Path) -> str:
    """The recipe that is in the metadata of a shipped model's or a file's weights, as YAML."""
    import yaml

    from mobilevos.model.checkpoint import read_checkpoint

    recipe = json.loads(read_checkpoint(find_checkpoint(model))[0].get("recipe", "{}"))
    if not recipe:
        raise InputError(f"the weights of {str(model)!r} do not say which recipe made them")
    text: str = yaml.safe_dump(recipe, sort_keys=False, width=120)
    return text


def _read_yaml(path: Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A YAML file; what its `base` (another file beside it) says counts where the file itself is silent.

    above: the files it is the base of.
    """
    import yaml

    if path.resolve() in above:
        raise InputError(f"the recipe {str(path)!r} is its own base")
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the recipe {str(path)!r}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InputError(f"expected keys and values in the recipe {str(path)!r}")
    base = content.pop("base", None)
    if base is None:
        return content
    if not isinstance(base, str) or not base:
        raise InputError(f"expected the name of a file for base in the recipe {str(path)!r}, got {base!r}")
    return _merged(_read_yaml(path.parent / base, (*above, path.resolve())), content)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def parse(kind: Any, value: Any, where: str) -> Any:
    """Plain YAML values as the dataclass, tuple or number that is wanted; unknown keys are errors."""
    label = where or "the recipe"
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise InputError(f"expected keys and values for {label}, got {value!r}")
        hints = typing.get_type_hints(kind)
        for key in value:
            if key not in hints:
                raise InputError(f"{label} has no key {key!r}; it has {', '.join(hints)}")
        parsed = {key: parse(hints[key], item, f"{where}.{key}" if where else key) for key, item in value.items()}
        try:
            return kind(**parsed)  # type: ignore[operator]
        except TypeError as error:
            raise InputError(f"{label}: {str(error).partition('() ')[2] or error}") from error
    if origin is tuple:
        if not isinstance(value, list):
            raise InputError(f"expected a list for {label}, got {value!r}")
        return tuple(parse(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if origin is Literal:
        if value not in arguments:
            raise InputError(f"expected one of {', '.join(map(str, arguments))} for {label}, got {value!r}")
        return value
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        # a list for what may be one value or several
        order = sorted(arguments, key=lambda a: (typing.get_origin(a) is tuple) != isinstance(value, list))
        return parse(next(a for a in order if a is not type(None)), value, where)
    if kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)  # YAML reads 1e-4 as text
        except ValueError:
            pass
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InputError(f"expected {kind.__name__} for {label}, got {value!r}")
    return value
