"""Processes of the project that another one of it starts, watches and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

CHECKOUT = Path(__file__).resolve().parents[1]
PATIENCE_S = 8.0
"""How long processes that were asked to end may take, all of them together."""


class Child:
    """A process in a session of its own: a Ctrl-C of the terminal does not reach it, and its children die with it."""

    def __init__(self, name: str, command: Sequence[str], *, environment: Mapping[str, str], log: Path) -> None:
        """Start it. What it writes is added to `log`."""
        self.name = name
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, *command],
                cwd=CHECKOUT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self.started_at = time.monotonic()

    def is_over(self) -> bool:
        """Whether it has ended. Its number stays its own until `end`, so that no stranger is taken for it."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def ask(self) -> None:
        """Ask it to finish what it does and to end."""
        if not self.is_over():
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and its children without asking, and without a chance to tidy up."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()

    def end(self) -> int:
        """Wait for its end; returns its exit status, negative for a signal. Children that it left are killed."""
        if self._process.returncode is None:
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            self.kill()
        return self._process.returncode or 0

    def last_words(self, lines: int = 8) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def end_all(children: Iterable[Child]) -> None:
    """Ask them all to end; those that do not, in time or at a second Ctrl-C, are killed. None is left."""
    waiting = list(children)
    try:
        for child in waiting:
            child.ask()
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up and not all(child.is_over() for child in waiting):
            time.sleep(0.05)
    finally:
        for child in waiting:
            child.kill()


def load() -> float:
    """How many processes want each core of this machine now, 1 at least: by so much everything may take longer."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Stopped(BaseException):
    """Somebody asked this process to end."""


class Stopping:
    """While it lasts, SIGINT, SIGTERM and SIGHUP raise `Stopped` in the main thread: what was begun can be ended."""

    _SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._stop) for number in self._SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        raise Stopped(signal.Signals(number).name)


def worker(name: str, queues: str, concurrency: int) -> list[str]:
    """The command of a worker."""
    quiet = ["--without-mingle", "--without-gossip", "--without-heartbeat"]
    node = ["-n", f"{name}-{os.getpid()}@%h", "-Q", queues, "-c", str(concurrency)]
    return ["-m", "celery", "-A", "config", "worker", "-l", "INFO", *node, *quiet]


def beat() -> list[str]:
    """The command of beat."""
    return ["-m", "celery", "-A", "config", "beat", "-l", "INFO", "--pidfile="]


def manage(*arguments: str) -> list[str]:
    """The command of one of Django's."""
    return ["manage.py", *arguments]
