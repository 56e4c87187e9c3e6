"""Crashes at chosen places: the process is gone before or after a statement or a commit.

A crash is raised as `Crash`, which no `except Exception` stops: the transaction under way is rolled back, as the
database does when a process dies, and nothing more is run.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from django.db import connections

from toa.runtime import settings

COMMIT = "COMMIT"


class Crash(BaseException):
    """The process is gone."""


@dataclass(slots=True)
class Statements:
    """What was sent to the database, in order, commits included."""

    sent: list[str] = field(default_factory=list)


@contextmanager
def crash(
    number: int | None = None, *, after: bool = False, meanwhile: Callable[[], object] | None = None
) -> Iterator[Statements]:
    """Crash before (or after) statement number `number`, counted from 0; without a number only take notes.

    Commits count as statements of their own. Only this thread's connection is watched. `meanwhile` is done by another
    thread, with a connection of its own, at the last moment: while everything that was locked still is.
    """
    connection = connections[settings.alias()]
    statements = Statements()

    def guarded(name: str, run: Callable[[], Any]) -> Any:
        position = len(statements.sent)
        statements.sent.append(name)
        if position == number and not after:
            _beside(meanwhile)
            if name == COMMIT:
                # What the database does when the process is gone; Django does it for every other statement.
                connection.rollback()
            raise Crash(f"before {name}")
        result = run()
        if position == number:
            _beside(meanwhile)
            raise Crash(f"after {name}")
        return result

    def wrap(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        return guarded(_shown(sql), lambda: execute(sql, params, many, context))

    commit = connection.commit

    def committed() -> None:
        guarded(COMMIT, commit)

    with connection.execute_wrapper(wrap), mock.patch.object(connection, "commit", committed):
        yield statements


def everywhere(
    prepare: Callable[[], Callable[[], object]],
    *,
    every: int = 1,
    meanwhile: Callable[[], object] | None = None,
) -> Iterator[str]:
    """Die in every place of an action, one place later each time.

    `prepare` makes a state of its own and returns the action on it. After each death its place is yielded, for the
    caller to see that everything is put right. Ends when the action gets through. With `every` only each
    such place is taken, for a quick look; `meanwhile` is what somebody else does at that moment, see `crash`.
    """
    for number in itertools.count(step=every):
        for after in (False, True):
            action = prepare()
            try:
                with crash(number, after=after, meanwhile=meanwhile) as statements:
                    action()
            except Crash:
                connections[settings.alias()].close()
                yield f"{'after' if after else 'before'} {number}: {statements.sent[number]}"
            else:
                return


def _shown(sql: str) -> str:
    """A statement as a place is told: its beginning and its end, which says what it locks."""
    text = " ".join(sql.split())
    return text if len(text) <= 160 else f"{text[:100]} … {text[-56:]}"


def _beside(meanwhile: Callable[[], object] | None) -> None:
    if meanwhile is None:
        return
    raised: list[BaseException] = []

    def run() -> None:
        try:
            meanwhile()
        except BaseException as error:
            raised.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run, name="toa-beside")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
