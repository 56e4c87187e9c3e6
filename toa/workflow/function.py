"""The function of a workflow as it is driven: given what it waits for, until it asks for what is not known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from toa.core.allowance import drawing
from toa.core.error import Error
from toa.core.purity import watched
from toa.exceptions import Cancelled, Nondeterministic, NotAllowedHere
from toa.workflow.asking import Asking
from toa.workflow.frames import Expired
from toa.workflow.pauses import Broken, Ended

MOST_REFUSED = 100
"""How often a function may go on after it was refused something, before that is its end."""


class Function:
    """A coroutine that is nobody's task: each of its awaits is answered by hand."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.asked: Asking | None = None
        """What it waits for; null where the answer is ready to be given."""
        self.cancelled = False
        """Whether it was told of its end."""
        self._coroutine = coroutine
        self._answer: tuple[Any, BaseException | None] = (None, None)
        self._thrown: list[tuple[BaseException, int]] = []
        self._refused = 0

    def answer(self, value: Any = None) -> None:
        """Have it given what it waits for."""
        self.asked, self._answer = None, (value, None)

    def throw(self, error: BaseException, step: int | None = None) -> None:
        """Have it raised where it waits; `step` is the position of the step that raised it."""
        self.asked, self._answer = None, (None, error)
        if step is not None:
            self._thrown.append((error, step))

    def refuse(self, error: Exception) -> Broken | None:
        """Raise what it will be told again at every replay, for nothing is written down; in the end that is its end."""
        self._refused += 1
        if self._refused > MOST_REFUSED:
            return Broken(error=error, step=None)
        self.throw(error)
        return None

    def resume(self, known: Callable[[Asking], bool]) -> Ended | Broken | None:
        """Let it go on until it asks for something that `known` does not answer; null until it ends."""
        try:
            # All that was done before is one go: setting limits for each step of it would cost more than the step.
            with drawing(), watched():
                asked = self._send()
                while isinstance(asked, Asking) and known(asked):
                    asked = self._send()
        except StopIteration as stop:
            return Ended(reply=stop.value, cancelled=self.cancelled)
        except Nondeterministic:
            raise
        except (Exception, Expired, Cancelled) as raised:
            if self.cancelled:
                return Ended(reply=None, cancelled=True)
            if isinstance(raised, Error):
                return Ended(reply=raised)
            return Broken(error=_explained(raised), step=self._step_of(raised))
        if not isinstance(asked, Asking):
            return self.refuse(_foreign(type(asked).__name__))
        self.asked = asked
        return None

    def close(self) -> None:
        """Give it up where it stands. Python runs its `finally` blocks up to their first await, which counts for
        nothing: the journal has not moved."""
        for _ in range(MOST_REFUSED):
            if inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CLOSED:
                break
            with suppress(Exception):
                self._coroutine.close()

    def _send(self) -> Any:
        value, error = self._answer
        self._answer = (None, None)
        return self._coroutine.send(value) if error is None else self._coroutine.throw(error)

    def _step_of(self, error: BaseException) -> int | None:
        """The step whose exception this is, or was raised over."""
        seen: BaseException | None = error
        while seen is not None:
            for thrown, position in self._thrown:
                if thrown is seen:
                    return position
            seen = seen.__cause__ or seen.__context__
        return None


def _foreign(what: str) -> NotAllowedHere:
    return NotAllowedHere(
        f"a workflow awaits {what}, which cannot be kept over a restart",
        hint="await time.sleep, time.now, context.call; I/O belongs into an effect",
    )


def _explained(error: BaseException) -> BaseException:
    if isinstance(error, RuntimeError) and "no running event loop" in str(error):
        explained = _foreign("what needs an event loop, as asyncio does")
        explained.__cause__ = error
        return explained
    return error
