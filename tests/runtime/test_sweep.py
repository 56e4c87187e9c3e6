"""`toa.sweep`: bounds, what fails, what failed before, and what history says."""

from __future__ import annotations

import pytest
from django.db import connection

import toa
from tests.components.beacons.models import Beacon
from tests.components.beacons.operations import tour
from toa.core.allowance import TookTooLong
from toa.exceptions import InvalidQuery, LeaseLost, LockTaken, NotAllowedHere, NotFound
from toa.models import History
from toa.runtime import sweeping
from toa.runtime.swept import watching

pytestmark = pytest.mark.django_db

TOUR, EXPIRE = "components.beacons.tour", "store.orders.expire"
DAY = 24 * 3_600_000
THIRTEEN = "ValueError: thirteen"


@pytest.fixture(autouse=True)
def asked(monkeypatch, toa_clock):
    """What the sweep of the test asks for."""
    monkeypatch.setattr(tour, "ASKED", {})
    return tour.ASKED


def beacons(*offsets: int) -> list[str]:
    """Open beacons: those that end in 13 fail, those that end in 7 refuse."""
    return [toa.call("components.beacons.create", {"until": 1000 + offset})["id"] for offset in offsets]


def setbacks():
    rows = History.objects.filter(source="sweep").order_by("at", "id")
    return [(row.entity.rpartition(":")[2], row.outcome, row.count, row.code) for row in rows]


def test_counts_tell_what_was_made_refused_and_left(asked):
    beacons(20, 7, 30, 40, 50)
    assert toa.call(TOUR) == {"made": 2, "refused": 1, "failed": 0, "left": 2, "errors": []}
    assert list(Beacon.objects.filter(open=False).values_list("seen", flat=True)) == [1, 1]


def test_a_failing_object_stops_nobody_and_stands_in_its_own_history(asked, caplog):
    _, poison, _ = beacons(10, 1013, 2000)
    reply = toa.call(TOUR)
    assert reply == {"made": 2, "refused": 0, "failed": 1, "left": 0, "errors": [f"{poison}: {THIRTEEN}"]}
    assert setbacks() == [(poison, "failed", 1, THIRTEEN)]
    (record,) = [record for record in caplog.records if record.name == "toa.sweeping"]
    assert record.entity == f"components.beacons:{poison}"
    assert record.exc_info[0] is ValueError


def test_poison_at_the_head_goes_last_and_the_others_are_reached(asked, toa_clock):
    poison = beacons(13, 1013, 2013)
    sound = beacons(5000, 6000, 7000)
    assert toa.call(TOUR)["failed"] == 3
    toa_clock.set(toa_clock.now + 300_000)
    assert toa.call(TOUR) == {"made": 3, "refused": 0, "failed": 0, "left": 3, "errors": []}
    assert set(Beacon.objects.filter(open=False).values_list("id", flat=True)) == {
        row.id for row in Beacon.objects.filter(id__in=sound)
    }
    toa_clock.set(toa_clock.now + 300_000)
    assert toa.call(TOUR)["failed"] == 3
    assert sorted(setbacks()) == sorted((one, "failed", 2, THIRTEEN) for one in poison), "one line for each object"


def test_those_that_failed_come_again_the_longest_ago_first_though_others_fill_the_limit(asked, toa_clock):
    asked["limit"] = 10
    first, second = beacons(13, 1013)
    toa.call(TOUR)
    toa_clock.set(toa_clock.now + 1)
    asked["criteria"] = f"open==true;id=={first}"
    toa.call(TOUR)
    beacons(*range(2000, 22_000, 1000))
    del asked["criteria"]
    toa_clock.set(toa_clock.now + 1)
    reply = toa.call(TOUR)
    assert reply == {"made": 9, "refused": 0, "failed": 1, "left": 12, "errors": [f"{second}: {THIRTEEN}"]}


def test_a_failure_is_forgotten_after_a_day(asked, toa_clock):
    (poison,) = beacons(13)
    toa.call(TOUR)
    toa_clock.set(toa_clock.now + DAY + 1)
    beacons(2000, 3000, 4000)
    assert toa.call(TOUR) == {"made": 2, "refused": 0, "failed": 1, "left": 1, "errors": [f"{poison}: {THIRTEEN}"]}
    assert setbacks() == [(poison, "failed", 1, THIRTEEN)] * 2


def test_no_object_is_begun_after_the_seconds_are_over(asked, monkeypatch):
    beacons(10, 20, 30)
    began = sweeping.time.monotonic()
    asked["seconds"] = 5

    class Clock:
        now = began

        @classmethod
        def monotonic(cls):
            return cls.now

    def each(beacon):
        Clock.now += 4

    asked["each"] = each
    monkeypatch.setattr(sweeping, "time", Clock)
    assert toa.call(TOUR) == {"made": 2, "refused": 0, "failed": 0, "left": 1, "errors": []}


def test_it_reads_on_page_by_page_past_many_that_failed(asked, monkeypatch):
    monkeypatch.setattr(sweeping, "PAGE", 4)
    poison = beacons(*(1000 * number + 13 for number in range(6)))
    asked["limit"] = 6
    toa.call(TOUR)
    asked["limit"] = 2
    (sound,) = beacons(50_000)
    assert toa.call(TOUR)["made"] == 1
    assert toa.call("components.beacons.observe", id=sound).open is False
    monkeypatch.setattr(sweeping, "LOOK", 4)
    beacons(60_000)
    assert toa.call(TOUR)["made"] == 0, "no more than so many are looked at"
    assert len({entity for entity, *_ in setbacks()}) == len(poison)


def test_one_written_by_hand_with_microseconds_is_met_once(asked, monkeypatch):
    monkeypatch.setattr(sweeping, "PAGE", 1)
    (identity,) = beacons(10)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE components_beacons_beacon SET until = until + interval '500 microseconds'")
    asked["limit"] = 1
    met = []
    asked["each"] = lambda beacon: met.append(beacon.id)
    assert toa.call(TOUR)["left"] == 0
    assert met == [identity]


@pytest.mark.parametrize(
    ("error", "refused", "failed"),
    [(NotFound("gone"), 2, 0), (toa.PreconditionFailed("it is at version 3"), 2, 0), (LockTaken("held"), 0, 2)],
)
def test_what_is_gone_or_changed_meanwhile_is_refused(asked, error, refused, failed):
    beacons(10, 20)

    def each(beacon):
        raise error

    asked["each"] = each
    reply = toa.call(TOUR)
    assert (reply.made, reply.refused, reply.failed) == (0, refused, failed)


def test_a_lost_lease_ends_it(asked):
    beacons(10, 20)
    met = []

    def each(beacon):
        met.append(beacon)
        raise LeaseLost("another has it")

    asked["each"] = each
    with pytest.raises(LeaseLost):
        toa.call(TOUR)
    assert (len(met), setbacks()) == (1, [])


def test_the_object_that_took_all_the_time_is_last_the_next_time(asked):
    slow, other = beacons(10, 20)
    met = []

    def each(beacon):
        met.append(beacon.id)
        if beacon.id == slow:
            raise TookTooLong("took longer than 30000 ms")

    asked["each"] = each
    with pytest.raises(TookTooLong):
        toa.call(TOUR)
    with pytest.raises(TookTooLong):
        toa.call(TOUR)
    assert met == [slow, other, slow]


def test_it_is_watched_going_on(asked):
    beacons(10, 20, 30)
    seen = []
    with watching(lambda counts: seen.append(counts["made"])):
        toa.call(TOUR)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("limit", [0, 1001, True, 2.5, None])
def test_a_limit_is_one_to_a_thousand(asked, limit):
    asked["limit"] = limit
    with pytest.raises(InvalidQuery, match="limit: 1 to 1000"):
        toa.call(TOUR)


def test_it_is_refused_where_nothing_can_be_called():
    with pytest.raises(NotAllowedHere, match="for effects"):
        toa.sweep(object(), criteria="open==true", limit=1, each=print)
