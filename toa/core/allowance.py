"""How long a function of an operation may take: a budget that a firing pass opens and the runtime draws on."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType


class TookTooLong(BaseException):
    """A function used up the time it has. Not an `Exception`, so that the function does not swallow it."""


class Allowance:
    """The time that functions have within one pass.

    `each_ms` is for one function, and is enforced by a signal where this is the process's main thread; elsewhere a
    function that hangs is found by its lease or its dead process. `all_ms` is for all of them together, and is looked
    at between two.
    """

    def __init__(self, each_ms: int, all_ms: int) -> None:
        self.each_ms = each_ms
        self.all_ms = all_ms
        self.spent_ms = 0.0

    @property
    def used_up(self) -> bool:
        """Whether functions have had all the time they share."""
        return self.spent_ms >= self.all_ms


_present: ContextVar[Allowance | None] = ContextVar("toa_allowance", default=None)


@contextmanager
def allowing(allowance: Allowance) -> Iterator[Allowance]:
    """Have the functions that run inside draw on this allowance."""
    token = _present.set(allowance)
    try:
        yield allowance
    finally:
        _present.reset(token)


@contextmanager
def drawing() -> Iterator[None]:
    """Around one function: count its time, and end it where it takes too long. Free where nobody set a limit."""
    allowance = _present.get()
    if allowance is None:
        yield
        return
    began = time.perf_counter()
    try:
        with limited(allowance.each_ms):
            yield
    finally:
        allowance.spent_ms += (time.perf_counter() - began) * 1000


@contextmanager
def limited(milliseconds: int) -> Iterator[None]:
    """End the body by TookTooLong after that time. Only in the main thread; elsewhere nothing is done.

    A limit inside another one is left to the outer one.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"took longer than {milliseconds} ms")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
