"""How blocks are run in a test: what is made small, and what cannot run at all, with the reason.

The only place for both. A listed command is still checked: its options exist, its recipe loads, its extra or target is
there.
"""

from __future__ import annotations

TINY_TRAINING = (
    "iterations=2",
    "minutes=0",
    "workers=0",
    "precision=float32",
    "optimizer.warmup=1",
    "validation.size=64",
    "phases=[{batch_size: 2, clip: {size: 64, frames: 3, min_pixels: 20}}]",
)

SMALL: dict[str, tuple[str, ...]] = {
    r"mobilevos train recipes/cpu/": (*TINY_TRAINING, "validation.root=''"),
    r"(mobilevos|torchrun .*) train ": TINY_TRAINING,
    r"mobilevos demo ": ("--frames", "3", "--size", "96"),
    r"mobilevos (segment|remove .*--(box|mask)) ": ("--size", "96"),
    r"mobilevos export .* --to onnx,tflite": ("--to", "tflite"),  # ONNX takes half a minute: once, in deploying.md
    r"mobilevos evaluate ": ("--processes", "1"),
    r"mobilevos benchmark queue": ("--longest", "1"),
}
"""Arguments that are added to commands that begin so."""

LISTED: dict[str, str] = {
    r"make \w+": "sets up an environment of its own; `make test` runs this very test",
    r"pip install ": "changes the environment the tests run in",
    r"npm --prefix web ": "changes the packages the tests run with, or is run by `make lint` and tests/web",
    r"\.venv/bin/python -m pytest ": "the tests themselves",
    r"mobilevos app$": "serves until it is stopped; tests/cli/test_app.py stops it",
    r"mobilevos label-studio ": "serves until it is stopped; tests/integrations asks it",
    r"tensorboard ": "serves until it is stopped",
    r"mobilevos segment camera:": "needs a camera",
    r"mobilevos batch .* --ray ": "needs a Ray cluster; tests/batch starts one where Ray is installed",
    r"cvat-cli ": "needs a CVAT server; tests/integrations/test_cvat.py runs the agent's own code",
    r"mobilevos export .* --to (executorch|coreml)": "needs packages of their own; tests/export has both",
    r"hf upload ": "needs an account on the Hub",
    r"python backbones\.py": "downloads torchvision's weights",
    r".* train recipes/paper/": "needs YouTube-VOS and days on several GPUs",
    r"mobilevos .* runs/(distil|main|omega)-": "needs the weights of the paper's full runs",
    r"mobilevos reproduce ": "trains and scores for hours at least; tests/reproduce runs it small",
    r"mobilevos render ": "needs OpenGL; tests/render renders where it can be had",
    r"mobilevos import-stcn ": "needs the authors' file; tests/model/test_import_stcn.py makes one like it",
    r"mobilevos benchmark (long|soak)": "takes minutes; tests/benchmark/test_soak.py runs both small",
    r"mobilevos benchmark runtimes": "times dozens of clips at 480p; tests/benchmark runs it small",
}
"""Commands that are not run, by how they begin, and why."""

NOT_RUN_LANGUAGES = {
    "text": "what a program prints, or a diagram",
    "kotlin": "needs Android; names, sizes and brackets are checked, and test_android.py compiles it where it can",
    "ts": "needs a browser; names are checked, types where the compiler is installed",
}

MADE_BY_THE_PAGE = {"docs/training.md": ("my-data",)}
"""What a page makes itself and is therefore not prepared."""
