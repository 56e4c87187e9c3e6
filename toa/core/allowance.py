"""How long a function of an operation may take: a budget that a firing pass opens and the runtime draws on."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
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
        self.all_ms: float = all_ms
        self.spent_ms = 0.0
        self._began: float | None = None
        """When the function that runs now began; null between two."""

    @property
    def used_up(self) -> bool:
        """Whether functions have had all the time they share."""
        return self.spent_ms >= self.all_ms

    @contextmanager
    def part(self, of: int) -> Iterator[None]:
        """Let what is inside use one of so many equal parts of the time that is left, and no more."""
        whole = self.all_ms
        self.all_ms = self.spent_ms + max(0.0, whole - self.spent_ms) / of
        try:
            yield
        finally:
            self.all_ms = whole

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """One timer for all functions: whether the one that runs has had its time is looked at when it goes off."""
        if _is_timed():
            yield
            return

        def look(number: int, frame: FrameType | None) -> None:
            ran_ms = 0.0 if self._began is None else (time.perf_counter() - self._began) * 1000
            if ran_ms >= self.each_ms:
                raise TookTooLong(f"took longer than {self.each_ms} ms")
            signal.setitimer(signal.ITIMER_REAL, max(self.each_ms - ran_ms, 1) / 1000)

        with _alarm(look, self.each_ms):
            yield


_present: ContextVar[Allowance | None] = ContextVar("toa_allowance", default=None)


@contextmanager
def allowing(allowance: Allowance) -> Iterator[Allowance]:
    """Have the functions that run inside draw on this allowance."""
    token = _present.set(allowance)
    try:
        with allowance._watched():
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
    began = allowance._began = time.perf_counter()
    try:
        yield
    finally:
        allowance._began = None
        allowance.spent_ms += (time.perf_counter() - began) * 1000


@contextmanager
def limited(milliseconds: int) -> Iterator[None]:
    """End the body by TookTooLong after that time. Only in the main thread; elsewhere nothing is done.

    A limit inside another one is left to the outer one.
    """
    if _is_timed():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"took longer than {milliseconds} ms")

    with _alarm(end, milliseconds):
        yield


def _is_timed() -> bool:
    """Whether no timer can be set here: signals reach the main thread alone, and one timer is running at most."""
    return threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_REAL)[0] > 0


@contextmanager
def _alarm(handler: Callable[[int, FrameType | None], None], milliseconds: int) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
