"""The simulated outside by itself: it remembers, it forgets nothing at a kill, and it misbehaves as it is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from shop.environment import TOKEN
from shop.warehouse.drifting import Drift
from shop.warehouse.faults import FAMILIES, Faults, Settings, UnfitSetting
from shop.warehouse.journal import Journal
from shop.warehouse.ledger import Ledger, OtherRequest
from shop.warehouse.server import Warehouse, serving


@pytest.fixture
def customer():
    """A warehouse, and a client with its token."""
    with serving(Warehouse(token="t")) as warehouse:
        headers = {"Authorization": "Bearer t"}
        with httpx.Client(base_url=warehouse.address, headers=headers, timeout=30) as client:
            yield client


def test_the_same_seed_meets_the_same_faults_as_often_as_it_is_told():
    rates = Settings(fail=0.1, hang=0.05, lie=0.2, lost=0.1, slow_ms=300)
    runs = [[Faults(seed=seed, settings=rates)] for seed in (1, 1, 2)]
    first, again, other = ([run[0].draw("booking", acts=True) for _ in range(1000)] for run in runs)
    reading = Faults(seed=1, settings=rates)

    assert first == again != other
    met = [draw.fault for draw in first]
    for name, share in (("fail", 0.1), ("hang", 0.05), ("lie", 0.2), ("lost", 0.1)):
        assert abs(sum(fault in FAMILIES[name] for fault in met) / 1000 - share) < 0.04
    assert all(0 <= draw.delay_s <= 0.3 for draw in first)
    assert "lost" not in {reading.draw("status", acts=False).fault for _ in range(1000)}


def test_settings_that_do_not_fit_change_nothing(customer):
    shares = [{"fail": 2}, {"fail": 0.6, "lie": 0.6}, {"slow_ms": "long"}]
    for wrong in (*shares, {"nope": 1}, {"next": ["x"]}, {"next": 1}):
        assert customer.post("/faults", json={"hang_s": 7, **wrong}).status_code == 400
    assert customer.get("/faults").json()["hang_s"] == 30.0
    with pytest.raises(UnfitSetting):
        Settings(drift=float("nan"))


def test_a_key_stands_for_one_request(customer):
    key = {"Idempotency-Key": "k"}
    for path, body, other, name in (
        ("/bookings", {"order": "o"}, {"order": "p"}, "booking"),
        ("/refunds", {"order": "o", "amount": "1.50"}, {"order": "o", "amount": "1.51"}, "refund"),
    ):
        replies = [customer.post(path, json=body, headers=key).json()[name] for _ in range(2)]
        assert len(set(replies)) == 1
        assert customer.post(path, json=other, headers=key).status_code == 409
        assert customer.post(path, json=body).status_code == 400
        assert customer.post(path, json=body, headers={"Idempotency-Key": "l"}).json()[name] not in replies
    assert httpx.get(f"{customer.base_url}/orders/o/status").status_code == 401


def test_the_page_shows_what_it_holds_as_text(customer):
    customer.post("/shelves", json={"<script>alert(1)</script>": 3, "tea": 5})

    page = customer.get("/").text
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_an_order_is_picked_when_somebody_comes_by_and_the_shelf_has_enough():
    now = [1_000]
    ledger = Ledger(picking_ms=500, now=lambda: now[0])
    ledger.set_shelves({"tea": 1, "mint": 5})
    ledger.pick("a", "tea", 2)
    ledger.pick("b", "mint", 2)
    assert (ledger.status("a")["status"], ledger.status("b")["status"]) == ("queued", "queued")

    now[0] += 500
    assert (ledger.status("a")["status"], ledger.status("b")["status"]) == ("queued", "picked")
    ledger.move("tea", 1, "found")
    assert ledger.status("a")["status"] == "picked"
    assert ledger.whole()["shelves"] == {"tea": 0, "mint": 3}
    with pytest.raises(OtherRequest):
        ledger.pick("a", "tea", 1)


def test_shelves_drift_alike_for_a_seed_within_their_names_and_never_below_nothing():
    def drifted() -> dict:
        ledger = Ledger()
        ledger.set_shelves({"beans-a": 2, "beans-b": 0, "tea": 5})
        drift = Drift(ledger, seed=3, settings=lambda: Settings(drifting="beans-"))
        seen = []
        for _ in range(60):
            drift.change_one()
            seen.append(ledger.whole()["shelves"])
        return seen

    assert drifted() == drifted()
    assert {shelves["tea"] for shelves in drifted()} == {5}
    assert min(min(shelves.values()) for shelves in drifted()) == 0


def test_what_was_written_before_a_kill_is_there_after_it(tmp_path: Path):
    path = tmp_path / "state"
    before = Ledger(journal=Journal(path))
    before.set_shelves({"tea": 5})
    before.pick("a", "tea", 2)
    booking, refund = before.book("k", "a"), before.refund("r", "a", "1.00")
    before.close()
    with path.open("ab") as file:
        file.write(b'{"what": "booking", "key": "half')

    after = Ledger(journal=Journal(path))
    assert (after.book("k", "a"), after.refund("r", "a", "1.00")) == (booking, refund)
    assert after.status("a")["status"] == "picked"
    after.book("l", "a")
    after.close()
    assert Ledger(journal=Journal(path)).whole()["bookings"][1]["key"] == "l"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("shelves", "told"),
    [
        (None, "cannot be read: No such file"),
        ("product;stock\ntea;1\n", "has no column 'available'"),
        ("product,available\ntea,3\nmint,-1\n", r"shelves\.csv:3: '-1' is no figure from 0 on"),
        ('product,available\n"tea,3\n', r"shelves\.csv:2: a quote is opened and not closed"),
    ],
)
def test_shelves_that_cannot_be_read_are_told(tmp_path: Path, shelves, told):
    file = tmp_path / "shelves.csv"
    if shelves is not None:
        file.write_text(shelves)

    with pytest.raises(CommandError, match=told):
        call_command("warehouse", "--port", "0", "--shelves", str(file))


def test_the_command_tells_its_address_serves_and_ends_when_it_is_asked_to(tmp_path: Path):
    shelves = tmp_path / "stock.csv"
    shelves.write_text("product,available\ntea,12\n")
    command = [sys.executable, "manage.py", "warehouse", "--port", "0", "--fail", "100%", "--shelves", str(shelves)]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, env={**os.environ, TOKEN: "t"}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().removeprefix("The warehouse listens at ").strip()
            reply = httpx.get(f"{address}/inventory", headers={"Authorization": "Bearer t"}, timeout=30)
        finally:
            process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()

    assert reply.status_code in (500, 503, 429)
    assert process.returncode == 0
    assert rest.endswith("The warehouse closes.\n")
