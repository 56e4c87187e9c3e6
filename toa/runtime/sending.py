"""Sending statements together: most of what a small statement costs is the way to the database and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connections

from toa.runtime import settings

Then = Callable[[list[tuple[Any, ...]]], None]
"""Told of the rows that a statement returned."""


@dataclass(frozen=True, slots=True)
class _Statement:
    sql: str
    parameters: Sequence[Any]
    then: Then | None


class _Kept(threading.local):
    """The statements that this thread has not sent yet; null where they are sent at once."""

    statements: list[_Statement] | None = None


_kept = _Kept()


@contextmanager
def together() -> Iterator[None]:
    """Keep the statements that the body gives to `run`, and send them in one message at its end.

    Within another such body they go with what that one sends. A body that raises sends nothing. What the database
    makes of a statement, a refusal too, is not known before the end.
    """
    outer = _kept.statements
    if outer is None:
        _kept.statements = []
    else:
        already = len(outer)
    try:
        yield
        if outer is None:
            flush()
    except BaseException:
        if outer is not None:
            del outer[already:]
        raise
    finally:
        _kept.statements = outer


def run(sql: str, parameters: Sequence[Any] = (), then: Then | None = None) -> None:
    """Have a statement executed, now or at the end of `together`, whose result nobody needs before that.

    `then` is called with the rows that it returned, once all that went with it is done.
    """
    statement = _Statement(sql, parameters, then)
    if _kept.statements is None:
        _execute([statement])
    else:
        _kept.statements.append(statement)


def flush() -> None:
    """Send what is kept now, for whoever has to see what it does."""
    while _kept.statements:
        statements = _kept.statements[:]
        _kept.statements.clear()
        _execute(statements)


def _execute(statements: Sequence[_Statement]) -> None:
    connection = connections[settings.alias()]
    if len(statements) > 1 and getattr(connection.features, "uses_server_side_binding", False):
        # The database binds the parameters of one statement at a time.
        for one in statements:
            _execute([one])
        return
    returned: list[tuple[Then, list[tuple[Any, ...]]]] = []
    with connection.cursor() as cursor:
        cursor.execute(
            ";\n".join(one.sql for one in statements), [value for one in statements for value in one.parameters]
        )
        last = max((place for place, one in enumerate(statements) if one.then is not None), default=-1)
        for place, one in enumerate(statements[: last + 1]):
            if place:
                cursor.nextset()
            if one.then is not None:
                returned.append((one.then, cursor.fetchall()))
    for then, rows in returned:
        then(rows)
