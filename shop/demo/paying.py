"""The demo's customers: who pays, and when within the window."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection

import toa

IN_TIME = 0.40
"""This share of the orders is paid well within the window."""
AT_THE_LAST_MOMENT = 0.08
"""This share is paid around the very moment at which the order is cancelled: one of the two wins."""

_RECENT = """
SELECT id, reference, extract(epoch FROM statement_timestamp() - created_at)
  FROM store_orders_order WHERE created_at > statement_timestamp() - %s * interval '1 second'
"""


@dataclass(slots=True, kw_only=True)
class Customers:
    """They look at their orders now and then, and pay those whose moment has come, each once."""

    window_s: float
    accepted: list[UUID] = field(default_factory=list)
    """Orders whose payment the shop took."""
    refused: list[UUID] = field(default_factory=list)
    """Orders whose payment came too late."""

    def pay(self) -> None:
        """Pay what is to be paid now."""
        with connection.cursor() as cursor:
            # Twice the window: nobody pays later, and a pause of this process makes nobody miss their moment.
            cursor.execute(_RECENT, [2 * self.window_s])
            recent = cursor.fetchall()
        tried = {*self.accepted, *self.refused}
        for identity, reference, age_s in recent:
            moment_s = paying_moment(reference, self.window_s)
            if identity in tried or moment_s is None or float(age_s) < moment_s:
                continue
            reply = toa.call("store.orders.approve", id=identity.hex)
            (self.refused if isinstance(reply, toa.Error) else self.accepted).append(identity)


def paying_moment(reference: str, window_s: float) -> float | None:
    """How many seconds after it was placed the order is paid, or null for never. The same in every run."""
    luck = int.from_bytes(hashlib.sha256(reference.encode()).digest()[:4]) / 2**32
    if luck < IN_TIME:
        return window_s * (0.3 + luck / IN_TIME * 0.5)
    if luck < IN_TIME + AT_THE_LAST_MOMENT:
        # A tenth of a second before the moment to as much after it.
        return window_s - 0.1 + (luck - IN_TIME) / AT_THE_LAST_MOMENT * 0.2
    return None
