"""The counts of a sweep: what they say in history, and to whoever watches it going on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypedDict


class Swept(TypedDict):
    """What became of a sweep's objects."""

    made: int
    """`each` returned."""
    refused: int
    """`each` returned an Error, or found the object gone or changed meanwhile."""
    failed: int
    """`each` raised."""
    left: int
    """Found and not called, because the limit was reached or the time was up; there may be more."""
    errors: list[str]
    """The first errors, as `id: sentence`."""


IDLE = frozenset({"refused", "failed", "passed", "left"})
"""Counts of what a sweep did not do: another round would meet the same objects again."""

Watch: TypeAlias = Callable[[Mapping[str, Any]], None]

_KEYS = frozenset({"made", "refused", "failed"})
_watch: ContextVar[Watch | None] = ContextVar("toa_sweep_watch", default=None)


def is_swept(reply: object) -> bool:
    """Whether a reply is the counts of a sweep, declared or made by `toa.sweep`."""
    return isinstance(reply, Mapping) and reply.keys() >= _KEYS


def told(reply: Mapping[str, Any]) -> str:
    """Counts in one line, those that are not zero, then the first error: `98 made, 2 failed; 0190…: KeyError: 'x'`."""
    counts = ", ".join(f"{count} {what}" for what, count in reply.items() if type(count) is int and count)
    return "; ".join([counts, *reply.get("errors", ())[:1]])


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Have `watch` called after each object of the sweeps that run inside, with the counts so far."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def show(counts: Mapping[str, Any]) -> None:
    """Tell whoever watches how far the sweep is."""
    watch = _watch.get()
    if watch is not None:
        watch(counts)
