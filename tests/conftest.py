"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

from tests.lost import Lost


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Lost())


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real photos and clips; tests that need it are skipped where it is absent."""
    root = Path(os.environ.get("MOBILEVOS_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        pytest.skip(
            f"no real data at hand (set MOBILEVOS_DATA; looked for a folder {root.name!r} beside the repository)"
        )
    return root
