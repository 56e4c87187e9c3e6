"""Rows of a file into the shop, through its operations: in batches of bounded size, and harmless when repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any

from django.db.models import Q

import toa
from shop.amounts import UnreadableFigure, read_amount, read_count
from shop.sheet import Row
from toa.exceptions import CallError, Conflict, InvalidInput, OnceMismatch, PreconditionFailed

ORDER_COLUMNS = ("reference", "customer", "product", "quantity", "total")
STOCK_COLUMNS = ("product", "available")
BATCH = 100
"""Rows that are looked up together."""

_CENTS = Decimal("0.00")


class Outcome(StrEnum):
    """What became of a row."""

    CREATED = "created"
    EXISTING = "already there"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """A row of the file, and what became of it."""

    row: Row
    outcome: Outcome
    reason: str = ""
    """Of a refused row: one line."""


class _Refusal(Exception):
    """Why a row is not taken, in one line."""


def import_orders(rows: Iterable[Row]) -> Iterator[Handled]:
    """Place each row's order, once for its reference.

    An order that is there already, with the same content, is left as it is; with another content it is refused.
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        orders: list[dict[str, Any] | _Refusal] = []
        for row in batch:
            try:
                orders.append(_order(row))
            except _Refusal as refusal:
                orders.append(refusal)
        known = _known([order["reference"] for order in orders if isinstance(order, dict)])
        for row, order in zip(batch, orders, strict=True):
            yield _handle(row, partial(_place, order, known))


def import_stock(rows: Iterable[Row]) -> Iterator[Handled]:
    """Give each row's product its first stock. What a product has already is left as it is."""
    for row in rows:
        yield _handle(row, partial(_fill, row))


def _handle(row: Row, act: Callable[[], Outcome]) -> Handled:
    try:
        return Handled(row=row, outcome=act())
    except _Refusal as refusal:
        return Handled(row=row, outcome=Outcome.REFUSED, reason=str(refusal))
    except InvalidInput as error:
        problems = [(pointer.removeprefix("/"), message) for pointer, message in error.problems]
        reasons = [f"{name} {_shown(row.cells.get(name, ''))}: {message}" for name, message in problems]
        return Handled(row=row, outcome=Outcome.REFUSED, reason="; ".join(reasons) or str(error))
    except CallError as error:
        return Handled(row=row, outcome=Outcome.REFUSED, reason=str(error))


def _place(order: dict[str, Any] | _Refusal, known: dict[str, dict[str, Any]]) -> Outcome:
    if isinstance(order, _Refusal):
        raise order
    reference = order["reference"]
    if reference not in known:
        try:
            reply = toa.call("store.orders.create", order, once=reference)
        except (Conflict, OnceMismatch):
            # Placed by somebody else since the batch was looked up.
            known.update(_known([reference]))
        else:
            if isinstance(reply, toa.Error):
                raise _Refusal(f"{reply.code}: {', '.join(f'{name} {value}' for name, value in reply.details.items())}")
            known[reference] = order
            return Outcome.CREATED
    before = known[reference]
    unequal = [name for name in ORDER_COLUMNS if before[name] != order[name]]
    if unequal:
        differences = ", ".join(f"{name} {before[name]}, here {order[name]}" for name in unequal)
        raise _Refusal(f"reference {_shown(reference)}: another order has it, with {differences}")
    return Outcome.EXISTING


def _known(references: list[str]) -> dict[str, dict[str, Any]]:
    """The content of those orders that are there, by reference."""
    if not references:
        return {}
    query = {"criteria": Q(reference__in=references), "limit": len(references), "projection": list(ORDER_COLUMNS)}
    return {order.reference: order for order in toa.call("store.orders.enumerate", query=query)}


def _fill(row: Row) -> Outcome:
    available = _figure(row, "available", read_count)
    try:
        toa.call("fulfilment.stock.assign", {"available": available}, id=row.cells["product"], version=0)
    except PreconditionFailed:
        return Outcome.EXISTING
    return Outcome.CREATED


def _order(row: Row) -> dict[str, Any]:
    order: dict[str, Any] = {name: _text(row, name) for name in ("reference", "customer", "product")}
    order["quantity"] = _figure(row, "quantity", read_count)
    # With the places that the shop keeps, so that one order is one request however its total is written.
    order["total"] = _figure(row, "total", read_amount) + _CENTS
    return order


def _text(row: Row, name: str) -> str:
    if row.problem:
        raise _Refusal(row.problem)
    return row.cells[name]


def _figure(row: Row, name: str, reader: Callable[[str], Any]) -> Any:
    text = _text(row, name)
    try:
        return reader(text)
    except UnreadableFigure as error:
        raise _Refusal(f"{name} {_shown(text)}: {error}") from None


def _shown(text: str) -> str:
    if not text:
        return "(empty)"
    return text if len(text) <= 40 else f"{text[:37]}…"
