"""Timers in memory inside an operation's source: what waits there is lost with its process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

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
    names = _imported(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = _dotted(node.func)
        head, _, rest = called.partition(".")
        full = names.get(head, head) + (f".{rest}" if rest else "")
        if full in _CALLS and head in names:
            yield Timer(line=node.lineno, what=full, hint=_CALLS[full])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _MESSAGE_CALLS:
            for argument in node.keywords:
                if argument.arg in _MESSAGE_ARGUMENTS:
                    yield Timer(line=node.lineno, what=f"Celery's {argument.arg}", hint=_DELAY)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names in the module and what they stand for: `{"Timer": "threading.Timer", "t": "time"}`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else (alias.name.partition(".")[0])
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
