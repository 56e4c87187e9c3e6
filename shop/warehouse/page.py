"""What the outside holds, as a page for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from itertools import islice
from typing import Any

ROWS = 200
"""Of each table."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Warehouse</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }}
table {{ border-collapse: collapse; margin-bottom: 2rem }}
caption {{ text-align: left; font-weight: 600; padding: .3rem 0 }}
td, th {{ border-bottom: 1px solid #8884; padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top }}
</style></head><body>
<h1>Warehouse, courier and payment provider</h1>
<p>A simulation. Everything as JSON: <a href="/ledger">/ledger</a>. Faults: <code>GET</code> and
<code>POST /faults</code>, shelves: <code>POST /shelves</code>.</p>
{tables}
</body></html>
"""


def page(ledger: Mapping[str, Any], faults: Mapping[str, Any]) -> str:
    """The page; both as `whole()` has them."""
    settings = {name: value for name, value in faults.items() if name not in ("met", "asked", "next")}
    recent = [(_clock(one["at"]), one["product"], one["available"], one["why"]) for one in reversed(ledger["recent"])]
    picks = [
        (pick["order"], pick["product"], pick["quantity"], pick["status"], _clock(pick["picked"]))
        for pick in reversed(ledger["picks"].values())
    ]
    bookings = [(one["booking"], one["order"], one["key"]) for one in reversed(ledger["bookings"])]
    refunds = [(one["refund"], one["order"], one["amount"], one["key"]) for one in reversed(ledger["refunds"])]
    tables = (
        _table("Faults", settings, [settings.values()], 1),
        _table("Faults met", ("fault", "how often"), ((name, n) for name, n in faults["met"].items() if n), None),
        _table("Requests", ("kind", "how many"), faults["asked"].items(), None),
        _table("Shelves", ("product", "available"), sorted(ledger["shelves"].items()), len(ledger["shelves"])),
        _table("Latest changes", ("at", "product", "available", "why"), recent, len(recent)),
        _table("Orders", ("order", "product", "quantity", "status", "picked at"), picks, len(picks)),
        _table("Bookings", ("booking", "order", "key"), bookings, len(bookings)),
        _table("Refunds", ("refund", "order", "amount", "key"), refunds, len(refunds)),
    )
    return _PAGE.format(tables="\n".join(tables))


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[Any]], count: int | None) -> str:
    shown = list(islice(rows, ROWS))
    of = f" ({len(shown)} of {count})" if count is not None and count > len(shown) else ""
    lines = ["<tr>", *(f"<th>{escape(name)}</th>" for name in head), "</tr>"]
    for row in shown:
        lines += ["<tr>", *(f"<td>{escape(str(cell))}</td>" for cell in row), "</tr>"]
    return f"<table><caption>{escape(title)}{of}</caption>{''.join(lines)}</table>"


def _clock(moment: int | None) -> str:
    return "" if moment is None else f"{datetime.fromtimestamp(moment / 1000, UTC):%H:%M:%S}"
