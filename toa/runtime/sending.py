"""Sending statements together: most of what a small statement costs is the way to the database and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connections

from toa.runtime import settings


class _Kept(threading.local):
    """The statements that this thread has not sent yet; null where they are sent at once."""

    statements: list[tuple[str, Sequence[Any]]] | None = None


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


def run(sql: str, parameters: Sequence[Any] = ()) -> None:
    """Have a statement executed whose result nobody needs: now, or at the end of `together`."""
    if _kept.statements is None:
        _execute([(sql, parameters)])
    else:
        _kept.statements.append((sql, parameters))


def flush() -> None:
    """Send what is kept now, for whoever has to see what it does."""
    if _kept.statements:
        statements = _kept.statements[:]
        _kept.statements.clear()
        _execute(statements)


def _execute(statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
    connection = connections[settings.alias()]
    if len(statements) > 1 and getattr(connection.features, "uses_server_side_binding", False):
        # The database binds the parameters of one statement at a time.
        for one in statements:
            _execute([one])
        return
    with connection.cursor() as cursor:
        cursor.execute(
            ";\n".join(sql for sql, _ in statements), [value for _, values in statements for value in values]
        )
