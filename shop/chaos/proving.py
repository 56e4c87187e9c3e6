"""What must hold when a run is over, asked of the database in SQL and of the outside's own books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from shop.chaos.customers import Seen
from shop.chaos.plan import Plan
from shop.chaos.windows import LEASE_S, PULSE_S, SILENCE_S
from shop.demo.house import differences
from shop.demo.proving import Proof

USERS_MS = 5_000
"""No customer may wait longer, on a machine that has nothing else to do."""
SLACK_S = 3.0
"""For what a sweep does before it comes to an order."""
SHOWN = 3

_ORDERS = "SELECT replace(id::text, '-', ''), status, reason, total, updated_at FROM store_orders_order"
_REFUNDS = "SELECT replace(id::text, '-', ''), amount, reference FROM store_payments_refund"
_BOOKINGS = "SELECT replace(id::text, '-', ''), reference FROM fulfilment_courier_booking"
_ASKED_IN_VAIN = """
SELECT substr(entity, length('store.orders:') + 1), sum(count)::int FROM toa_history
 WHERE source = 'sweep' AND endpoint = 'store.orders.revive' GROUP BY entity
"""
_PULSES = """
SELECT outcome = 'made', extract(epoch FROM due_at) * 1000 + lateness_ms, extract(epoch FROM at) * 1000, count,
       coalesce((cause->'swept'->>'left')::int, 0)
  FROM toa_history WHERE source = 'pulse' AND endpoint = 'store.orders.revive' ORDER BY at
"""
_LEFT_OVER = """
SELECT (SELECT count(*) FROM toa_delay) + (SELECT count(*) FROM toa_delivery) + (SELECT count(*) FROM toa_lock)
"""
_ENDS = """
SELECT CASE WHEN status = 'packed' THEN 'packed' ELSE 'cancelled as ' || reason END AS how, count(*)
  FROM store_orders_order GROUP BY how ORDER BY how
"""
_FAILURES = "SELECT endpoint, count(*) FROM toa_failure GROUP BY endpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run knows beside the database."""

    plan: Plan
    seen: Seen
    ledger: Mapping[str, Any]
    load: float
    """How many processes wanted each core at the worst; where it is more than one, everything takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    status: str
    reason: str | None
    total: Any
    ended: int
    """When it changed last, epoch ms."""


@dataclass(frozen=True, slots=True)
class _Pulse:
    """A line of history of `revive`. Moments are epoch ms."""

    made: bool
    began: float
    at: float
    count: int
    left: int


def prove(facts: Facts) -> Iterator[Proof]:
    """Each thing that must hold, with what was found where it does not."""
    orders = {
        identity: _Order(status=status, reason=reason, total=total, ended=round(updated.timestamp() * 1000))
        for identity, status, reason, total, updated in _rows(_ORDERS)
    }
    packed = {identity for identity, order in orders.items() if order.status == "packed"}
    paid_back = {identity for identity in facts.seen.paid if orders[identity].status == "cancelled"}
    yield _proof(f"all {facts.plan.orders} orders are there", abs(len(orders) - facts.plan.orders), "too many or few")
    yield _proof(
        "every order came to its end: packed or cancelled",
        [one for one, order in orders.items() if order.status not in ("packed", "cancelled")],
    )
    yield _proof(
        "every unpaid order was cancelled, and no paid one as EXPIRED",
        [
            one
            for one, order in orders.items()
            if (
                order.reason == "EXPIRED" if one in facts.seen.paid else order.reason not in ("EXPIRED", "OUT_OF_STOCK")
            )
        ],
    )
    yield from _silent(facts, orders)
    yield from _outside(facts, orders, packed, paid_back)
    apart = [str(one) for one in differences(facts.ledger["shelves"])]
    yield _proof(f"shelves and copy agree for each of {len(facts.ledger['shelves'])} products, all quiet by now", apart)
    yield _proof("no redirect was followed", facts.ledger["strayed"], "requests strayed")
    yield _users(facts)
    yield _proof("no call is stored and no lock is held any more", _rows(_LEFT_OVER)[0][0], "are")
    others = [f"{count} of {endpoint}" for endpoint, count in _rows(_FAILURES) if endpoint != "store.orders.hand_over"]
    yield _proof("nothing failed for good but handing orders over, which revive makes up for", others)


def _outside(
    facts: Facts, orders: Mapping[str, _Order], packed: Collection[str], paid_back: Collection[str]
) -> Iterator[Proof]:
    ledger = facts.ledger
    picked = {order for order, pick in ledger["picks"].items() if pick["status"] == "picked"}
    yield _proof(f"each of {len(packed)} packed orders was picked outside", sorted(set(packed) - picked))
    ours = {one: (f"{amount:.2f}", reference) for one, amount, reference in _rows(_REFUNDS)}
    yield _proof(
        f"each of {len(paid_back)} paid orders that were given up is owed its amount, and no other",
        sorted(
            {one for one in {*ours, *paid_back} if (one in ours) != (one in paid_back)}
            | {one for one, (amount, _) in ours.items() if amount != f"{orders[one].total:.2f}"}
        ),
    )
    theirs = [(one["order"], (one["amount"], one["refund"])) for one in ledger["refunds"]]
    yield _proof(f"each of {len(ours)} refunds exists once outside, as it is written here", _unequal(ours, theirs))
    booked = dict(_rows(_BOOKINGS))
    yield _proof("each packed order has a booking, and no other order has", sorted(set(packed) ^ set(booked)))
    there = [(one["order"], one["booking"]) for one in ledger["bookings"]]
    yield _proof(f"each of {len(booked)} bookings exists once outside, as it is written here", _unequal(booked, there))


def _silent(facts: Facts, orders: Mapping[str, _Order]) -> Iterator[Proof]:
    """How long paid orders waited, and for what."""
    in_vain = dict(_rows(_ASKED_IN_VAIN))
    pulses = [_Pulse(*row) for row in _rows(_PULSES)]
    passed_by, late, longest_s = [], [], 0.0
    for identity, paid in facts.seen.paid.items():
        ended, answers = orders[identity].ended, in_vain.get(identity, 0)
        found = [one for one in pulses if one.made and one.began > paid + SILENCE_S * 1000 and one.at < ended]
        if len([one for one in found if not one.left]) > answers:
            passed_by.append(identity)
        not_called = sum(one.count for one in pulses if not one.made and paid < one.at < ended)
        waited_s = (ended - paid) / 1000
        longest_s = max(longest_s, waited_s)
        bound_s = SILENCE_S + PULSE_S * (1 + answers + not_called + len(found)) + LEASE_S + SLACK_S
        if waited_s > bound_s * facts.load:
            late.append(f"{identity} {waited_s:.1f} s")
    yield _proof(
        f"each paid order that was silent for {SILENCE_S} s was moved on by the next call of revive, or by the one"
        " after for each answer that did not come",
        passed_by,
    )
    yield _proof(
        f"no paid order was silent for longer than that, a pulse of {PULSE_S} s, one for each that was not called, and"
        f" what a kill costs; the longest for {longest_s:.1f} s",
        late,
    )


def _users(facts: Facts) -> Proof:
    bound_ms = USERS_MS * facts.load
    slow = [f"{what} {max(waits):.0f} ms" for what, waits in facts.seen.waits_ms.items() if max(waits) > bound_ms]
    return _proof(f"no customer waited longer than {bound_ms / 1000:.0f} s", slow)


def _unequal(ours: Mapping[str, Any], theirs: list[tuple[str, Any]]) -> list[str]:
    """Orders for which the two do not have the same, once."""
    times = Counter(order for order, _ in theirs)
    outside = dict(theirs)
    return sorted(one for one in {*ours, *outside} if times[one] != 1 or ours.get(one) != outside.get(one))


def _proof(claim: str, found: int | Collection[str], otherwise: str = "differ") -> Proof:
    if isinstance(found, int):
        return Proof(claim=claim, broken=f"{found} {otherwise}" if found else "")
    names = list(found)
    return Proof(claim=claim, broken=f"{len(names)} {otherwise}: {', '.join(names[:SHOWN])}" if names else "")


def _rows(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def failures() -> list[tuple[str, int]]:
    """What waits for a person: endpoint and how many."""
    return [(endpoint, count) for endpoint, count in _rows(_FAILURES)]


def ends() -> list[tuple[str, int]]:
    """How orders ended, and how many each way."""
    return [(how, count) for how, count in _rows(_ENDS)]
