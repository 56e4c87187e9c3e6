"""One decision of an operator about several things, each by itself: one that is refused does not stop the rest."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any
from uuid import UUID

from django.db import Error as DatabaseError

from toa.core.traces import sentence
from toa.exceptions import ToaError
from toa.management.console import Console
from toa.management.verbs import DONE, NO


def decide(
    identities: Iterable[UUID], act: Callable[[UUID], str], console: Console, done: Container[str] | None = None
) -> int:
    """Act on each id and print its answer, or why there is none; returns the exit code.

    `done` are the answers that count as done; null: all. The exit code is 0 where nothing else came back.
    """
    results: list[dict[str, Any]] = []
    for identity in identities:
        result = _result(identity, act, done)
        results.append(result)
        if not console.as_json:
            console.say(f"{result['id']}: {result['answer'] or result['error']}")
    if console.as_json:
        console.document({"results": results})
    return DONE if all(result["done"] for result in results) else NO


def _result(identity: UUID, act: Callable[[UUID], str], done: Container[str] | None) -> dict[str, Any]:
    try:
        answer = act(identity)
    except ToaError as error:
        return {"id": identity.hex, "done": False, "answer": None, "error": str(error)}
    except DatabaseError:
        raise
    except Exception as error:
        # A retry may ask the project's own code, which may still be as broken as it was.
        return {"id": identity.hex, "done": False, "answer": None, "error": sentence(error)}
    return {"id": identity.hex, "done": done is None or answer in done, "answer": answer, "error": None}
