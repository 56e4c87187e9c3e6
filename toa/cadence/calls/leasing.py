"""Running a stored effect under a lease: claim, run with no transaction open, settle if the token still holds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

from django.db import transaction

from toa.cadence.calls.firing import NOT_FOUND, call_of, check_chain, expired
from toa.cadence.calls.leases import running
from toa.cadence.calls.live import Kind, Live
from toa.cadence.calls.settling import DIED, STRIKES, fail, settle, settle_error, settle_reply
from toa.cadence.processes import capacity, most_at_once
from toa.cadence.source import BACKSTOP_MS, Hint
from toa.core.calling import Lease
from toa.core.error import Error
from toa.exceptions import LeaseLost, NotFound
from toa.models import Outcome
from toa.runtime import bindings, clock, settings
from toa.runtime.calls import perform
from toa.runtime.requests import prepare, split

logger = logging.getLogger("toa.cadence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The hints of one pass."""

    hints: list[Hint]
    left: bool = False
    """Whether more is due that nobody was told of: as many know of a call as can run one."""


def hint_due(kind: Kind, endpoints: list[str], limit: int, since: int | None) -> Told:
    """Move due effects on by the backstop and give a hint for each; those that struck out become failures.

    Of a backlog no more is moved on than workers can take within that time, for each endpoint: the others stay due,
    where whoever is done with a call finds them.
    """
    now = clock.clock().now()
    told = kind.told(endpoints, since, BACKSTOP_MS, limit) if endpoints else {}
    hints: list[Hint] = []
    left = False
    if told:
        with transaction.atomic(using=settings.alias()):
            for quota, some in _quotas(told, limit).items():
                pushed = kind.push(some, now + BACKSTOP_MS, quota, since)
                left = left or (quota < limit and len(pushed) >= quota)
                for live in pushed:
                    if live.strikes >= STRIKES:
                        fail(kind, live, DIED, "", live.due, now)
                    else:
                        hints.append(Hint(kind.name, live.endpoint))
    return Told(hints=hints, left=left)


def _quotas(told: Mapping[str, int], limit: int) -> dict[int, list[str]]:
    """How many calls of which endpoints are moved on: one at least, since what waits for another try counts as told."""
    known = capacity()
    most = min(known, limit) if known else limit
    quotas: dict[int, list[str]] = {}
    for endpoint, count in told.items():
        quotas.setdefault(max(1, most - count), []).append(endpoint)
    return quotas


def run_next(kind: Kind, endpoint: str, *, renew: bool) -> bool:
    """Claim the oldest waiting call of the endpoint and run it; false where there is none."""
    operation = bindings.operation(endpoint)
    if kind.leased(endpoint) >= most_at_once():
        return False  # it is hinted again in a second, and by each that ends before
    # Read last: on a busy machine a pass moves what is due on by a second while this one finds out whether it may.
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        live = kind.lease(endpoint, uuid4(), now, now + operation.spec.lease_ms, BACKSTOP_MS)
        if live is None:
            return False
        if expired(live, now):
            settle(kind, live, Outcome.EXPIRED, "overdue", now, now)
            return True
    run(kind, live, renew=renew)
    return True


def run(kind: Kind, live: Live, *, renew: bool) -> tuple[object, Exception | None]:
    """Run a leased call and settle it; returns what it replied, and what it raised."""
    operation = bindings.operation(live.endpoint)
    now = clock.clock().now()
    assert live.token is not None
    lease = Lease(table=kind.table, id=live.id, token=live.token)
    reply: object = None
    failed: Exception | None = None
    try:
        with running(lease, operation.spec, renewing=renew):
            check_chain(live)
            request = prepare(operation, *split(live.request))
            reply = perform(operation, request, replace(call_of(live), lease=lease))
    except NotFound:
        reply = Error(NOT_FOUND)
    except Exception as error:
        failed = error
    finish(kind, live, reply, failed, now)
    return reply, failed


def finish(kind: Kind, live: Live, reply: object, failed: Exception | None, started: int) -> None:
    """Settle a leased call; one whose token was withdrawn or passed on is left to whoever has it."""
    if isinstance(failed, LeaseLost):
        logger.warning("%s lost its lease", live.endpoint, extra={"action": "lease_lost", "call": live.id.hex})
        return
    operation = bindings.operation(live.endpoint).spec
    now = clock.clock().now()
    with transaction.atomic(using=settings.alias()):
        if not kind.hold(live):
            logger.warning(
                "%s ended without its lease", live.endpoint, extra={"action": "lease_lost", "call": live.id.hex}
            )
        elif failed is not None:
            settle_error(kind, live, failed, operation, started, now)
        else:
            settle_reply(kind, live, reply, started, now)
