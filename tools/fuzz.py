"""Coverage-guided fuzzing of what reads files and texts: a result, or an InputError in one line, and nothing else.

pip install atheris
python -m tools.fuzz mask --minutes 10
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mobilevos.errors import InputError

Target = Callable[[bytes], object]


def of_mask(folder: Path) -> tuple[Target, list[bytes]]:
    """Masks that people give, and those of an earlier run."""
    from PIL import Image

    from mobilevos.media.masks import load_mask, read_mask

    path = folder / "mask.png"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        in_one_line(lambda: load_mask(path))
        in_one_line(lambda: read_mask(path))

    ids = np.random.default_rng(0).integers(0, 3, (12, 16), np.uint8)
    seeds = []
    for mode, form in (("L", "PNG"), ("P", "PNG"), ("RGB", "PNG"), ("RGBA", "PNG"), ("1", "PNG"), ("L", "JPEG")):
        file = io.BytesIO()
        Image.fromarray(ids).convert(mode).save(file, form)
        seeds.append(file.getvalue())
    return read, seeds


def of_marks(folder: Path) -> tuple[Target, list[bytes]]:
    """Marks of the command line: one a line, in the order box, click, not-click, gone, mask, and again."""
    from mobilevos.media.video import PICTURE_RATE, VideoInfo
    from mobilevos.pipeline import read_marks
    from mobilevos.pipeline.marks import check_marks

    info = VideoInfo(64, 48, PICTURE_RATE, 1 / PICTURE_RATE, 10)

    def read(data: bytes) -> None:
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        boxes, clicks, off, gone, masks = (lines[i::5] for i in range(5))
        in_one_line(lambda: check_marks(read_marks(boxes=boxes, clicks=clicks, not_clicks=off, gone=gone)[0], info))
        in_one_line(lambda: read_marks(masks=[str(folder / text) for text in masks if text]))

    return read, [
        b"1,2,30,20\n5,6\n7,8\n3=1\nmask.png",
        b"2=1:1,2,30,20\n2=1:5,6\n2=1:7,8\n3=1\n2=mask.png",
        b"0=2:5,5,9,9",
    ]


def of_jobs(folder: Path) -> tuple[Target, list[bytes]]:
    """Tables of a batch."""
    from mobilevos.batch import read_jobs

    path = folder / "jobs.csv"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        in_one_line(lambda: read_jobs(path))

    head = b"source,output,box,format,backward\n"
    return read, [
        head + b'a.mp4,out/a,"1,2,3,4",masks,no\nb.mp4,out/b,,"masks,alpha",\n',
        head,
        b"source,output\na.mp4,b",
    ]


def of_recipe(folder: Path) -> tuple[Target, list[bytes]]:
    """Recipes of training runs."""
    from mobilevos.training.recipe import load_recipe

    path = folder / "recipe.yaml"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        in_one_line(lambda: load_recipe(path))

    shipped = Path(__file__).parents[1] / "recipes"
    return read, [file.read_bytes() for file in sorted(shipped.rglob("*.yaml"))[:12]]


def of_checkpoint(folder: Path) -> tuple[Target, list[bytes]]:
    """Weights in safetensors."""
    import torch
    from safetensors.torch import save

    from mobilevos.model.checkpoint import load_checkpoint

    path = folder / "weights.safetensors"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        in_one_line(lambda: load_checkpoint(path))

    few = {"key_projection.weight": torch.zeros(2, 3), "other": torch.ones(4, dtype=torch.float16)}
    described = [{}, {"model": "mobilenetv2-lite"}, {"model": "mobilenetv2", "config": '{"aspp": true}', "format": "1"}]
    return read, [save(few, metadata) for metadata in described]


TARGETS = {"mask": of_mask, "marks": of_marks, "jobs": of_jobs, "recipe": of_recipe, "checkpoint": of_checkpoint}


def in_one_line(act: Callable[[], object]) -> None:
    """Any error but an InputError of one line comes through."""
    try:
        act()
    except InputError as error:
        text = str(error)
        if not text or "\n" in text or "<_io" in text or "site-packages" in text:
            raise AssertionError(f"expected one clear line, got {text!r}") from error


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(argv)
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus"
        with atheris.instrument_imports(include=["mobilevos", "PIL", "yaml", "safetensors", "csv"]):
            target, seeds = TARGETS[chosen.target](folder)
        corpus.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / str(number)).write_bytes(seed)
        options = [
            f"-max_total_time={round(60 * chosen.minutes)}",
            f"-seed={chosen.seed}",
            "-max_len=16384",
            "-timeout=60",
            # The fuzzer itself grows by 1 GB in 40,000 runs of `mask` (the same inputs without it: not at all); what is
            # looked for is one input that takes much at once.
            "-rss_limit_mb=8192",
            "-malloc_limit_mb=1024",
        ]
        atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
