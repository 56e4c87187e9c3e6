"""Three letters over fourteen days, for as long as the customer has not ordered."""

from __future__ import annotations

import pytest
from django.core import mail

import toa
from tests.orders.placing import fill, place
from toa import Error
from toa.models import EndedRun, Pulse, Run

WELCOME = "loyalty.welcome"


@pytest.fixture
def shop(db, toa_clock):
    Pulse.objects.update(wake_at=None)
    fill("tea", 100)
    return toa_clock


def join(customer: str = "ada"):
    return toa.call("loyalty.join", {"email": f"{customer}@example.org"}, id=customer)


def subjects() -> list[str]:
    return [message.subject for message in mail.outbox]


def test_a_member_is_written_to_at_once_after_four_days_and_after_fourteen(shop):
    join()
    shop.run_until_idle()
    assert subjects() == ["Welcome"]
    shop.advance("3d23h")
    assert len(mail.outbox) == 1
    shop.advance("1h")
    assert subjects()[1:] == ["Three deliveries a month are free"]
    shop.advance("10d")
    assert subjects()[2:] == ["Silver begins at 500 points"]
    assert [message.to for message in mail.outbox] == [["ada@example.org"]] * 3
    assert len({message.extra_headers["Message-ID"] for message in mail.outbox}) == 3
    assert EndedRun.objects.get(endpoint=WELCOME).result == {"sent": 3, "ordered": False}


def test_nothing_is_written_any_more_once_the_customer_has_ordered(shop):
    join("cust-1")
    shop.run_until_idle()
    shop.advance("2d")
    place("A-1", customer="cust-1")
    place("A-2", customer="somebody else")
    shop.advance("30d")
    assert subjects() == ["Welcome"]
    assert EndedRun.objects.get(endpoint=WELCOME).result == {"sent": 1, "ordered": True}


def test_who_joins_twice_is_welcomed_once(shop):
    join()
    assert join() == Error("MEMBER")
    shop.run_until_idle()
    assert Run.objects.filter(endpoint=WELCOME).count() == 1
    assert subjects() == ["Welcome"]


def test_who_left_meanwhile_is_not_written_to(shop):
    join()
    shop.run_until_idle()
    toa.call("loyalty.terminate", id="ada")
    shop.advance("30d")
    assert subjects() == ["Welcome"]
    assert EndedRun.objects.get(endpoint=WELCOME).outcome == "made"
