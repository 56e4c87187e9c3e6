"""Stored calls whose endpoint the code does not know: left for code that has it, and failures in the end."""

import json
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

import toa
from tests.components.claims.models import Claim
from tests.components.tallies.models import Tally
from tests.components.tallies.operations import report
from tests.deploying import deployed
from toa.cadence.actions import failures
from toa.cadence.calls import endpoints
from toa.cadence.calls.due import DELAYS, known_endpoints
from toa.cadence.calls.orphans import EVERY_MS, RETIRED_MS, UNKNOWN_MS
from toa.cadence.passes import Collected, run_pass
from toa.cadence.source import BACKSTOP_MS
from toa.cadence.sources import ORPHANS, horizon
from toa.cadence.syncing import sync
from toa.core.clock import to_datetime
from toa.models import Component, Delay, Delivery, Failure, History
from toa.runtime import clock
from toa.runtime.clock import SystemClock

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_else")]

TALLIES = "components.tallies"
REPORT = f"{TALLIES}.report"
HEAR = "components.claims.hear"
MINUTE, HOUR, DAY = 60_000, 3_600_000, 24 * 3_600_000


def arm(interval="1h", **more):
    return toa.delay(REPORT, {"input": {}}, interval=interval, overdue=None, **more)


def store(now, number=1, endpoint="components.tallies.tomorrow", **more):
    """Calls of an endpoint that no code of the tests has ever had."""
    moment = to_datetime(now)
    values = {"request": {"input": {}, "query": None}, "due_at": moment, "wake_at": moment, "created_at": moment}
    return Delay.objects.bulk_create([Delay(endpoint=endpoint, **{**values, **more}) for _ in range(number)])


def test_D8_a_call_whose_operation_a_deploy_retired_waits_ten_minutes_and_is_a_failure(toa_clock):
    identity = arm()
    with deployed(without=REPORT):
        sync()
        toa_clock.advance(HOUR + RETIRED_MS - 1)
        assert (Delay.objects.count(), Failure.objects.count()) == (1, 0)
        assert toa_clock.advance(1) == 1
        failure = Failure.objects.get()
        assert (failure.endpoint, failure.call.hex, failure.traceback) == (REPORT, identity, "")
        assert failure.error == "nobody made it for 10m: the operation was retired at 2026-01-05 12:00:00 UTC"
        assert Delay.objects.count() == 0
        assert toa_clock.advance("30d") == 0, "it fails once"
    assert report.CALLS == []
    line = History.objects.get(call=UUID(identity))
    assert (line.outcome, line.lateness_ms) == ("failed", RETIRED_MS)


def test_D8_what_was_due_before_its_operation_was_retired_waits_from_then_on(toa_clock):
    arm(interval=0)
    with deployed(without=REPORT):
        toa_clock.set(toa_clock.now + HOUR)
        sync()
        toa_clock.advance(RETIRED_MS - 1)
        assert Failure.objects.count() == 0, "another process may still have the operation"
        toa_clock.advance(1)
        assert Failure.objects.count() == 1


def test_D8_an_operation_that_comes_back_in_time_makes_its_calls(toa_clock):
    arm(interval=0)
    with deployed(without=REPORT):
        sync()
        toa_clock.advance(RETIRED_MS - 1)
    sync()
    toa_clock.run_until_idle()
    assert (len(report.CALLS), Delay.objects.count(), Failure.objects.count()) == (1, 0, 0)


def test_D8_an_endpoint_never_seen_is_kept_for_newer_code_and_shown(toa_clock):
    (call,) = store(toa_clock.now)
    toa_clock.advance(13 * DAY)
    assert Failure.objects.count() == 0
    (orphan,) = ORPHANS.found()
    assert (orphan.endpoint, orphan.kind.name, orphan.retired) == ("components.tallies.tomorrow", "delay", None)
    assert orphan.reason == "no code that runs here knows the operation"
    toa_clock.advance(DAY)
    failure = Failure.objects.get()
    assert (failure.call, failure.error) == (call.id, f"nobody made it for 14d: {orphan.reason}")
    assert ORPHANS.found() == []


def test_D8_newer_code_makes_what_older_code_beside_it_did_not_know(toa_clock):
    arm(interval=0)
    with deployed(without=REPORT):  # code from before the operation; no sync of it has run
        assert Component.objects.get(locator=TALLIES).operations["report"] == {"type": "effect"}
        toa_clock.advance(UNKNOWN_MS - 1)
        assert (report.CALLS, Delay.objects.count()) == ([], 1)
    toa_clock.run_until_idle()
    assert (len(report.CALLS), Failure.objects.count()) == (1, 0)


def test_D8_an_old_process_that_runs_a_retired_effect_keeps_it_as_long_as_it_renews(toa_clock):
    (call,) = store(toa_clock.now, endpoint=REPORT)
    with deployed(without=REPORT):
        sync()
        for _ in range(40):
            Delay.objects.update(token=UUID(int=1), wake_at=to_datetime(toa_clock.now + 30_000))
            toa_clock.advance(20_000)
        assert Failure.objects.count() == 0
        toa_clock.advance(10_000 + RETIRED_MS)
        assert Failure.objects.get().call == call.id


def test_D8_the_deliveries_of_a_retired_component_fail_and_a_retry_lets_them_go(toa_clock):
    tally = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa.call(f"{TALLIES}.add", {"by": 12}, id=tally)
    ledgers = Delivery.objects.filter(receiver="components.ledgers")
    assert ledgers.count() == 3
    with deployed(without="components.ledgers"):
        sync()
        assert Component.objects.get(locator="components.ledgers").retired_at is not None
        toa_clock.advance(RETIRED_MS)
        # Each has a failure of its own: none could have been made in its turn.
        assert Failure.objects.filter(source="delivery").count() == 3
        assert ledgers.filter(wake_at=None).count() == 3
        answers = {failures.retry(failure.id, "anna") for failure in Failure.objects.all()}
        assert answers == {"let go: the operation was removed"}
        assert (ledgers.count(), Failure.objects.count()) == (0, 0)
    assert Tally.objects.get().count == 12


@pytest.fixture
def heard(toa_clock):
    """A process that listens to a tally, with a deadline in a quarter of an hour and two events on their way."""
    identity = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    toa.call("components.claims.set", {"a": toa_clock.now + 15 * MINUTE}, id=identity)
    Claim.objects.update(log=[])
    for _ in range(2):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=identity)
    return identity


def test_D8_an_event_that_nobody_can_take_stops_its_process_as_any_failed_one_does(heard, toa_clock):
    with deployed(without=HEAR):
        sync()
        toa_clock.advance(RETIRED_MS - 1)
        assert Claim.objects.get().clock_state is None
        toa_clock.advance("30m")
        failure = Failure.objects.get(entity=f"components.claims:{heard}")
        assert (failure.endpoint, Claim.objects.get().clock_state) == (HEAR, "failed")
        assert Claim.objects.get().log == [], "its deadline parks"
        parked = Delivery.objects.get(receiver="components.claims", version=3)
        assert parked.wake_at is None, "what comes after it parks, and is no failure of its own"
    assert failures.retry(failure.id, "anna") == "tried again"
    toa_clock.run_until_idle()
    one = Claim.objects.get()
    assert (one.log, one.clock_state) == (["updated 1", "updated 2", "a"], None)
    assert not Delivery.objects.filter(receiver="components.claims").exists()


def test_D8_once_that_event_is_let_go_its_process_goes_on(heard, toa_clock):
    with deployed(without=HEAR):
        sync()
        toa_clock.advance("30m")
        for _ in range(2):
            failure = Failure.objects.get(entity=f"components.claims:{heard}")
            assert failures.retry(failure.id, "anna") == "let go: the operation was removed"
            toa_clock.run_until_idle()
        assert (Claim.objects.get().log, Claim.objects.get().clock_state) == (["a"], None)


@pytest.mark.parametrize("state", ["closed", "discarded"])
def test_D8_an_event_for_a_process_that_takes_none_any_more_is_refused_there_too(heard, toa_clock, state):
    Claim.objects.update(clock_state=state)
    with deployed(without=HEAR):
        sync()
        toa_clock.advance("30m")
    assert not Failure.objects.exists()
    codes = set(History.objects.filter(endpoint=HEAR, outcome="refused").values_list("code", flat=True))
    assert (codes, Claim.objects.get().clock_state) == ({state.upper()}, state)


def test_orphans_of_a_retired_operation_are_turned_into_failures_a_batch_at_a_time(toa_clock):
    store(toa_clock.now - UNKNOWN_MS, number=25)
    step = run_pass(Collected(), limit=10)
    assert (step.settled, step.full, Failure.objects.count()) == (10, True, 10)
    toa_clock.run_until_idle()
    assert (Delay.objects.count(), Failure.objects.count()) == (0, 25)


def test_of_an_orphan_only_its_failure_comes_due(toa_clock):
    store(toa_clock.now)
    toa_clock.advance(DAY)
    seen = horizon()
    assert (seen.due, seen.coming) == (None, toa_clock.now - DAY + UNKNOWN_MS)


class Wall(SystemClock):
    """A clock of a running process, at a moment that the test sets."""

    moment = 0

    def now(self):
        return self.moment

    def expression(self):
        return f"'{to_datetime(self.moment).isoformat()}'::timestamptz"


def test_a_running_process_looks_for_orphans_every_ten_seconds_and_each_second_while_some_fail():
    wall = Wall()
    wall.moment = start = 1_767_614_400_000
    with clock.use(wall):

        def failed_at(moment):
            wall.moment = moment
            store(moment - UNKNOWN_MS)
            ORPHANS.step(100, Collected())
            return Failure.objects.count()

        ORPHANS.step(100, Collected())
        assert failed_at(start + EVERY_MS - 1) == 0
        assert failed_at(start + EVERY_MS) == 2
        assert failed_at(start + EVERY_MS + BACKSTOP_MS - 1) == 2
        assert failed_at(start + EVERY_MS + BACKSTOP_MS) == 4
        assert failed_at(start) == 5, "a clock that was set back does not keep it waiting"


def test_finding_orphans_costs_a_few_probes_however_many_calls_are_stored(toa_clock):
    """Each endpoint is one descent of the claiming index, and a known one costs no more."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at,"
            " source, entity) SELECT gen_random_uuid(), (ARRAY[%s, 'a.b.c', 'x.y.z'])[1 + n %% 3], '{}',"
            " now() + n * interval '1 s', now() + n * interval '1 s', 0, 0, '{}', now(), 'delay', ''"
            " FROM generate_series(1, 60000) AS n",
            [REPORT],
        )
        cursor.execute("ANALYZE toa_delay")
        committed, leased = known_endpoints()
        assert [name for name, _ in endpoints.unknown(DELAYS.kind, committed + leased)] == ["a.b.c", "x.y.z"]
        with CaptureQueriesContext(connection) as sent:
            endpoints.unknown(DELAYS.kind, committed + leased)
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sent.captured_queries[0]['sql']}")
        plan = cursor.fetchone()[0]
    (top,) = json.loads(plan) if isinstance(plan, str) else plan
    looks = [node for node in nodes(top["Plan"]) if node.get("Relation Name") == "toa_delay"]
    assert {node["Index Name"] for node in looks} == {"toa_delay_claim"}
    # Three endpoints, and the end of the index.
    assert sum(node["Actual Loops"] for node in looks if node["Scan Direction"] == "Backward") == 4
    assert all(node["Actual Rows"] <= 1 and not node.get("Rows Removed by Filter") for node in looks)


def nodes(plan):
    """The nodes of a plan, at any depth."""
    return [plan, *(found for below in plan.get("Plans", ()) for found in nodes(below))]
