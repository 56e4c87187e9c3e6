"""What in the source of a workflow would be something else at each replay, and what is asked for in vain."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.core import checks

from toa.checks.ids import REPLAYED, UNAWAITED
from toa.core.specs import OperationType
from toa.manifests import registry
from toa.manifests.called import calls

_MOMENT = "await time.now(), of `from toa import time`"
_CHANCE = "context.random()"
_IDENTITY = "context.id()"
_SLEEP = "await time.sleep(…), of `from toa import time`"
_HINTS = {
    "time.time": _MOMENT,
    "time.time_ns": _MOMENT,
    "time.monotonic": _MOMENT,
    "time.monotonic_ns": _MOMENT,
    "time.perf_counter": _MOMENT,
    "time.sleep": _SLEEP,
    "asyncio.sleep": _SLEEP,
    "datetime.datetime.now": _MOMENT,
    "datetime.datetime.utcnow": _MOMENT,
    "datetime.datetime.today": _MOMENT,
    "datetime.date.today": _MOMENT,
    "django.utils.timezone.now": _MOMENT,
    "django.utils.timezone.localtime": _MOMENT,
    "random": _CHANCE,
    "secrets": _CHANCE,
    "os.urandom": _CHANCE,
    "uuid": _IDENTITY,
}
_AGAIN = {
    "toa.call": "await context.call(…)",
    "toa.start": "have an operation that it calls send it",
    "toa.send": "have an operation that it calls send it",
    "toa.delay": "await time.sleep(…), then context.call(…)",
    "toa.sweep": "await the call of an effect that sweeps",
}
_HARMLESS = frozenset({"uuid.UUID", "random.Random"})
_AWAITED = frozenset(
    f"toa.{name}"
    for name in (
        "time.now", "time.sleep", "time.sleep_until", "time.watch", "time.with_deadline",
        "retry.forever", "retry.exponential",
    )
)  # fmt: skip
_ASKS = ("now", "call", "local", "remote")
"""What of a context is awaited: by itself, or a call that begins so."""


def check_replayed(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Calls, in the files of workflows, of what tells the time, draws at random, or acts beside the journal."""
    return [
        checks.Warning(
            f"{file}:{line}: {name}() {'is done again' if name in _AGAIN else 'gives something else'} at each replay of"
            " the workflow",
            hint=f"{hint}; in an operation that it calls it is right",
            obj=endpoint,
            id=REPLAYED,
        )
        for endpoint, file, line, name, hint in _found(_suspicious)
    ]


def check_awaited(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Steps, in the files of workflows, that stand alone on a line and are not awaited: nothing is done then."""
    return [
        checks.Warning(
            f"{file}:{line}: {name}() is not awaited: nothing is done", hint=hint, obj=endpoint, id=UNAWAITED
        )
        for endpoint, file, line, name, hint in _found(_unawaited)
    ]


Findings = Iterator[tuple[int, str, str]]
"""Of a module: lines, names and hints."""


def _found(look: Callable[[ast.Module], Findings]) -> Iterator[tuple[str, str, int, str, str]]:
    """What is found in the files of workflows, each with its endpoint and the name of its file."""
    for spec in registry.all().values():
        for operation in spec.operations.values():
            if operation.type is not OperationType.WORKFLOW or operation.module is None:
                continue
            file = _file(operation.module)
            if file is not None:
                for line, name, hint in look(ast.parse(file.read_bytes(), filename=str(file))):
                    yield spec.endpoint(operation.name), file.name, line, name, hint


def _file(module: str) -> Path | None:
    found = find_spec(module)
    return None if found is None or found.origin is None else Path(found.origin)


def _suspicious(tree: ast.Module) -> Findings:
    for node, name in calls(tree):
        hint = _AGAIN.get(name) or _HINTS.get(name) or _HINTS.get(name.partition(".")[0])
        if hint is not None and name not in _HARMLESS:
            yield node.lineno, name, hint


def _unawaited(tree: ast.Module) -> Findings:
    alone = {node.value: node for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node, name in calls(tree):
        asked = name if name in _AWAITED else _asked(node.func)
        if node in alone and asked:
            yield node.lineno, asked, f"await {ast.unparse(node.func)}(…)"


def _asked(called: ast.expr) -> str:
    """What of a context is called, as it stands; empty for anything that is not awaited."""
    names: list[str] = []
    while isinstance(called, ast.Attribute):
        names.insert(0, called.attr)
        called = called.value
    if isinstance(called, ast.Name) and called.id == "context" and names and names[0] in _ASKS:
        return ".".join(["context", *names])
    return ""
