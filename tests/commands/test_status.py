"""`manage.py toa status`: who is alive, what is late, what needs a person; and an exit code for scripts."""

import re
from datetime import UTC, datetime, timedelta
from unittest import mock
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

import toa as api
from tests.commands.saying import toa
from tests.components.tallies.operations import report
from toa import tasks
from toa.cadence.passes import Collected, run_pass
from toa.cadence.processes import ALIVE_MS, Heartbeat
from toa.cadence.reports import backlog, health, status
from toa.core.clock import to_datetime
from toa.models import Delay, Delivery, Failure, History, Process, Pulse, Schedule
from toa.runtime import bindings

pytestmark = pytest.mark.django_db

TALLIES = "components.tallies"
REPORT = f"{TALLIES}.report"
HOUR = 3_600_000


@pytest.fixture(autouse=True)
def nothing_else(toa_clock):
    """No pulse and no schedule comes due on the way."""
    report.CALLS.clear()
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None)


def process(kind, seen_ms_ago=0, **values):
    """A process with a heartbeat, by the time of the machine, as heartbeats are."""
    seen = datetime.now(UTC) - timedelta(milliseconds=seen_ms_ago)
    return Process.objects.create(
        id=uuid4(), kind=kind, host="host", pid=7, started_at=seen - timedelta(hours=2), seen_at=seen, **values
    )


@pytest.fixture
def crew():
    """A beat and a worker of each kind."""
    process("beat")
    process("worker")
    process("worker", capacity=4)


def arm(interval=0, **input):
    return api.delay(REPORT, {"input": input}, interval=interval, overdue=None)


def test_all_is_well(crew):
    said = toa("status")
    assert said.code == 0
    assert said.text.startswith("All is well: 1 beat and 2 workers alive, nothing is late.\n")
    assert toa("status", "--json").data["health"] == "ok"


# -- O5 --------------------------------------------------------------------------------------------------------


def test_O5_without_anybody_it_is_down_and_says_what_to_start():
    said = toa("status")
    assert said.code == 2
    assert said.text.startswith("Down: no beat is alive, so nothing that comes due is seen; start `celery")
    assert "no worker is alive, so nothing is made; start `celery -A PROJECT worker" in said.text
    assert "manage.py toa run" in said.text
    data = toa("status", "--json").data
    assert (data["health"], [one["health"] for one in data["problems"]]) == ("down", ["down", "down"])


@pytest.mark.parametrize(
    ("kinds", "code", "says"),
    [
        (["beat"], 2, "no worker is alive"),
        (["worker"], 2, "no beat is alive"),
        (["run"], 0, "1 `toa run` alive"),
        (["tick", "worker"], 0, "ticks come from another scheduler, 1 worker alive"),
        (["tick"], 2, "no worker is alive"),
        (["beat", "beat", "worker"], 0, "2 beats and 1 worker alive"),
        (["beat", "worker", "run"], 0, "1 beat and 1 worker and 1 `toa run` alive"),
    ],
)
def test_O5_it_takes_somebody_to_look_and_somebody_to_make(kinds, code, says):
    for kind in kinds:
        process(kind, capacity=0 if kind == "beat" else 2)
    said = toa("status")
    assert (said.code, says in said.text) == (code, True)


def test_O5_each_tick_is_a_sign_of_life_of_whoever_sends_it(toa_clock, monkeypatch):
    monkeypatch.setattr(tasks, "serve", lambda: None)
    monkeypatch.setattr(tasks, "_ticks", Heartbeat("tick"))
    process("worker", capacity=4)
    assert toa("status").code == 2
    tasks.tick()
    assert toa("status").code == 0
    assert toa("status", "--json").data["ticked"] is True


def test_O5_a_heartbeat_that_stopped_is_nobody():
    process("beat", seen_ms_ago=ALIVE_MS + 1000)
    process("worker", capacity=4)
    assert toa("status").code == 2


def test_O5_workers_that_take_no_effects_are_not_enough():
    process("beat")
    process("worker", capacity=0)
    said = toa("status")
    assert (said.code, "no worker takes the queue toa.calls" in said.text) == (1, True)


@pytest.mark.parametrize(("skew", "code"), [(900, 0), (-1500, 1), (6000, 1)])
def test_a_clock_that_is_off_is_told(crew, skew, code):
    process("worker", capacity=1, skew_ms=skew)
    said = toa("status")
    assert said.code == code
    assert ("stands down" in said.text) is (skew > 5000)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (1, "1 call failed and waits for a decision;"),
        (backlog.CEILING, "1,000 calls failed and wait for a decision;"),
        (backlog.CEILING + 1, "1,000+ calls failed and wait for a decision;"),
    ],
)
def test_failures_are_counted_up_to_a_ceiling(crew, toa_clock, number, says):
    now = to_datetime(toa_clock.now)
    Failure.objects.bulk_create(
        Failure(call=uuid4(), source="delay", endpoint=REPORT, request={}, row={}, attempts=1, due_at=now, at=now)
        for _ in range(number)
    )
    assert toa("status").text.startswith(f"Degraded: {says}")


def test_O5_a_database_that_cannot_be_reached_is_down():
    with mock.patch("toa.management.verbs.status.read", side_effect=OperationalError("connection\n  refused")):
        said = toa("status")
        assert (said.code, said.text) == (2, "Down: the database cannot be reached: connection refused\n")
        assert toa("status", "--json").data["health"] == "down"


# -- O1 --------------------------------------------------------------------------------------------------------


@pytest.fixture
def trouble(toa_clock, crew, monkeypatch):
    """Something of everything: overdue, running, to come, failed, parked, refused, expired, skipped, unknown."""

    def broken(input, entry, context):
        raise ValueError("broken")

    tally = api.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    monkeypatch.setattr(bindings.operation("components.ledgers.note"), "function", broken)
    for _ in range(3):
        api.call(f"{TALLIES}.add", {"by": 1}, id=tally)
    toa_clock.run_until_idle()
    arm(fail=99)
    api.delay(REPORT, {"input": {}}, interval="30m", overdue=0)
    api.delay(f"{TALLIES}.add", {"query": {"id": tally}, "input": {"by": 1001}}, interval="1m", overdue=None)
    toa_clock.advance("2m")
    toa_clock.set(toa_clock.now + HOUR)
    toa_clock.run_until_idle()
    for interval in (0, 0, 0, "30m", "59m", "2h"):
        arm(interval)
    running = Delay.objects.filter(due_at=to_datetime(toa_clock.now)).first()
    Delay.objects.filter(id=running.id).update(token=uuid4(), wake_at=to_datetime(toa_clock.now + 90_000))
    moment = to_datetime(toa_clock.now)
    for _ in range(2):
        Delay.objects.create(endpoint="un.known.one", request={}, due_at=moment, wake_at=moment, created_at=moment)
    toa_clock.set(toa_clock.now + 70_000)


def test_O1_the_counts_of_status_agree_with_the_lists_and_the_tables(trouble, toa_clock):
    data = toa("status", "--json").data
    delays, deliveries = data["sources"]["delay"], data["sources"]["delivery"]
    overdue = toa("delays", "list", "--overdue", "--endpoint", REPORT, "--json").data["delays"]
    assert delays["waiting"] == {"number": len(overdue), "more": False} == {"number": 2, "more": False}
    assert delays["lateness_ms"] == max(one["lateness_ms"] for one in overdue) == 70_000
    assert delays["running"]["number"] == Delay.objects.exclude(token=None).count() == 1
    assert delays["within_hour"]["number"] == 2
    listed = toa("failures", "list", "--json").data["failures"]
    assert data["failures"]["number"] == len(listed) == Failure.objects.count() == 2
    assert data["oldest_failure"] == listed[0]["at"]
    assert deliveries["parked"]["number"] == Delivery.objects.count() == 3, "one failed, and two are behind it"
    assert (deliveries["waiting"]["number"], deliveries["late_since"]) == (0, None)
    (unknown,) = data["orphans"]
    assert (unknown["endpoint"], unknown["calls"]["number"]) == ("un.known.one", 2)
    assert len(toa("delays", "list", "--overdue", "--json").data["delays"]) == 4
    settled = History.objects.exclude(source="delivery").values_list("outcome", flat=True)
    assert sorted(settled) == ["expired", "failed", "refused"], "what was settled is in the history, with its outcome"


def test_O1_each_kind_of_trouble_is_a_problem_with_what_to_do(trouble):
    said = toa("status")
    assert said.code == 1
    assert "delays are late: 2 calls due, the oldest waits for 1m10s" in said.text
    assert "2 calls failed and wait for a decision (3 calls parked); look at `manage.py toa failures list`" in said.text
    assert "2 calls of un.known.one that nobody can make: no code that runs here knows the operation" in said.text
    assert said.text.count("\n- ") == 2, "the worst stands in the sentence at the top"


def test_what_is_late_for_less_than_a_minute_is_no_problem(crew, toa_clock):
    arm()
    toa_clock.set(toa_clock.now + health.LATE_MS - 1)
    assert toa("status").code == 0
    toa_clock.set(toa_clock.now + 1)
    assert toa("status").code == 1


def test_a_call_in_back_off_is_not_late(crew, toa_clock):
    arm(fail=99)
    toa_clock.run_until_idle()
    toa_clock.set(toa_clock.now + 10 * HOUR)
    Delay.objects.update(wake_at=to_datetime(toa_clock.now))
    assert toa("status").code == 0, "its next try has just come due"


def test_an_effect_that_was_handed_out_and_that_nobody_takes_is_late(crew, toa_clock):
    arm()
    for _ in range(70):
        run_pass(Collected())
        toa_clock.set(toa_clock.now + 1000)
    assert toa("status", "--json").data["sources"]["delay"]["lateness_ms"] == 70_000


def test_what_is_paused_is_named_and_no_problem(crew, toa_clock):
    Pulse.objects.filter(endpoint="components.beacons.ping").update(paused_at=to_datetime(toa_clock.now))
    said = toa("status")
    assert (said.code, "paused: components.beacons.ping\n" in said.text) == (0, True)


# -- bounds ----------------------------------------------------------------------------------------------------


def test_counts_end_at_their_ceiling(crew, toa_clock, monkeypatch):
    monkeypatch.setattr(backlog, "CEILING", 5)
    for _ in range(4):
        arm()
    assert toa("status", "--json").data["sources"]["delay"]["waiting"] == {"number": 4, "more": False}
    for _ in range(4):
        arm()
    assert toa("status", "--json").data["sources"]["delay"]["waiting"] == {"number": 5, "more": True}
    assert "5+" in toa("status").text


def test_no_count_walks_over_the_calls_that_are_far_ahead(crew):
    """However many calls are pending: each statement reads its own end of the index, and filters nothing away."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO toa_delay (id, endpoint, request, due_at, wake_at, attempt, strikes, chain, created_at,"
            " source, entity) SELECT gen_random_uuid(), %s, '{}', at, at, 0, 0, '{}', at, 'delay', ''"
            " FROM generate_series(1, 50000) AS n,"
            " LATERAL (SELECT '2026-02-05T12:00:00Z'::timestamptz + n * interval '1 s' AS at) AS moment",
            [REPORT],
        )
        cursor.execute("ANALYZE toa_delay")
        with CaptureQueriesContext(connection) as sent:
            status.read()
        looks = [one["sql"] for one in sent.captured_queries if "toa_delay" in one["sql"]]
        assert len(looks) > 5
        for sql in looks:
            cursor.execute(f"EXPLAIN (ANALYZE) {sql}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan on toa_delay" not in plan, plan
            rows = [
                float(found) for found in re.findall(r"(?:actual time=\S+ rows=|Removed by Filter: )([\d.]+)", plan)
            ]
            assert max(rows) <= len(bindings.endpoints()), plan
