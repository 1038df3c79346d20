"""The site builds without a warning and asks no other host for anything; what pages say of messages is true."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT

LOADED = re.compile(r"<(?:script|img|iframe|source|video)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//")


@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="needs the extra `docs`")
def test_the_site_builds_and_keeps_to_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    for page in tmp_path.rglob("*.html"):
        assert not LOADED.search(page.read_text(encoding="utf-8")), page.name


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("docs/")])
def test_links_lead_somewhere(page: str) -> None:
    """Those between pages of the site are checked by its build."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists(), target


def test_troubleshooting_quotes_real_messages() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/mobilevos").rglob("*.py"))
    joined = re.sub(r'"\s*f?"', "", source)  # messages are split over lines
    rows = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8"), re.M)
    assert len(rows) > 5
    for row in rows:
        for part in re.split(r"\s*…\s*", row):
            assert part in joined, f"no message says {part!r}"
