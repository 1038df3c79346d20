"""What the paper (CVPR 2023, with its supplement) reports, and which runs those rows are. Numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mobilevos.errors import InputError


@dataclass(frozen=True)
class Run:
    """A training run, by a recipe of `recipes/paper` and what is changed in it."""

    recipe: str
    """Its file, without the ending"""
    overrides: tuple[str, ...] = ()
    after: str = ""
    """The run whose weights it begins with"""
    taught: bool = False
    """Whether it has a teacher"""
    once: bool = False
    """Whether all seeds share it: stages that others begin with"""


@dataclass(frozen=True)
class Soup:
    """An average of runs."""

    of: tuple[str, ...]
    greedy: bool


@dataclass(frozen=True)
class Row:
    """A line of a table."""

    label: str
    run: str
    """Of `RUNS`; its weights are scored"""
    paper: Mapping[str, float] = field(default_factory=dict)
    """The paper's figures by column; a figure whose bars are only drawn has none"""
    queue: int | None = 2
    """Frames in memory when it is scored, None without bound"""


@dataclass(frozen=True)
class Experiment:
    """A table or figure."""

    title: str
    columns: tuple[str, ...]
    """What the paper reports"""
    rows: tuple[Row, ...]
    curves: bool = False
    """Whether it shows how the validation goes up during training"""
    speed: bool = False
    """Whether frames a second are measured on random clips, and nothing is trained"""
    pictures: bool = False
    """Whether it shows masks: the rows, one below the other"""
    worst: bool = False
    """Whether it shows where the errors are"""


DAVIS16, DAVIS17 = ("DAVIS16 J&F", "DAVIS16 J", "DAVIS16 F"), ("DAVIS17 J&F", "DAVIS17 J", "DAVIS17 F")
YOUTUBE = ("YouTube J&F", "YouTube J seen", "YouTube F seen", "YouTube J unseen", "YouTube F unseen")
RESNET18 = ("model=resnet18", "backbone=resnet18.imagenet.to-layer3.safetensors")

RUNS: dict[str, Run | Soup] = {
    "static-stcn": Run("static-stcn", once=True),
    "main-stcn": Run("main-stcn", after="static-stcn", once=True),
    **{f"static-{name}": Run(f"static-{name}", once=True) for name in ("resnet18", "mobilenetv2", "mobilenetv2-lite")},
    "bl30k-resnet18": Run("bl30k", RESNET18, "static-resnet18", once=True),
    **{
        f"main-{name}": Run(f"main-{name}", after=f"static-{name}")
        for name in ("resnet18", "mobilenetv2", "mobilenetv2-lite")
    },
    **{
        f"distil-{name}": Run(f"distil-{name}", after=f"static-{name}", taught=True)
        for name in ("resnet18", "mobilenetv2", "mobilenetv2-lite")
    },
    "distil-resnet18-bl30k": Run("distil-resnet18", after="bl30k-resnet18", taught=True),
    "logit-only": Run("distil-resnet18", ("loss.representation=0",), "static-resnet18", taught=True),
    **{
        f"omega-{omega}": Run("distil-resnet18", (f"loss.omega={omega}",), "static-resnet18", taught=True)
        for omega in (0.2, 0.8, 1.0)
    },
    "no-poly": Run("main-mobilenetv2-lite", ("loss.epsilon=0",), "static-mobilenetv2-lite"),
    "random-pixels": Run("distil-mobilenetv2-lite", ("loss.sampling=random",), "static-mobilenetv2-lite", taught=True),
    **{
        name: Run(
            "distil-resnet18",
            ("loss.logit=0", "loss.representation=0", f"loss.{term}=1"),
            "static-resnet18",
            taught=True,
        )
        for name, term in (("hints", "hint"), ("attention", "attention"))
    },
    "soup-greedy": Soup(("distil-resnet18", "omega-0.2", "omega-0.8", "omega-1.0"), greedy=True),
    "soup-uniform": Soup(("distil-resnet18", "omega-0.2", "omega-0.8", "omega-1.0"), greedy=False),
}


def _rows(columns: Sequence[str], *rows: tuple[str, str, Sequence[float]]) -> tuple[Row, ...]:
    """Rows from label, run and figures."""
    return tuple(Row(label, run, dict(zip(columns, values, strict=True))) for label, run, values in rows)


def _compared(columns: tuple[str, ...], figures: Sequence[Sequence[float]]) -> tuple[Row, ...]:
    """The five rows of the paper's own models in tables 1, 2 and 3."""
    rows = (
        ("ResNet18", "distil-resnet18"),
        ("ResNet18, BL30K", "distil-resnet18-bl30k"),
        ("ResNet18, model soup", "soup-greedy"),
        ("MobileNetV2", "distil-mobilenetv2"),
        ("MobileNetV2 wo/ ASPP", "distil-mobilenetv2-lite"),
    )
    return _rows(columns, *((*row, values) for row, values in zip(rows, figures, strict=True)))


SPEED = ("parameters (M)", "FPS short", "FPS long")
BOTH = ("DAVIS16 J&F", "DAVIS17 J&F")
OMEGA = (*BOTH, "YouTube J&F")
TERMS = ("YouTube J&F", "YouTube J", "YouTube F")

EXPERIMENTS: dict[str, Experiment] = {
    "table1": Experiment(
        "DAVIS 2016",
        (*DAVIS16, "DAVIS16 FPS"),
        _compared(
            (*DAVIS16, "DAVIS16 FPS"),
            [
                (90.6, 89.7, 91.6, 100.1),
                (91.4, 90.3, 92.6, 100.1),
                (91.3, 90.2, 92.5, 100.1),
                (90.5, 89.5, 91.5, 81.8),
                (90.1, 89.0, 91.1, 86.0),
            ],
        ),
    ),
    "table2": Experiment(
        "DAVIS 2017",
        (*DAVIS17, "DAVIS17 FPS"),
        _compared(
            (*DAVIS17, "DAVIS17 FPS"),
            [
                (83.7, 80.2, 87.1, 90.6),
                (85.0, 81.7, 88.3, 90.6),
                (85.6, 82.3, 88.9, 90.6),
                (82.2, 78.7, 85.7, 79.1),
                (81.8, 78.3, 85.3, 81.3),
            ],
        ),
    ),
    "table3": Experiment(
        "YouTube-VOS 2019",
        YOUTUBE,
        _compared(
            YOUTUBE,
            [
                (82.3, 81.6, 86.0, 76.3, 85.2),
                (82.8, 82.1, 86.4, 77.0, 85.6),
                (83.3, 83.2, 87.7, 76.9, 85.3),
                (80.3, 80.4, 84.6, 74.0, 82.4),
                (80.1, 79.0, 83.2, 75.1, 83.3),
            ],
        ),
    ),
    "table4": Experiment(
        "Parameters and speed (the paper's on an NVIDIA A40)",
        SPEED,
        _rows(
            SPEED,
            ("STCN", "stcn", (54.4, 37.4, 8.3)),
            ("ResNet18", "resnet18", (8.1, 144.7, 145.4)),
            ("MobileNetV2", "mobilenetv2", (2.5, 99.9, 99.1)),
            ("MobileNetV2 wo/ ASPP", "mobilenetv2-lite", (1.9, 105.1, 103.4)),
        ),
        speed=True,
    ),
    "table5": Experiment(
        "Loss terms, ResNet18",
        TERMS,
        _rows(
            TERMS,
            ("cross-entropy", "main-resnet18", (80.75, 77.68, 83.82)),
            ("cross-entropy, logits", "logit-only", (81.38, 78.13, 84.64)),
            ("cross-entropy, logits, representation", "distil-resnet18", (82.28, 79.96, 85.61)),
        ),
    ),
    "table6": Experiment(
        "From contrastive learning to distillation, ResNet18",
        OMEGA,
        _rows(
            OMEGA,
            ("omega 0.0", "distil-resnet18", (91.0, 83.1, 82.3)),
            ("omega 0.2", "omega-0.2", (90.6, 83.7, 81.3)),
            ("omega 0.8", "omega-0.8", (90.2, 83.4, 81.5)),
            ("omega 1.0", "omega-1.0", (90.9, 84.2, 81.1)),
        ),
    ),
    "table7": Experiment(
        "Poly loss, MobileNetV2 wo/ ASPP",
        BOTH,
        _rows(BOTH, ("with", "main-mobilenetv2-lite", (89.8, 80.1)), ("without", "no-poly", (89.8, 79.9))),
    ),
    "table8": Experiment(
        "Distillation of the MobileNets",
        BOTH,
        _rows(
            BOTH,
            ("wo/ ASPP, without distillation", "main-mobilenetv2-lite", (89.2, 80.5)),
            ("wo/ ASPP, with distillation", "distil-mobilenetv2-lite", (90.1, 81.8)),
            ("w/ ASPP, without distillation", "main-mobilenetv2", (89.6, 81.6)),
            ("w/ ASPP, with distillation", "distil-mobilenetv2", (90.5, 82.2)),
        ),
    ),
    "figure2": Experiment(
        "Errors sit on boundaries", DAVIS17[:1], (Row("MobileNetV2 wo/ ASPP", "distil-mobilenetv2-lite"),), worst=True
    ),
    "figure3": Experiment(
        "Without and with distillation",
        DAVIS17[:1],
        (Row("without", "main-resnet18"), Row("with", "distil-resnet18")),
        pictures=True,
    ),
    "figure4": Experiment(
        "Length of the queue, MobileNetV2 wo/ ASPP",
        DAVIS16[:1],
        tuple(Row(str(queue or "unbounded"), "distil-mobilenetv2-lite", queue=queue) for queue in (1, 2, None)),
    ),
    "figure5": Experiment(
        "Boundary or random pixels",
        DAVIS16[:1],
        (Row("boundary", "distil-mobilenetv2-lite"), Row("random", "random-pixels")),
        curves=True,
    ),
    "figure7": Experiment(
        "Model soups, ResNet18",
        DAVIS17[:1],
        (
            Row("omega 0.0", "distil-resnet18"),
            *(Row(f"omega {omega}", f"omega-{omega}") for omega in (0.2, 0.8, 1.0)),
            Row("uniform soup", "soup-uniform"),
            Row("greedy soup", "soup-greedy"),
        ),
    ),
    "figure9": Experiment(
        "Other distillation methods, ResNet18",
        DAVIS16[:1],
        (Row("ours", "distil-resnet18"), Row("hints (FitNets)", "hints"), Row("attention transfer", "attention")),
        curves=True,
    ),
}


def find_experiment(name: str) -> tuple[str, Experiment]:
    """An experiment by its name; tables by their number too."""
    wanted = f"table{name}" if name.isdecimal() else name
    if wanted not in EXPERIMENTS:
        raise InputError(f"the paper has no {name!r} to reproduce; there are {', '.join(EXPERIMENTS)}")
    return wanted, EXPERIMENTS[wanted]
