"""The service worker in Chromium: isolation, offline, updates."""

from tests.web_export.node import need_chromium, node


def test_service_worker() -> None:
    need_chromium()
    node("--test", "tests/export/pwa.test.mjs")
