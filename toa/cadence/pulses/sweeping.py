"""Declared sweeps: a pulse that names a transition, whom to call it for, and with what."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from toa.core.calling import Call
from toa.core.error import Error
from toa.core.identity import derive
from toa.core.query import parse_query
from toa.exceptions import InvalidQuery, LeaseLost, NotFound
from toa.runtime.bindings import Operation
from toa.runtime.calls import execute
from toa.runtime.selecting import select_ids
from toa.runtime.swept import show

logger = logging.getLogger("toa.cadence")


def sweep(operation: Operation, query: Mapping[str, Any], input: Any, call: Call) -> dict[str, Any]:
    """Call a transition for each object of the query, each in a transaction of its own; returns the counts.

    The criteria are looked at again under each row's lock: what stopped fitting since is left out. One object that
    fails does not stop the rest; it is logged, and comes again at the next boundary while it still fits.
    """
    entity = operation.component.spec.entity
    if entity is None:
        raise InvalidQuery(f"{operation.endpoint}: a sweep needs an entity")
    parsed = parse_query(query, entity, allow_now=True, limit_required=True)
    counts: dict[str, Any] = {"made": 0, "refused": 0, "failed": 0, "passed": 0}
    for identity in select_ids(operation.component, parsed):
        one = {"id": identity, "criteria": parsed.criteria} if parsed.criteria is not None else {"id": identity}
        nested = Call(
            endpoint=operation.endpoint,
            key=derive(call.key, operation.endpoint, identity, 0),
            due=call.due,
            caller=call.caller,
            cause=call.cause,
            lease=call.lease,
        )
        try:
            reply = execute(operation, input, one, nested)
        except NotFound:
            counts["passed"] += 1
        except LeaseLost:
            raise
        except Exception:
            logger.exception(
                "%s failed for %s", operation.endpoint, identity, extra={"action": "sweep_failure", "entity": identity}
            )
            counts["failed"] += 1
        else:
            counts["refused" if isinstance(reply, Error) else "made"] += 1
        show(counts)
    return counts
