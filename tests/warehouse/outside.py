"""The simulated outside for the tests: over a real socket, with the shop's configuration pointed to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.test import override_settings

from shop.outside import connection
from shop.warehouse.server import Warehouse, serving
from toa.runtime import bindings

TOKEN = "s3cret-of-the-warehouse"
PATIENT = {"connect": "10s", "read": "10s", "whole": "20s"}
"""Waits that no machine needs."""
QUICK = {"connect": "1s", "read": "700ms", "whole": "1s"}
"""Waits for an outside that hangs."""


@contextmanager
def outside(
    warehouse: Warehouse | None = None, *, token: str = TOKEN, waits: dict[str, str] = PATIENT, **stock: Any
) -> Iterator[Warehouse]:
    """A warehouse that answers while this lasts. `stock` is configuration of `fulfilment.stock`."""
    with serving(warehouse or Warehouse(token=TOKEN)) as running:
        reached = {"address": running.address, "token": token, **waits}
        with configured(reached, stock):
            yield running


@contextmanager
def configured(warehouse: dict[str, Any], stock: dict[str, Any]) -> Iterator[None]:
    """Put values in place of the configuration of `fulfilment.warehouse` and of `fulfilment.stock`."""
    values = {
        **settings.TOA["CONFIGURATION"],
        "fulfilment.warehouse": warehouse,
        "fulfilment.stock": stock,
    }
    with override_settings(TOA={**settings.TOA, "CONFIGURATION": values}):
        bindings.reset()
        try:
            yield
        finally:
            connection.close()
    bindings.reset()
