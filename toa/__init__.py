"""toa: work on the clock for Django, kept as state in PostgreSQL.

The public names, loaded when they are first used, so that `from toa import call` works in any installed app:
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toa.apps import ComponentConfig
    from toa.core.error import Error
    from toa.core.identity import key
    from toa.core.period import period
    from toa.core.recurrence import next_occurrence
    from toa.exceptions import (
        Cancelled,
        Conflict,
        DeadlineExceeded,
        InvalidInput,
        InvalidQuery,
        NotFound,
        PreconditionFailed,
        Refused,
        ToaError,
        Transient,
    )
    from toa.models.entity import Entity
    from toa.runtime.calls import call
    from toa.runtime.delaying import delay, send
    from toa.runtime.starting import start
    from toa.runtime.sweeping import sweep
    from toa.runtime.swept import Swept

_HOMES = {
    "ComponentConfig": "toa.apps",
    "Cancelled": "toa.exceptions",
    "Conflict": "toa.exceptions",
    "DeadlineExceeded": "toa.exceptions",
    "Entity": "toa.models.entity",
    "Error": "toa.core.error",
    "InvalidInput": "toa.exceptions",
    "InvalidQuery": "toa.exceptions",
    "NotFound": "toa.exceptions",
    "PreconditionFailed": "toa.exceptions",
    "Refused": "toa.exceptions",
    "Swept": "toa.runtime.swept",
    "ToaError": "toa.exceptions",
    "Transient": "toa.exceptions",
    "call": "toa.runtime.calls",
    "delay": "toa.runtime.delaying",
    "key": "toa.core.identity",
    "next_occurrence": "toa.core.recurrence",
    "period": "toa.core.period",
    "send": "toa.runtime.delaying",
    "start": "toa.runtime.starting",
    "sweep": "toa.runtime.sweeping",
}

__all__ = [
    "Cancelled",
    "ComponentConfig",
    "Conflict",
    "DeadlineExceeded",
    "Entity",
    "Error",
    "InvalidInput",
    "InvalidQuery",
    "NotFound",
    "PreconditionFailed",
    "Refused",
    "Swept",
    "ToaError",
    "Transient",
    "call",
    "delay",
    "key",
    "next_occurrence",
    "period",
    "send",
    "start",
    "sweep",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toa' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
