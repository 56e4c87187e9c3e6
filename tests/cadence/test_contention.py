"""Several who do the same work, and people who come in between: no deadlock, no long wait, nothing twice."""

import threading
import time
from collections import defaultdict
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.db import connection, transaction

import toa
from store.orders.models import Order
from tests.components.hazards.behaviour import SEEN
from tests.components.hazards.models import Hazard
from tests.components.tallies.models import Tally
from tests.orders.placing import configured, fill, order, place
from tests.together import together
from toa.cadence.calls import suspects
from toa.cadence.calls.due import DELAYS
from toa.cadence.passes import Collected, run_pass, run_until_idle
from toa.cadence.processes import STAND_DOWN_MS, stands_down
from toa.models import Delay, Failure, History, Outcome, Process
from toa.runtime import clock
from toa.runtime.clock import SystemClock

pytestmark = pytest.mark.django_db(transaction=True)

HAZARDS, TALLIES = "components.hazards", "components.tallies"
LONGEST_WAIT = "200ms"


@pytest.mark.parametrize("rounds", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_D20_paying_an_order_while_its_alarm_fires(toa_clock, served, rounds):
    outcomes = defaultdict(int)
    with configured(expiry="alarm"):
        fill("tea", rounds)
        a_pass = time_of(fire)
        for number in range(rounds):
            identity = place(f"A-{number}")
            run_until_idle()
            toa_clock.set(toa_clock.now + 3_600_000)
            alarm = Delay.objects.get(entity=f"store.orders:{identity}")

            def act(who, identity=identity, number=number):
                if who == 1:
                    return fire()
                # A little later each time, so that they meet everywhere in the pass.
                later = time.monotonic() + a_pass * (number % 20) / 8
                while time.monotonic() < later:
                    round_trip()
                return pay(identity)

            paid, fired = together(2, act)
            assert not isinstance(fired, Exception), fired
            run_until_idle()
            row = order(identity)
            ending = (row.status, row.reason, History.objects.get(call=alarm.id).outcome)
            if paid is None:
                assert ending == ("approved", None, Outcome.CANCELLED)
            else:
                assert isinstance(paid, toa.Error), paid
                assert (paid.code, ending) == ("NOT_PENDING", ("cancelled", "EXPIRED", Outcome.MADE))
            outcomes[row.status] += 1
    assert Order.objects.count() == rounds
    assert (Delay.objects.count(), Failure.objects.count()) == (0, 0)
    assert len(outcomes) == 2, outcomes


def round_trip():
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def pay(identity):
    """As a view does: in a transaction of its own, which waits at most so long for a lock, or fails."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LONGEST_WAIT}'")
        return toa.call("store.orders.approve", id=identity)


def time_of(act):
    """Seconds that it takes, on this machine at this moment, once it has been done before."""
    act()
    began = time.monotonic()
    act()
    return time.monotonic() - began


def fire():
    try:
        return run_pass(Collected())
    finally:
        suspects.close()


@pytest.mark.parametrize("number", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_D9_many_due_in_one_millisecond_and_four_workers_that_fire_sets(toa_clock, served, number):
    rows = [toa.call(f"{TALLIES}.create", {"name": f"t{place}"})["id"] for place in range(20)]
    run_until_idle()
    with transaction.atomic():
        armed = [
            toa.delay(
                f"{TALLIES}.add",
                {"query": {"id": rows[place % len(rows)]}, "input": {"by": 1}},
                at=toa_clock.now + 1,
                overdue=None,
            )
            for place in range(number)
        ]
    toa_clock.set(toa_clock.now + 1)

    def work(who):
        try:
            while Delay.objects.exists():
                DELAYS.step(100, Collected())
        finally:
            suspects.close()

    assert [result for result in together(4, work, 300) if result] == []
    made = History.objects.filter(source="delay", outcome="made", attempt=1)
    assert sorted(made.values_list("call", flat=True)) == sorted(map(UUID, armed))
    assert list(Tally.objects.values_list("count", flat=True)) == [number // 20] * 20
    assert list(Tally.objects.values_list("version", flat=True)) == [number // 20 + 1] * 20
    assert Failure.objects.count() == 0
    assert not Process.objects.exclude(running=[]).exists()


def test_D9_four_workers_that_fire_one_by_one_take_the_oldest_first(toa_clock, served, settings):
    settings.TOA = {**django_settings.TOA, "SETWISE": False}
    number = 400
    SEEN.clear()
    rows = [toa.call(f"{HAZARDS}.create", {})["id"] for _ in range(20)]
    with transaction.atomic():
        armed = [
            toa.delay(
                f"{HAZARDS}.touch",
                {"query": {"id": rows[place % len(rows)]}, "input": {}},
                at=toa_clock.now + 1,
                overdue=None,
            )
            for place in range(number)
        ]
    toa_clock.set(toa_clock.now + 1)
    passes = defaultdict(list)

    def work(who):
        me = threading.get_ident()
        try:
            while Delay.objects.exists():
                began = sum(thread == me for thread, _ in SEEN)
                run_pass(Collected())
                passes[me].append([key for thread, key in SEEN if thread == me][began:])
        finally:
            suspects.close()

    assert [result for result in together(4, work, 120) if result] == []
    assert sorted(History.objects.filter(outcome="made", source="delay").values_list("call", flat=True)) == sorted(
        map(UUID, armed)
    )
    assert History.objects.filter(source="delay").exclude(attempt=1).count() == 0
    assert sum(Hazard.objects.values_list("count", flat=True)) == number
    assert Failure.objects.count() == 0
    assert sorted(key for _, key in SEEN) == sorted(armed)  # nobody ran what somebody else ran
    # Ids are in the order of arming; within a pass the oldest go first.
    assert all(keys == sorted(keys) for made in passes.values() for keys in made)
    assert not Process.objects.exclude(running=[]).exists()


def test_D12_a_worker_whose_clock_is_ahead_makes_nothing_early_and_stands_down(toa_clock, monkeypatch, caplog):
    """The clock of the host counts for nothing: the database says what is due."""
    identity = toa.call(f"{HAZARDS}.create", {})["id"]
    run_until_idle()
    with clock.use(SystemClock()):
        toa.delay(f"{HAZARDS}.touch", {"query": {"id": identity}, "input": {}}, interval="60s", overdue=None)
        wall = time.time
        monkeypatch.setattr(time, "time", lambda: wall() + 90)
        ahead = SystemClock()
        with clock.use(ahead):
            run_pass(Collected())
            assert Hazard.objects.get().count == 0
            assert Delay.objects.count() == 1
            assert ahead.skew_ms == pytest.approx(90_000, abs=5_000)
            assert ahead.skew_ms > STAND_DOWN_MS
            assert stands_down()
        assert "standing down" in caplog.text
