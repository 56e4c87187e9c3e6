"""What the demo and the import show, on a terminal and into a pipe."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from io import StringIO

import pytest
from rich.console import Console

from shop.demo.screen import Lines, Live, screen
from shop.demo.watching import Happening, Standing
from shop.importing import Handled, Outcome
from shop.reporting import Bar
from shop.sheet import Row

STANDING = Standing(orders=9, pending=1, approved=3, expired=4, out_of_stock=1, delays=2, deliveries=5, due=0)


def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    out = StringIO()
    monkeypatch.setattr("rich.console.Console", partial(Console, file=out, force_terminal=True, width=140))
    return out


def happening(reference: str, *, outcome: str = "made", lateness_ms: int = 8, second: int = 0) -> Happening:
    due = datetime(2026, 1, 5, 12, 0, second, 123_000, tzinfo=UTC)
    did = "order cancelled: EXPIRED" if outcome == "made" else "taken back: the order was paid"
    return Happening(
        at=due,
        what="alarm",
        endpoint="store.orders.cancel",
        outcome=outcome,
        due=due,
        lateness_ms=lateness_ms,
        whom=reference,
        did=did,
    )


def test_piped_output_sums_up_each_kind_of_call_with_its_lateness(capsys):
    with Lines() as lines:
        lines.show([happening("A-2", lateness_ms=30, second=1), happening("A-1", lateness_ms=10)], STANDING)
        lines.show([happening("A-3", outcome="cancelled", second=2)], STANDING)
        lines.say("SIGKILL to worker-1.")

    said = [line.partition(" s  ")[2] for line in capsys.readouterr().out.splitlines()]
    assert [" ".join(line.split()) for line in said] == [
        "2 x alarm store.orders.cancel order cancelled: EXPIRED; late by 20 ms, at most 30 ms;"
        " first A-1, due 12:00:00.123",
        "1 x alarm store.orders.cancel taken back: the order was paid; first A-3, due 12:00:02.123",
        "SIGKILL to worker-1.",
    ]


def test_a_terminal_shows_the_latest_and_how_things_stand(monkeypatch):
    out = terminal(monkeypatch)
    with Live() as live:
        live.say("Beat and workers are up [now].")
        live.show([happening(f"A-{number}") for number in range(40)], STANDING)
    shown = out.getvalue()

    assert "Beat and workers are up [now]." in shown
    assert "A-39" in shown
    assert "A-0 " not in shown
    assert "9 orders: 1 pending, 3 paid, 4 expired, 1 out of stock; stored: 2 delays, 5 deliveries" in shown


@pytest.mark.parametrize(("is_terminal", "kind"), [(True, Live), (False, Lines)])
def test_the_screen_fits_standard_output(monkeypatch, is_terminal, kind):
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)

    assert type(screen()) is kind


def test_a_terminal_shows_an_imports_progress_and_its_refusals(monkeypatch):
    out = terminal(monkeypatch)
    row = Row(number=17, cells={}, end=50)
    with Bar("orders.csv", 100, stderr=False) as bar:
        bar.row(Handled(row=row, outcome=Outcome.REFUSED, reason="quantity -3: [less] than 1"))

    assert "orders.csv:17: quantity -3: [less] than 1" in out.getvalue()
    assert "1 rows: 0 created, 0 already there, 1 refused" in out.getvalue()
    assert "50%" in out.getvalue()
