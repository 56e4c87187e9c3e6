"""`toa.sweep`: what an effect on a pulse does with each object it finds, bounded in rows and in time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connections

from toa.core.allowance import TookTooLong
from toa.core.cursor import encode_cursor
from toa.core.error import Error
from toa.core.query import MAX_LIMIT, parse_query
from toa.core.traces import sentence
from toa.exceptions import InvalidQuery, LeaseLost, NotAllowedHere, NotFound, PreconditionFailed
from toa.runtime import clock, settings
from toa.runtime.bindings import Component
from toa.runtime.context import EffectContext
from toa.runtime.setbacks import known, name_of, remember
from toa.runtime.swept import Swept, show
from toa.typing import ActingContext, Criteria, Names

PAGE = 250
"""Objects that are read at once, at least; a greater limit is read at once."""
LOOK = 10_000
"""Objects that are read at most, where most of them failed before."""
KEPT = 10
"""One place in so many of the limit is kept for objects that failed before."""
ERRORS = 3
"""How many errors the reply tells."""
LONGEST_ERROR = 300
"""Characters of each."""

logger = logging.getLogger("toa.sweeping")


def sweep(
    context: ActingContext[Any, Any],
    *,
    criteria: Criteria,
    limit: int,
    each: Callable[[Any], Any],
    sort: Names | None = None,
    seconds: float | None = None,
) -> Swept:
    """Call `each(object)` for the objects of the effect's component that fit, at most `limit`; returns the counts.

    ::

        def effect(input, context):
            return toa.sweep(
                context,
                criteria=f"status==pending;pay_by<{context.now()}",
                sort="pay_by",
                limit=100,
                each=lambda order: context.local.cancel({"reason": "EXPIRED"}, {"id": order.id}),
            )

    Objects are read by the component's own `enumerate`, in the order of `sort`, a page at a time. `limit` is 1 to
    1000. After `seconds` no other object is begun; where it is not given, that is half the operation's time-out.
    Each object was read when the sweep began: `each` calls an operation that looks at it again, and returns its reply.

    An Error that `each` returns counts as refused, as do NotFound and PreconditionFailed. Any other exception counts
    as failed: it is logged, stands in the history of the object, and does not stop the rest. An object that failed
    within the last day comes after those that did not; a tenth of the limit is kept for such objects. Raises
    InvalidQuery; LeaseLost where another process has taken the effect's call over.
    """
    if not isinstance(context, EffectContext):
        raise NotAllowedHere("toa.sweep is for effects", hint="a transition is swept by `query` of its pulse")
    return _Sweep(context, criteria, limit, each, sort, seconds).run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    item: Any
    name: UUID
    """Of the object in the history of this sweep."""


class _Sweep:
    def __init__(
        self,
        context: EffectContext,
        criteria: Criteria,
        limit: int,
        each: Callable[[Any], Any],
        sort: Names | None,
        seconds: float | None,
    ) -> None:
        operation = context._operation
        entity = operation.component.spec.entity
        if entity is None:
            raise InvalidQuery(f"{operation.endpoint}: a sweep needs an entity")
        if type(limit) is not int or not 1 <= limit <= MAX_LIMIT:
            raise InvalidQuery(f"limit: 1 to {MAX_LIMIT}")
        self._context = context
        self._endpoint = operation.endpoint
        self._component: Component = operation.component
        self._each = each
        self._limit = limit
        self._page = max(limit, PAGE)
        self._query = {"criteria": criteria, "sort": sort, "limit": self._page}
        self._order = parse_query({"sort": sort}, entity).order
        self._ends = time.monotonic() + (operation.spec.timeout_ms / 2000 if seconds is None else seconds)
        self._counts = Swept(made=0, refused=0, failed=0, left=0, errors=[])

    def run(self) -> Swept:
        fresh, stumbled = self._found()
        places = self._limit - min(len(stumbled), self._limit // KEPT)
        turns = [*fresh[:places], *stumbled]
        begun = 0
        for one in turns[: self._limit]:
            if time.monotonic() >= self._ends:
                break
            begun += 1
            self._make(one)
            show(self._counts)
        self._counts["left"] = len(fresh) + len(stumbled) - begun
        return self._counts

    def _found(self) -> tuple[list[_Found], list[_Found]]:
        """What fits: the objects that did not fail of late, then the others, the longest ago first."""
        fresh: list[_Found] = []
        failed_at: dict[UUID, int] = {}
        stumbled: list[_Found] = []
        for page in self._pages():
            failed_at |= known((one.name for one in page), clock.clock().now())
            fresh += (one for one in page if one.name not in failed_at)
            stumbled += (one for one in page if one.name in failed_at)
            # One more than is needed tells whether any are left.
            if len(fresh) > self._limit or time.monotonic() >= self._ends:
                break
        return fresh, sorted(stumbled, key=lambda one: failed_at[one.name])

    def _pages(self) -> Iterator[list[_Found]]:
        seen: set[UUID] = set()
        query = self._query
        while len(seen) < LOOK:
            items = self._context.local.enumerate(query=query)
            page = [_Found(item=item, name=name_of(self._endpoint, self._entity(item))) for item in items]
            # A row with microseconds, written by hand, is met again behind its own cursor.
            page = [one for one in page if one.name not in seen]
            seen.update(one.name for one in page)
            if page:
                yield page
            if not page or len(items) < self._page:
                return
            query = {**self._query, "after": encode_cursor(self._order, items[-1])}

    def _make(self, one: _Found) -> None:
        counts = self._counts
        try:
            reply = self._each(one.item)
        except LeaseLost:
            raise
        except (NotFound, PreconditionFailed):
            counts["refused"] += 1
        except TookTooLong as error:
            # The effect's own time is up. It ends here, but not without a word on who took it.
            connection = connections[settings.alias()]
            if not connection.in_atomic_block:
                connection.close()  # it may have been ended in the middle of a statement
            self._failed(one, error)
            raise
        except Exception as error:
            self._failed(one, error)
        else:
            counts["refused" if isinstance(reply, Error) else "made"] += 1

    def _failed(self, one: _Found, error: BaseException) -> None:
        said = sentence(error)[:LONGEST_ERROR]
        entity = self._entity(one.item)
        logger.error(
            "%s failed for %s: %s",
            self._endpoint,
            entity,
            said,
            exc_info=error,
            extra={"action": "sweep_failure", "endpoint": self._endpoint, "entity": entity},
        )
        self._counts["failed"] += 1
        if len(self._counts["errors"]) < ERRORS:
            self._counts["errors"].append(f"{one.item['id']}: {said}")
        now = clock.clock().now()
        due = self._context.due
        remember(
            self._endpoint,
            entity,
            said,
            due=now if due is None else due,
            now=now,
            cause=self._context._call.cause,
        )

    def _entity(self, item: Mapping[str, Any]) -> str:
        return f"{self._component.locator}:{item['id']}"
