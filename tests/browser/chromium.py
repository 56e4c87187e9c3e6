"""The Chromium of the system, driven by Playwright, which brings none of its own here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """The path of the browser; null where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def launched(path: str) -> Iterator[Browser]:
    """The browser, for as long as the body runs."""
    # As root, as in containers, it runs without its sandbox; it visits nothing but our own pages.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    # Playwright runs a loop in this thread, in which Django would refuse its queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()
