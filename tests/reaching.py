"""The simulated outside for tests of several components: all of them reach it over one real socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.test import override_settings

from shop.outside import connection
from shop.warehouse.ledger import Ledger
from shop.warehouse.server import Warehouse, serving
from toa.runtime import bindings

TOKEN = "s3cret-of-the-outside"
ASKING = ("fulfilment.warehouse", "fulfilment.courier", "store.payments")


@contextmanager
def reaching(ledger: Ledger | None = None, *, read: str = "300ms", **orders: Any) -> Iterator[Warehouse]:
    """An outside that answers while this lasts, and picks what is paid. `orders` is configuration of `store.orders`."""
    with serving(Warehouse(token=TOKEN, ledger=ledger)) as running:
        terms = {"address": running.address, "token": TOKEN, "connect": "1s", "read": read}
        values = {
            **settings.TOA["CONFIGURATION"],
            **dict.fromkeys(ASKING, terms),
            # The figures of the stock are another matter.
            "fulfilment.stock": {"grace": "365d"},
            "store.orders": {"picking": "warehouse", **orders},
        }
        with override_settings(TOA={**settings.TOA, "CONFIGURATION": values}):
            bindings.reset()
            try:
                yield running
            finally:
                connection.close()
        bindings.reset()
