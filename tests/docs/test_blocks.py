"""Every block of the documentation runs, in the order of its page, or is listed with a reason in `listed.py`."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mobilevos import Tracker
from mobilevos.media.masks import read_mask
from mobilevos.media.pictures import read_picture
from mobilevos.media.sinks import FORMATS
from mobilevos.training.recipe import load_recipe
from mobilevos.weights import WORKING_SIZE
from tests.docs.foreign import check_kotlin, check_typescript
from tests.docs.listed import LISTED, MADE_BY_THE_PAGE, NOT_RUN_LANGUAGES, SMALL
from tests.docs.material import make_material
from tests.docs.pages import PAGES, ROOT, Block, read_blocks
from tests.docs.runner import check_listed, reason_not_to_run, run_python, run_shell

WITH_BLOCKS = [page for page in PAGES if read_blocks(page)]
SLOW = dict.fromkeys(
    ("docs/cutting-out.md", "docs/deploying.md", "docs/reproducing.md", "docs/training.md"), pytest.mark.slow
)
APART = {"README.md": "mobilevos segment"}
"""Where a command runs as the console script in a process of its own, as people run it."""
NEEDS = {"follow_litert.py": "ai_edge_litert", "to_int8.py": "onnx", "follow_openvino.py": "openvino"}
"""Scripts that need a package from outside the extras of the tests."""


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("material")
    make_material(folder)
    return folder


@pytest.fixture
def scratch(material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of somebody who follows the documentation in a checkout."""
    # OpenVINO's compiling takes longer than these clips; it has tests of its own.
    monkeypatch.setattr("mobilevos.runtime.FASTEST_FIRST", ("onnx", "openvino", "torch"))
    folder = tmp_path / "scratch"
    shutil.copytree(material, folder)
    (folder / "recipes").symlink_to(ROOT / "recipes")
    return folder


@pytest.mark.parametrize("page", [pytest.param(page, marks=SLOW.get(page, ())) for page in WITH_BLOCKS])
def test_the_blocks_of(page: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MADE_BY_THE_PAGE.get(page, ()):
        shutil.rmtree(scratch / name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in read_blocks(page):
        where = f"{page}:{block.line}"
        if block.title:
            (scratch / block.title).write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            for command in block.commands:
                run_or_check(command, where, page, scratch, monkeypatch)
        elif block.language == "yaml":
            assert block.title, f"{where}: a recipe needs a title, the file to save it as"
            load_recipe(scratch / block.title)
        elif block.language == "python" and not block.title:
            run_python(block, namespace, scratch, monkeypatch)
        elif block.language == "kotlin":
            check_kotlin(block)
        elif block.language == "ts":
            check_typescript(block, scratch)
        else:
            assert block.title or block.language in NOT_RUN_LANGUAGES, f"{where}: neither run nor listed"
    if page == "docs/cutting-out.md":
        check_formats(scratch / "everything")
    if page == "docs/deploying.md":
        check_clients(scratch)


def run_or_check(command: str, where: str, page: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason_not_to_run(command):
        check_listed(command, scratch, monkeypatch)
        return
    package = next((NEEDS[script] for script in NEEDS if script in command), None)
    if package and not importlib.util.find_spec(package):
        return
    if "int8.onnx" in command and not importlib.util.find_spec("onnx"):
        return
    run_shell(command, where, scratch, monkeypatch, apart=page in APART and command.startswith(APART[page]))


def check_formats(folder: Path) -> None:
    """The table of formats names what was written."""
    table = dict(re.findall(r"^\| `([\w-]+)` \| `([^`]+)` \|", (ROOT / "docs/cutting-out.md").read_text(), re.M))
    assert table.keys() == FORMATS.keys()
    for name, written in table.items():
        assert list(folder.glob(written)), f"{name} should have written {written}"


def check_clients(folder: Path) -> None:
    """The clients of the bare graphs give the masks of the tracker."""
    files = sorted((folder / "frames").glob("*.jpg"))
    clients = [path for path in folder.glob("masks-*") if path.is_dir()]
    assert folder / "masks-onnx" in clients
    for client in clients:
        fixed = client.name == "masks-litert"  # a graph of the frames' own size
        size = None if fixed else WORKING_SIZE
        queue = 3 if fixed else 2  # the slots that the client fills
        tracker = Tracker.load("mobilenetv2-lite", "onnx", queue=queue, size=size, window="off")
        tracker.start(read_picture(files[0]), read_mask(folder / "mask.png"))
        for path in files[1:]:
            mask = tracker.step(read_picture(path)).mask == 1
            assert mask.any()
            found = np.array(Image.open(client / f"{path.stem}.png")) > 0
            overlap = (found & mask).sum() / (found | mask).sum()
            least = 0.99 if fixed else 0.98  # the others stretch frames a little where the tracker pads them
            assert overlap > least, f"{client.name}, {path.stem}: {overlap}"


def blocks() -> list[Block]:
    return [block for page in PAGES for block in read_blocks(page)]


def test_files_are_used() -> None:
    """What is to be saved as a file is used by a later command of the page, or says what to do with it."""
    for page in WITH_BLOCKS:
        found = read_blocks(page)
        for index, block in enumerate(found):
            if block.title and block.language not in NOT_RUN_LANGUAGES:
                later = "".join(b.text for b in found[index + 1 :])
                assert block.title in later, f"{page}:{block.line}: {block.title} is never used"


def test_nothing_is_listed_in_vain() -> None:
    commands = [command for block in blocks() if block.language == "sh" for command in block.commands]
    for pattern in LISTED:
        assert any(re.match(pattern, command) for command in commands), f"{pattern!r} lists nothing"
    for begin in SMALL:
        assert any(re.match(begin, command) for command in commands), f"{begin!r} makes nothing small"
