"""Worker processes made by fork: they have the test's clock and database, connections of their own, and can die."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

from toa.cadence import serving
from toa.cadence.passes import Collected, run_pass
from toa.cadence.sessions import prepare_session

WITHIN_S = 30.0


class Node:
    """A child of the test process that serves: it keeps a docket and a watermark."""

    def __init__(self, act: Callable[[], Any], memory: int | None = None) -> None:
        """Fork, and run `act` in the child; `memory` is how many bytes it may add to what it has."""
        # An open connection would be shared with the child, whose end would end it for both.
        connections.close_all()
        with warnings.catch_warnings():
            # Some thread of a library may run here; the child runs nothing but what it is told.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                serving.serve()
                if memory is not None:
                    _limit(memory)
                prepare_session()
                act()
                status = 0
            except BaseException:
                traceback.print_exc(file=sys.stderr)
            finally:
                os._exit(status)
        self._over = False

    def end(self) -> int:
        """Wait for its end; its exit status, negative for a signal."""
        status = self._wait(0)
        self._over = True
        return os.waitstatus_to_exitcode(status)

    def frozen(self) -> None:
        """Wait until it has stopped itself."""
        assert os.WIFSTOPPED(self._wait(os.WUNTRACED))

    def wake(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        if not self._over:
            os.kill(self.pid, signal.SIGKILL)
            self.end()

    def _wait(self, options: int) -> int:
        give_up = time.monotonic() + WITHIN_S
        while time.monotonic() < give_up:
            pid, status = os.waitpid(self.pid, options | os.WNOHANG)
            if pid:
                return status
            time.sleep(0.002)
        raise AssertionError("the process neither ended nor stopped")


@contextmanager
def node(act: Callable[[], Any], memory: int | None = None) -> Iterator[Node]:
    """A node for as long as the body runs."""
    made = Node(act, memory)
    try:
        yield made
    finally:
        made.kill()


def one_pass(memory: int | None = None) -> int:
    """Let a node make one pass; its exit status."""
    with node(lambda: run_pass(Collected()), memory) as made:
        return made.end()


def _limit(more: int) -> None:
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + more, present + more))
