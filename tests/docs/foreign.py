"""Checks of code in languages that do not run here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mobilevos.export.tflite_step import INPUTS, OUTPUTS
from tests.docs.pages import ROOT, Block

COMPILER = ROOT / "web" / "node_modules" / ".bin" / "tsc"
PAIRS = {")": "(", "]": "[", "}": "{"}


def check_kotlin(block: Block) -> None:
    check_brackets(block.text)
    if block.title == "ObjectFollower.kt":
        lists = [re.findall(r'"(\w+)"', text) for text in re.findall(r"listOf\(([^)]*)\)", block.text)]
        assert lists == [list(INPUTS), list(OUTPUTS)]
        used = set(re.findall(r'getValue\("(\w+)"\)', block.text))
        assert used == {*INPUTS, *OUTPUTS}
        assert sizes(block.text, r"const val {} = (\d+)") == (480, 272, 64, 3)


def check_typescript(block: Block, folder: Path) -> None:
    check_brackets(block.text)
    data = re.search(r"data: Record<string, Float32Array> = \{(.*?)\};", block.text, re.S)
    assert data
    assert tuple(re.findall(r"^\s*(\w+)(?::.*)?,$", data[1], re.M)) == INPUTS
    assert re.search(r"const \[probabilities, keys, values, rating\]", block.text), "the outputs come in this order"
    assert sizes(block.text, r"const {} = (\d+);") == (480, 272, 64, 3)
    if COMPILER.exists():
        (folder / "node_modules").symlink_to(ROOT / "web" / "node_modules")
        options = "--ignoreConfig --noEmit --strict --skipLibCheck --noUnusedLocals --noUnusedParameters"
        target = "--target ES2022 --module ESNext --moduleResolution bundler --lib ES2023,DOM"
        command = [str(COMPILER), *options.split(), *target.split(), str(block.title)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def sizes(text: str, pattern: str) -> tuple[int, ...]:
    """Width, height, channels and slots as constants say them."""
    found = [re.search(pattern.replace("{}", name), text) for name in ("WIDTH", "HEIGHT", "CHANNELS", "SLOTS")]
    return tuple(int(match[1]) for match in found if match)


def check_brackets(text: str) -> None:
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|//.*", "", text)
    opened: list[str] = []
    for mark in text:
        if mark in PAIRS.values():
            opened.append(mark)
        elif mark in PAIRS and (not opened or opened.pop() != PAIRS[mark]):
            pytest.fail(f"an unexpected {mark}")
    assert not opened
