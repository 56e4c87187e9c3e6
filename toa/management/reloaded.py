"""`toa run --reload`: the runner in a process that is started anew whenever the source changes. For development."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connections
from django.utils import autoreload

from toa.management.running import Runner

logger = logging.getLogger("toa.run")

GRACE_S = 5.0
"""How long what runs may take to finish before the process is started anew, in seconds."""


def run_reloaded(threads: int) -> None:
    """Run until Ctrl-C. Does not return in the parent, which only starts children, nor after a change.

    Where the checks fail, they are told, and the next change is waited for.
    """
    if os.environ.get(autoreload.DJANGO_AUTORELOAD_ENV) != "true":
        autoreload.run_with_reloader(lambda: None)
        return
    child = _Child(threads)
    autoreload.file_changed.connect(child.stop)
    try:
        autoreload.run_with_reloader(child.work)
    finally:
        autoreload.file_changed.disconnect(child.stop)
        child.stop()


class _Child:
    """The runner in a thread of its own: the main thread watches the source."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._runner: Runner | None = None
        self._done = threading.Event()
        self._done.set()

    def work(self) -> None:
        self._done.clear()
        try:
            call_command("check")
            self._runner = Runner(self._threads)
            self._runner.run()
        except SystemCheckError as error:
            logger.error("%s", error, extra={"action": "check_failed"})
        finally:
            connections.close_all()
            self._done.set()

    def stop(self, **_: Any) -> None:
        """Let what runs finish. Receiver of `file_changed`, which leaves the change to the others."""
        if self._runner is not None:
            self._runner.stop()
        if not self._done.wait(GRACE_S):
            logger.warning("something still runs: it is broken off", extra={"action": "broken_off"})
