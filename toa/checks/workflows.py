"""What in the source of a workflow would be something else at each replay."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.core import checks

from toa.checks.ids import REPLAYED
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
_HARMLESS = frozenset({"uuid.UUID", "random.Random"})


def check_replayed(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[checks.CheckMessage]:
    """Calls, in the files of workflows, of what tells the time or draws at random."""
    return [
        checks.Warning(
            f"{file.name}:{line}: {name}() gives something else at each replay of the workflow",
            hint=f"{hint}; in an operation that it calls it is right",
            obj=spec.endpoint(operation.name),
            id=REPLAYED,
        )
        for spec in registry.all().values()
        for operation in spec.operations.values()
        if operation.type is OperationType.WORKFLOW and operation.module is not None
        if (file := _file(operation.module)) is not None
        for line, name, hint in _suspicious(file)
    ]


def _file(module: str) -> Path | None:
    found = find_spec(module)
    return None if found is None or found.origin is None else Path(found.origin)


def _suspicious(file: Path) -> Iterator[tuple[int, str, str]]:
    for node, name in calls(ast.parse(file.read_bytes(), filename=str(file))):
        hint = _HINTS.get(name) or _HINTS.get(name.partition(".")[0])
        if hint is not None and name not in _HARMLESS:
            yield node.lineno, name, hint
