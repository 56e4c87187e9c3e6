"""What an error of a fired call means: another try, or a failure."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable

from django.db import InterfaceError, OperationalError

from toa.core.specs import OperationSpec
from toa.exceptions import Transient

FIRST_MS, GROWTH, CAP_MS = 1_000, 2, 30_000
"""Back-off of a call that toa makes: 1 s, doubled each time, at most 30 s, jittered by a tenth."""


def is_transient(error: BaseException, operation: OperationSpec | None) -> bool:
    """Whether another try may end otherwise: I/O, the database's operational errors, `Transient`, and what the
    operation declares under `retry:`."""
    kinds: tuple[type[BaseException], ...] = (OSError, OperationalError, InterfaceError, Transient, TimeoutError)
    if operation is not None:
        kinds += tuple(_imported(operation.retry))
    return isinstance(error, kinds)


def back_off_ms(attempt: int) -> int:
    """How long to wait after the attempt of that number (from 1), in ms."""
    wait: int = min(FIRST_MS * GROWTH ** (attempt - 1), CAP_MS)
    return round(wait * random.uniform(0.9, 1.1))


def _imported(names: Iterable[str]) -> Iterable[type[BaseException]]:
    for name in names:
        module, _, attribute = name.rpartition(".")
        yield getattr(importlib.import_module(module or "builtins"), attribute)
