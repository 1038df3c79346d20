"""The pages of the documentation and the blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
)

FENCE = re.compile(r"```+(?P<language>[\w+-]*)(?: title=\"(?P<title>[^\"]+)\")?$")

INDENTED = re.compile(r" {4}(\.venv/bin/|mobilevos |make |pip |python |torchrun )")
"""A command in a block without a fence."""


@dataclass(frozen=True)
class Block:
    """A fenced block, or a single command that is indented instead."""

    page: str
    line: int
    """Of the page, where the content begins, from 1 on."""
    language: str
    title: str | None
    """The file it is to be saved as."""
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block that are not comments."""
        lines = [line.strip() for line in self.text.splitlines()]
        return [line for line in lines if line and not line.startswith("#")]


def read_blocks(page: str) -> list[Block]:
    """All blocks of a page, in order."""
    blocks: list[Block] = []
    content: list[str] | None = None
    opened: re.Match[str] | None = None
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip().startswith("```"):
            if content is not None:
                content.append(line)
            elif INDENTED.match(line):
                blocks.append(Block(page, number, "sh", None, line + "\n"))
            continue
        if content is None:
            opened, content = FENCE.match(line.strip()), []
            assert opened, f"{page}:{number}: expected a language and perhaps a title, got {line}"
            continue
        assert opened
        begins = number - len(content)
        blocks.append(Block(page, begins, opened["language"], opened["title"], "\n".join(content) + "\n"))
        content = None
    assert content is None, f"{page}: a block is not closed"
    return blocks
