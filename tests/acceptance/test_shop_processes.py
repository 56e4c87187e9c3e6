"""The shop with real beat and worker processes: an order cancels itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shop.children import Child, beat, end_all, load, manage, worker
from store.orders.models import Order
from tests.orders.placing import fill, order, stock
from toa.cadence.processes import alive
from toa.models import Delay, Delivery, Failure, History

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

WITHIN_S = 30.0
LATEST_MS = 5_000
"""On a machine that has nothing else to do."""


@pytest.fixture
def shop(process_environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """Beat and a worker, up; gives a way to start other processes beside them."""
    # The project's own settings: those of the tests know nothing of the shop's environment.
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings", "TOA_SHOP_EXPIRY": "alarm", "TOA_SHOP_WINDOW": "2s"}
    environment = {**process_environment, **settings}
    children: list[Child] = []

    def start(name: str, command: list[str]) -> Child:
        children.append(Child(name, command, environment=environment, log=tmp_path / f"{name}.log"))
        return children[-1]

    try:
        crew = [start("beat", beat()), start("worker", worker("worker", "toa,toa.calls,celery", 1))]
        wait_for(lambda: bool(alive("beat") and alive("worker")), crew)
        yield start
    finally:
        end_all(children)


def test_an_unpaid_order_is_cancelled_by_its_alarm_and_its_goods_come_back(shop, tmp_path):
    fill("tea", 10)
    (tmp_path / "orders.csv").write_text("reference,customer,product,quantity,total\nA-1,anna,tea,4,10.00\n")

    importing = shop("import", manage("shop_import", str(tmp_path / "orders.csv"), "--json"))
    assert importing.end() == 0, importing.last_words()
    assert json.loads(importing.last_words(1))["created"] == 1
    identity = Order.objects.get().id.hex
    wait_for(lambda: stock("tea").reserved == {identity: 4} or order(identity).status != "pending", [])

    wait_for(lambda: order(identity).status == "cancelled" and not stock("tea").reserved, [])
    cancelled = order(identity)
    assert (cancelled.reason, cancelled.VERSION) == ("EXPIRED", 2)
    assert (stock("tea").available, stock("tea").reserved) == (10, {})
    wait_for(lambda: not Delay.objects.exists() and not Delivery.objects.exists(), [])
    assert not Failure.objects.exists()
    made = History.objects.filter(outcome="made").exclude(source="pulse")
    assert sorted(made.values_list("source", "endpoint")) == [
        ("delay", "store.orders.cancel"),
        ("delivery", "fulfilment.stock.release"),
        ("delivery", "fulfilment.stock.reserve"),
    ]
    alarm = made.get(source="delay")
    assert cancelled.UPDATED >= alarm.due_at.timestamp() * 1000
    assert alarm.lateness_ms <= LATEST_MS * load()


def wait_for(fact: Callable[[], bool], crew: list[Child]) -> None:
    """Return once it is so; fail with a process's last words where one of them died, or after a while."""
    give_up = time.monotonic() + WITHIN_S
    while not fact():
        for child in crew:
            assert not child.is_over(), child.last_words()
        assert time.monotonic() < give_up, "it did not happen in time"
