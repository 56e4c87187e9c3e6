"""Arming many in one go: as much work for the last as for the first, and one message to the database."""

import sys

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from toa.core.calling import fresh
from toa.core.identity import uuid7
from toa.models import Delay, History
from toa.runtime import arming

pytestmark = pytest.mark.django_db

ENDPOINT = "components.tallies.add"
NAMES = [
    pytest.param(lambda number: None, id="nameless"),
    pytest.param(lambda number: f"n{number}", id="named"),
    pytest.param(lambda number: f"n{number // 2}", id="named twice"),
]


def arm(number, name, now):
    request = {"query": {"id": uuid7().hex}, "input": {"by": 1}}
    call = fresh("")
    with transaction.atomic():
        delays = [
            arming.armed(call, now, ENDPOINT, request, interval="1h", overdue=None, key=name(place))
            for place in range(number)
        ]
        arming.store(delays, call, f"components.tallies:{uuid7().hex}", now)


def work(act):
    """How many functions are called while it runs: a measure that does not depend on the machine."""
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", NAMES)
def test_four_times_as_many_are_four_times_the_work(toa_clock, name):
    arm(10, name, toa_clock.now)
    few = work(lambda: arm(100, name, toa_clock.now))
    many = work(lambda: arm(400, name, toa_clock.now))
    assert many <= 4.2 * few


@pytest.mark.parametrize("name", NAMES)
def test_they_are_stored_by_one_statement(toa_clock, name):
    with CaptureQueriesContext(connection) as statements:
        arm(100, name, toa_clock.now)
    stored = [one["sql"] for one in statements if "INSERT INTO toa_delay" in one["sql"]]
    assert len(stored) == 1
    replaced = History.objects.filter(outcome="replaced").count()
    assert Delay.objects.count() + replaced == 100
    assert replaced == (50 if name(0) and name(0) == name(1) else 0)


@pytest.fixture
def store(toa_clock):
    """Arms under these keys for one object, in one transaction; gives the ids by key."""
    entity, request = f"components.tallies:{uuid7().hex}", {"query": {"id": uuid7().hex}, "input": {"by": 1}}

    def act(*keys):
        call = fresh("")
        delays = [
            arming.armed(call, toa_clock.now, ENDPOINT, request, interval="1h", overdue=None, key=key) for key in keys
        ]
        with transaction.atomic():
            arming.store(delays, call, entity, toa_clock.now)
        return {one.name: one.id for one in delays}

    return act


def test_of_several_named_at_once_only_those_whose_name_stands_replace_another(store):
    first = store("a", "b")
    second = store("b", None, "c", "a")
    assert dict(Delay.objects.values_list("name", "id")) == second
    assert set(History.objects.values_list("call", "outcome")) == {(one, "replaced") for one in first.values()}


def test_one_that_is_being_made_only_loses_its_name(store):
    leased = store("a")["a"]
    Delay.objects.update(token=uuid7())
    assert dict(store("a", "b") | {None: leased}) == dict(Delay.objects.values_list("name", "id"))
    assert not History.objects.exists()
