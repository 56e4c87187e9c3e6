"""What the outside can be asked by its customers, over its ledger: each route checks its request by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from shop.warehouse.ledger import Ledger, OtherRequest

PAGE = 1_000
"""Products of one page of the inventory, at most."""

_AMOUNT = re.compile(r"[0-9]{1,18}\.[0-9]{2}")


class Refused(Exception):
    """A request that is answered with a status of its own, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    key: str
    """The idempotency key, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One thing that can be asked."""

    kind: str
    method: str
    path: re.Pattern[str]
    answer: Callable[[Ledger, Request, str], dict[str, Any]]
    acts: bool = False
    """Whether it does something; then it wants an idempotency key."""


def route_of(request: Request) -> tuple[Route, str]:
    """The route, and the order that its path names. Raises Refused with 404 or 405."""
    fitting = [(route, found) for route in ROUTES if (found := route.path.fullmatch(request.path))]
    if not fitting:
        raise Refused(404, "there is nothing here")
    for route, found in fitting:
        if route.method == request.method:
            if route.acts and not request.key:
                raise Refused(400, "an Idempotency-Key is wanted")
            return route, unquote(found[1]) if found.re.groups else ""
    raise Refused(405, f"this wants {' or '.join(route.method for route, _ in fitting)}")


def answer(ledger: Ledger, route: Route, request: Request, order: str) -> dict[str, Any]:
    """Do what is asked. Raises Refused."""
    try:
        return route.answer(ledger, request, order)
    except OtherRequest as error:
        raise Refused(409, str(error)) from error


def _inventory(ledger: Ledger, request: Request, order: str) -> dict[str, Any]:
    limit = request.query.get("limit", str(PAGE))
    if not re.fullmatch(r"[0-9]{1,4}", limit) or not 1 <= int(limit) <= PAGE:
        raise Refused(400, f"limit should be from 1 to {PAGE}")
    return ledger.inventory(request.query.get("after", ""), int(limit))


def _status(ledger: Ledger, request: Request, order: str) -> dict[str, Any]:
    return ledger.status(order)


def _pick(ledger: Ledger, request: Request, order: str) -> dict[str, Any]:
    quantity = _given(request, "quantity", int)
    if quantity < 1:
        raise Refused(400, "quantity should be 1 or more")
    return ledger.pick(order, _given(request, "product", str), quantity)


def _book(ledger: Ledger, request: Request, order: str) -> dict[str, Any]:
    return ledger.book(request.key, _given(request, "order", str))


def _refund(ledger: Ledger, request: Request, order: str) -> dict[str, Any]:
    amount = _given(request, "amount", str)
    if not _AMOUNT.fullmatch(amount):
        raise Refused(400, "amount should be text such as 12.50")
    return ledger.refund(request.key, _given(request, "order", str), amount)


def _given(request: Request, name: str, kind: type) -> Any:
    value = request.body.get(name) if isinstance(request.body, dict) else None
    if type(value) is not kind or value == "":
        raise Refused(400, f"{name} is wanted")
    return value


ROUTES = (
    Route(kind="inventory", method="GET", path=re.compile(r"/inventory"), answer=_inventory),
    Route(kind="status", method="GET", path=re.compile(r"/orders/([^/]+)/status"), answer=_status),
    Route(kind="pick", method="POST", path=re.compile(r"/orders/([^/]+)/pick"), answer=_pick, acts=True),
    Route(kind="booking", method="POST", path=re.compile(r"/bookings"), answer=_book, acts=True),
    Route(kind="refund", method="POST", path=re.compile(r"/refunds"), answer=_refund, acts=True),
)
