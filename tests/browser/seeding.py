"""A shop in the middle of its day, for pictures of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.test import override_settings
from django.utils import timezone

import toa
from tests.orders.placing import fill, place
from toa.cadence.passes import Collected, run_pass
from toa.models import Failure, History
from toa.runtime import bindings

PRODUCTS = ("tea", "coffee", "cocoa", "mate", "honey")
HOUR_M = 60

TRACEBACK = """\
Traceback (most recent call last):
  File "toa/cadence/calls/firing.py", line 121, in _conclude
    decision = conclude(operation, request, call, entry)
  File "toa/runtime/deciding.py", line 96, in conclude
    reply = _run(operation, request, [entry], context)
  File "fulfilment/stock/operations/reserve.py", line 14, in transition
    entry.available -= input.quantity
ValueError: 'available' would be -3, and the schema says minimum: 0
"""


def seed() -> dict[str, str]:
    """Fill an empty database; the ids of an order that waits, of one under a process, and of a failure."""
    for product in PRODUCTS:
        fill(product, 5_000)
    for number in range(220):
        # More in the next hours than later, as a shop has them.
        _order(number, "alarm", 12 + number**2 // 32)
    for number in range(220, 300):
        _order(number, "process", 20 + (number - 220) * 19)
    waiting = _order(301, "alarm", HOUR_M + 7)
    process = _order(302, "process", 26 * HOUR_M)
    for number in range(310, 322):
        _order(number, "sweep", HOUR_M)
    while run_pass(Collected()).settled:
        pass
    _paid(waiting)
    return {"order": waiting, "process": process, "failure": _failures()}


def _order(number: int, expiry: str, window_m: int) -> str:
    """Place an order that is paid within so many minutes, or not at all."""
    of_orders = {"expiry": expiry, "window": f"{window_m}m"}
    with configured(of_orders, lifecycle={"payment": f"{window_m}m", "every": f"{max(20, window_m // 2)}m"}):
        identity = place(f"A-{1000 + number}", product=PRODUCTS[number % 5], quantity=1 + number % 4, total="24.90")
        while expiry == "process" and run_pass(Collected()).settled:
            pass  # its process begins with the configuration of now
    return identity


@contextmanager
def configured(orders: dict[str, str], lifecycle: dict[str, str]) -> Iterator[None]:
    """Put values in place of the configuration of both components."""
    values = {"store.orders": orders, "store.lifecycle": lifecycle}
    with override_settings(TOA={**settings.TOA, "CONFIGURATION": values}):
        bindings.reset()
        yield
    bindings.reset()


def _paid(waiting: str) -> None:
    """Some orders were paid, so that their alarms are in the history as cancelled."""
    orders = toa.call("store.orders.enumerate", criteria="status==pending;alarm!=null", limit=12, sort="reference")
    for one in orders:
        if one.id != waiting:
            toa.call("store.orders.approve", id=one.id)


def _failures() -> str:
    now = timezone.now()
    made = [
        _failure(now - timedelta(minutes=minutes), endpoint, entity, error)
        for minutes, endpoint, entity, error in (
            (190, "fulfilment.stock.release", "fulfilment.stock:mate", "KeyError: 'mate'"),
            (45, "store.payments.refund", "store.orders:0193f0a07c5b7c3e9d8f000000000002", "TimeoutError: no answer"),
            (6, "fulfilment.stock.reserve", "fulfilment.stock:tea", TRACEBACK.splitlines()[-1]),
        )
    ]
    return made[-1].pk.hex


def _failure(at: Any, endpoint: str, entity: str, error: str) -> Failure:
    call = uuid4()
    common = {"call": call, "source": "delivery", "endpoint": endpoint, "entity": entity, "due_at": at, "at": at}
    request = {"input": {"order": uuid4().hex, "quantity": 5}, "query": {"id": entity.rpartition(":")[2]}}
    row: dict[str, Any] = {"chain": [], "cause": {"endpoint": "store.orders.create"}}
    History.objects.create(**common, outcome="failed", code=error[:200], lateness_ms=4, attempt=3)
    return Failure.objects.create(
        **common, request=request, error=error, traceback=TRACEBACK, attempts=3, row=row
    )  # fmt: skip
