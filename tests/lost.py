"""Tests that never ran, because a process that ran tests was lost, are among those that `--last-failed` runs."""

from __future__ import annotations

from typing import Any

import pytest


class Lost:
    """Of a run with several processes, in the one that gives out the tests."""

    def __init__(self) -> None:
        self.all: set[str] = set()
        self.done: set[str] = set()
        self.down = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.all.update(ids)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        self.down = self.down or error is not None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown" or report.failed:
            self.done.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        cache = session.config.cache
        if self.down and cache is not None:
            failed = cache.get("cache/lastfailed", {})
            cache.set("cache/lastfailed", failed | dict.fromkeys(sorted(self.all - self.done), True))
