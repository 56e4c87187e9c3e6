"""Timers in memory inside an operation's source: what waits there is lost with its process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from toa.manifests.called import calls

_DELAY = "store the call: context.delay(endpoint, request, interval=…)"
_STEP = "in a workflow `await toa.time.sleep(…)` survives a restart; elsewhere store the call with context.delay(…)"
_CALLS = {
    "threading.Timer": _DELAY,
    "time.sleep": _STEP,
    "asyncio.sleep": _STEP,
    "sched.scheduler": _DELAY,
}
_MESSAGE_ARGUMENTS = ("eta", "countdown")
_MESSAGE_CALLS = ("apply_async", "signature", "s", "retry", "send_task")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A call that waits in memory: its line, what it is, and what to write instead."""

    line: int
    what: str
    hint: str


def timers(tree: ast.Module) -> Iterator[Timer]:
    """The timers of a module, found by the names under which it imports them."""
    for node, full in calls(tree):
        if full in _CALLS:
            yield Timer(line=node.lineno, what=full, hint=_CALLS[full])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _MESSAGE_CALLS:
            for argument in node.keywords:
                if argument.arg in _MESSAGE_ARGUMENTS:
                    yield Timer(line=node.lineno, what=f"Celery's {argument.arg}", hint=_DELAY)
