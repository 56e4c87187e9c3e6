"""Why something will, did or did not happen to one object, as an operator reads it."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

import toa
from tests.commands.saying import toa as toa_command
from tests.components.beacons.models import Beacon
from tests.components.claims.operations import at_a
from toa.cadence.actions import operating
from toa.cadence.actions.failures import discard, parked_behind
from toa.cadence.explaining.gathering import explain
from toa.cadence.explaining.telling import tell
from toa.core.clock import to_datetime
from toa.models import Delay, Delivery, Failure, Process, Pulse

pytestmark = pytest.mark.django_db

CLAIMS = "components.claims"
BEACONS = "components.beacons"
TALLIES = "components.tallies"
HOUR = 3_600_000


@pytest.fixture(autouse=True)
def fresh():
    at_a.TRIES.clear()


@pytest.fixture
def claim(toa_clock):
    """The id of a process, and of the tally it listens to; nothing but deadlines comes due."""
    Pulse.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))
    identity = toa.call(f"{TALLIES}.create", {"name": "first"})["id"]
    toa_clock.run_until_idle()
    return identity


@pytest.fixture
def beacon(toa_clock):
    """A row that a declared sweep lapses, two and a half hours after the start."""
    return toa.call(f"{BEACONS}.create", {"until": toa_clock.now + 5 * HOUR // 2})["id"]


def put(identity, **values):
    toa.call(f"{CLAIMS}.set", values, id=identity)


def said(component, identity):
    return "\n".join(tell(explain(component, identity)))


def run(*arguments):
    out = StringIO()
    try:
        call_command("toa", "explain", *arguments, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), ended.code
    return out.getvalue(), 0


def test_O2_not_due_yet_and_who_set_it(claim, toa_clock):
    moment = toa_clock.now + HOUR
    put(claim, a=moment)
    text = said(CLAIMS, claim)
    assert "a is not due yet: 2026-01-05 13:00:00 UTC, in 1h, for components.claims.at_a; set by" in text
    assert "components.claims.set (version 2, called by" in text
    assert "timeout is not due yet: 2026-01-12 12:00:00 UTC, in 7d" in text
    facts = explain(CLAIMS, claim)
    assert {one.property: one.value for one in facts.moments} | {"timeout": 0} == {
        "a": moment,
        "b": None,
        "chain": None,
        "timeout": 0,
    }


def test_O2_a_stored_call_that_is_not_due_yet(claim, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h"}, id=claim)
    toa.delay(f"{TALLIES}.add", {"query": {"id": claim}, "input": {"by": 2}}, interval="2h", overdue=None)
    own, other = Delay.objects.order_by("due_at")
    text = said(TALLIES, claim)
    assert f"It armed a call of components.tallies.add (delay {own.id.hex}), not due yet: 2026-01-05 13:00:00" in text
    assert f"is aimed at it, components.tallies.add (delay {other.id.hex}), not due yet: 2026-01-05 14:00:00" in text


def test_O2_calls_aimed_at_another_object_are_not_told_of(claim, toa_clock):
    other = toa.call(f"{TALLIES}.create", {"name": "other"})["id"]
    toa.delay(f"{TALLIES}.add", {"query": {"id": other}, "input": {"by": 2}}, interval="2h", overdue=None)
    assert explain(TALLIES, claim).armed == ()
    assert len(explain(TALLIES, other).armed) == 1


def test_O2_a_call_between_two_tries_and_what_the_last_one_ended_in(claim, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h"}, id=claim)
    again = to_datetime(toa_clock.now + HOUR + 2_000)
    toa_clock.set(toa_clock.now + HOUR)
    Delay.objects.update(attempt=1, error="OSError: no route", wake_at=again)
    assert "due: 2026-01-05 13:00:00 UTC, now; tried again" in said(TALLIES, claim)
    assert "after 1 attempt, the last of which ended in OSError: no route." in said(TALLIES, claim)


def test_O2_a_sweep_whose_criteria_it_does_not_fit_yet(beacon, toa_clock):
    text = said(BEACONS, beacon)
    assert "until is not due yet: 2026-01-05 14:30:00 UTC" in text
    assert "as it will from 2026-01-05 14:30:00.001 UTC" in text
    assert "it comes 2026-01-05 16:00:00 UTC" in text, "the first boundary from then on, not the next one at 14:00"
    toa_clock.set(toa_clock.now + 3 * HOUR)
    assert "as it does; it comes" in said(BEACONS, beacon)
    Beacon.objects.update(open=False)
    assert "which it does not" in said(BEACONS, beacon)


def test_O2_cleared_by_whom_and_when(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR)
    toa_clock.advance("10m")
    put(claim, a=None)
    toa_clock.advance("2h")
    text = said(CLAIMS, claim)
    assert "a is not set: nothing is due; cleared by components.claims.set (version 3, called by" in text
    assert "2026-01-05 12:10:00 UTC, 2h ago)" in text


def test_O2_moved_and_reached_are_in_its_history(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR)
    put(claim, a=toa_clock.now + 2 * HOUR)
    assert "; moved by components.claims.set (version 3" in said(CLAIMS, claim)
    toa_clock.advance("3h")
    text = said(CLAIMS, claim)
    assert "cleared by components.claims.at_a (version 4, called by the deadline a" in text
    assert "components.claims.at_a by the deadline a: a was reached, a was cleared" in text
    assert "a was moved to 2026-01-05 14:00:00 UTC" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [("NULL", "it was cleared beside"), ("a - interval '1 minute'", "it was set beside")],
)
def test_O2_changed_beside_operations(claim, toa_clock, change, words):
    put(claim, a=toa_clock.now + HOUR)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE components_claims_claim SET a = {change}")
    text = said(CLAIMS, claim)
    assert f"{words} operations, after components.claims.set (version 2" in text
    assert "left it 2026-01-05 13:00:00 UTC" in text


def test_O2_paused(beacon, toa_clock):
    operating.pause(Pulse.objects.get(endpoint=f"{BEACONS}.lapse"), by="ann")
    toa_clock.advance("3h")
    text = said(BEACONS, beacon)
    assert (
        "The pulse components.beacons.lapse is paused by ann since 2026-01-05 12:00:00 UTC, 3h ago; it sweeps" in text
    )
    assert "as it does." in text


def test_O2_failed_and_parked_behind_what(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="broken")
    toa_clock.run_until_idle()
    toa.call(f"{TALLIES}.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    failure = Failure.objects.get()
    text = said(CLAIMS, claim)
    assert f"components.claims.at_a: ValueError: broken (failure {failure.id.hex})." in text
    assert "Its process has failed" in text
    behind = f"is parked behind the failure {failure.id.hex} of the process it goes to: ValueError: broken."
    assert behind in text
    assert behind in said(TALLIES, claim), "and so it says on the side that raised it"
    assert (
        "a is set to 2026-01-05 12:00:00 UTC, now, for components.claims.at_a, and is parked with its process" in text
    )
    assert "components.claims.at_a, a deadline due 2026-01-05 12:00:00 UTC, now, failed: ValueError" in text
    assert parked_behind(failure) == 1


def test_O2_a_failed_event_and_the_one_behind_it_seen_from_both_sides(claim, toa_clock):
    put(claim, mode="deaf")
    for _ in range(2):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=claim)
        toa_clock.run_until_idle()
    failure = Failure.objects.get()
    behind = (
        "is parked behind components.tallies.updated at version 2, which goes first to components.claims.hear,"
        f" and failed: ValueError: deaf (failure {failure.id.hex})."
    )
    assert behind in said(CLAIMS, claim)
    assert behind in said(TALLIES, claim)
    assert "raised by it, on its way (components.claims.hear)" in said(TALLIES, claim)


def test_O2_an_event_for_code_that_is_not_there_and_what_waits_behind_it(claim, toa_clock):
    toa.call(f"{TALLIES}.add", {"by": 1}, id=claim)
    Delivery.objects.filter(endpoint=f"{CLAIMS}.hear").update(endpoint=f"{CLAIMS}.listen")
    toa.call(f"{TALLIES}.add", {"by": 1}, id=claim)
    toa_clock.run_until_idle()
    reason = "no code that runs here knows the operation"
    text = said(CLAIMS, claim)
    assert (
        f"on its way to it (components.claims.listen), is made by nobody: {reason}; it waits for code that does,"
        " and fails 2026-01-19 12:00:00 UTC, in 14d."
    ) in text
    assert (
        "waits behind components.tallies.updated at version 2, which goes first to components.claims.listen,"
        f" and {reason}."
    ) in text
    status = toa_command("status").text
    assert (
        "1 call of components.claims.listen that nobody can make (1 later event of the same objects waits behind):"
        f" {reason}; deploy code that has it, or leave them to fail in 14d"
    ) in status


def test_O2_a_stored_call_for_code_that_is_not_there(claim, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h"}, id=claim)
    Delay.objects.update(endpoint=f"{TALLIES}.grow")
    (line,) = [one for one in tell(explain(TALLIES, claim)) if "grow" in one]
    assert line.endswith(
        "due 2026-01-05 13:00:00 UTC, in 1h: no code that runs here knows the operation; it waits for code that does,"
        " and fails 2026-01-19 13:00:00 UTC, in 14d1h."
    )


def test_O2_held_for_another_try(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="flaky")
    toa_clock.run_until_idle()
    assert "It is held until" in said(CLAIMS, claim)
    assert "a is tried again after attempt 1: Transient: not yet." in said(CLAIMS, claim)


def test_O2_discarded(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="broken")
    toa_clock.run_until_idle()
    discard(Failure.objects.get().id, by="ann")
    assert "Its failure was discarded: nothing runs by itself for it any more." in said(CLAIMS, claim)


def test_O2_closed(claim, toa_clock):
    put(claim, close=True)
    assert "Its process is closed" in said(CLAIMS, claim)


def test_O2_expired(claim, toa_clock):
    toa.call(f"{TALLIES}.arm", {"interval": "1h", "overdue": 0}, id=claim)
    toa_clock.set(toa_clock.now + 2 * HOUR)
    toa_clock.run_until_idle()
    text = said(TALLIES, claim)
    assert "components.tallies.add, a delay due 2026-01-05 13:00:00 UTC, 1h ago, was expired: overdue" in text


def test_O2_nobody_running(claim, toa_clock):
    assert not explain(CLAIMS, claim).alive.anybody
    second = said(CLAIMS, claim).splitlines()[1]
    assert second.startswith("Nobody is running what comes due: no beat and no worker alive."), "it explains the rest"
    _process("beat")
    assert "Nobody is running what comes due: only 1 beat alive." in said(CLAIMS, claim)
    _process("worker")
    assert "Running: 1 beat, 1 worker." in said(CLAIMS, claim)
    Process.objects.all().delete()
    _process("run")
    assert "Running: 1 toa run." in said(CLAIMS, claim)


def test_O2_ticks_of_another_scheduler_are_a_sign_of_life(claim):
    _process("tick")
    assert not explain(CLAIMS, claim).alive.anybody, "a tick was handled, and no worker is left"
    _process("worker")
    assert said(CLAIMS, claim).endswith("Running: 1 worker; ticks come from another scheduler.")
    _process("beat")
    assert said(CLAIMS, claim).endswith("Running: 1 beat, 1 worker.")


def test_O2_it_names_the_components_that_keep_the_same_object(claim, toa_clock):
    assert f"components.claims keeps an object of the same id: see toa explain components.claims {claim}." in said(
        TALLIES, claim
    )


def test_O2_an_object_that_does_not_exist(toa_clock):
    text, code = run(TALLIES, uuid4().hex)
    assert (code, "does not exist" in text) == (1, True)


def test_the_command_says_the_same_as_text_and_as_json(claim, toa_clock):
    put(claim, a=toa_clock.now + HOUR)
    text, code = run(CLAIMS, claim)
    document = json.loads(run(CLAIMS, claim, "--json")[0])
    assert code == 0
    assert text.splitlines() == document["sentences"]
    assert document["moments"][0] | {"last": None} == {
        "property": "a",
        "value": toa_clock.now + HOUR,
        "transition": "components.claims.at_a",
        "last": None,
        "outside": False,
    }


@pytest.mark.parametrize("arguments", [("components.claim", "x"), ("components.tallies", "not-an-id")])
def test_the_command_refuses_what_cannot_be(arguments, toa_clock):
    with pytest.raises(CommandError):
        run(*arguments)


def test_the_queries_are_as_many_whatever_waits(claim, toa_clock):
    put(claim, a=toa_clock.now, mode="broken")
    toa_clock.run_until_idle()
    _add(claim, 3)
    with CaptureQueriesContext(
        connection,
    ) as few:
        explain(TALLIES, claim)
    _add(claim, 60)
    assert Delivery.objects.count() > 60
    with CaptureQueriesContext(connection) as many:
        explain(TALLIES, claim)
    assert len(many) == len(few)


def _add(claim, number):
    for _ in range(number):
        toa.call(f"{TALLIES}.add", {"by": 1}, id=claim)


def _process(kind):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO toa_process (id, kind, host, pid, started_at, seen_at, capacity, skew_ms, running)"
            " VALUES (%s, %s, 'here', 1, now(), statement_timestamp(), 1, 0, '{}')",
            [uuid4(), kind],
        )
