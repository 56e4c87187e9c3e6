"""Sending a settled event to its receiver once more."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import transaction

from toa.cadence.calls.rows import fresh
from toa.cadence.reports.deliveries import history_of
from toa.core.clock import to_datetime
from toa.core.identity import uuid7
from toa.exceptions import Conflict, NotFound
from toa.models import Delivery
from toa.runtime import bindings, clock, settings, waking
from toa.runtime.requests import check_storable
from toa.runtime.sql import insert_rows

logger = logging.getLogger("toa.cadence")

REPLAY = "toa.replay_delivery"
"""The permission to send a settled event again."""


def replay(identity: UUID, by: str) -> UUID:
    """Send a settled event to its receiver once more, as it was; returns the id of the new call.

    It is another call under another key, beside the order of events: a receiver that took the first will take this
    one too. Raises NotFound where there is no such event, Conflict while it is on its way or where what it asked for
    was not kept, InvalidInput where the receiver does not take it any more.
    """
    now = clock.clock().now()
    if Delivery.objects.using(settings.alias()).filter(id=identity).exists():
        raise Conflict(f"the event {identity.hex} is still on its way", hint="retry its failure, or wait")
    line = history_of(identity).first()
    if line is None:
        raise NotFound(f"no event arrived under {identity.hex}, or its history was pruned")
    if line.request is None:
        raise Conflict(f"what the event {identity.hex} asked for was not kept: it was never made")
    check_storable(bindings.operation(line.endpoint), line.request)
    new = uuid7()
    moment = to_datetime(now)
    cause = {"event": (line.cause or {}).get("event"), "replays": identity.hex, "replayed_by": by}
    with transaction.atomic(using=settings.alias()):
        row = fresh(new, line.endpoint, line.request, due=now, now=now, cause=cause)
        insert_rows("toa_delay", [row | {"source": "send", "entity": line.entity}])
        waking.after_commit(moment, moment)
    logger.info(
        "the event %s is sent to %s again, by %s",
        identity.hex,
        line.endpoint,
        by,
        extra={"action": "replay", "call": new.hex, "entity": line.entity, "by": by},
    )
    return new
