"""A watch over functions that must be pure: tests set one, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Watch = Callable[[], AbstractContextManager[None]]
"""Makes what surrounds one function while it runs."""

_watch: Watch | None = None


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Have every transition, assignment and computation of this process run under a watch."""
    global _watch
    before, _watch = _watch, watch
    try:
        yield
    finally:
        _watch = before


def watched() -> AbstractContextManager[None]:
    """Around one function that must be pure. Free where nobody watches."""
    return nullcontext() if _watch is None else _watch()
