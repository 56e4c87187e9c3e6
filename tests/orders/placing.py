"""Orders for the tests, placed as anybody would place them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.test import override_settings

import toa
from toa.runtime import bindings


@contextmanager
def configured(**values: Any) -> Iterator[None]:
    """Put `values` in place of the configuration of `store.orders`."""
    with override_settings(TOA={**settings.TOA, "CONFIGURATION": {"store.orders": values}}):
        bindings.reset()
        yield
    bindings.reset()


def fill(product: str, available: int) -> None:
    """Give a product its first stock."""
    toa.call("fulfilment.stock.assign", {"available": available}, id=product, version=0)


def place(
    reference: str, *, product: str = "tea", quantity: int = 1, total: str = "10.00", customer: str = "anna"
) -> str:
    """Place an order; returns its id."""
    reply = toa.call(
        "store.orders.create",
        {"reference": reference, "customer": customer, "product": product, "quantity": quantity, "total": total},
        once=reference,
        check=True,
    )
    identity: str = reply.id
    return identity


def order(identity: str) -> Any:
    """The order as it is now."""
    return toa.call("store.orders.observe", id=identity)


def stock(product: str) -> Any:
    """The stock of a product as it is now."""
    return toa.call("fulfilment.stock.observe", id=product)
