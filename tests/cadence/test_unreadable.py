"""Moments that only SQL can write, such as infinity: they break nothing for others, and are told of."""

from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

import toa
from tests.commands.saying import toa as said
from tests.components.claims.models import Claim
from toa.cadence.reports.pending import pending
from toa.cadence.sources import horizon
from toa.core.clock import to_datetime
from toa.models import Failure, Pulse, Schedule

pytestmark = pytest.mark.django_db

CLAIMS = "components.claims"
HOUR = 3_600_000


@pytest.fixture(autouse=True)
def nothing_else(toa_clock):
    """Nothing but deadlines comes due."""
    for model in (Pulse, Schedule):
        model.objects.update(wake_at=None, paused_at=to_datetime(toa_clock.now))


@pytest.fixture
def claims(toa_clock):
    """Two processes that are due in an hour: the first is what a test does something to."""
    ids = [uuid4().hex for _ in range(2)]
    for identity in ids:
        toa.call(f"{CLAIMS}.set", {"a": toa_clock.now + HOUR}, id=identity)
    return ids


def change(identity, assignment):
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE components_claims_claim SET {assignment} WHERE id = %s", [identity])


def log(identity):
    return Claim.objects.values_list("log", flat=True).get(id=identity)


@pytest.mark.parametrize("value", ["'-infinity'", "'0044-03-15 BC'"])
def test_a_deadline_before_all_time_is_left_out_and_told_of(claims, toa_clock, value):
    change(claims[0], f"a = {value}")
    assert horizon().next == toa_clock.now + HOUR
    assert [one.id for one in pending(component=CLAIMS).deadlines] == [claims[1]]
    toa_clock.advance("2h")
    assert [log(identity) for identity in claims] == [["set"], ["set", "a"]]
    what = "1 row of components.claims has a moment before the year 1, as -infinity is: nothing of it comes due"
    assert what in said("status").text
    out = StringIO()
    call_command("check", databases=["default"], stdout=out, stderr=out)
    assert f"{what}" in out.getvalue()
    change(claims[0], f"a = '{to_datetime(toa_clock.now).isoformat()}'")
    toa_clock.run_until_idle()
    assert log(claims[0]) == ["set", "a"]


@pytest.mark.parametrize("value", ["'infinity'", "'20000-01-01'"])
def test_a_deadline_after_all_time_never_comes(claims, toa_clock, value):
    change(claims[0], f"a = {value}, timeout_at = NULL")
    assert horizon().next == toa_clock.now + HOUR
    toa_clock.advance("2h")
    assert [log(identity) for identity in claims] == [["set"], ["set", "a"]]
    assert horizon().next == toa_clock.now + 7 * 24 * HOUR - 2 * HOUR, "the time-out of the second"


@pytest.mark.parametrize("value", ["'infinity'", "'-infinity'"])
def test_an_instance_held_without_end_or_start_holds_up_nobody(claims, toa_clock, value):
    change(claims[0], f"held_at = {value}")
    toa_clock.advance("2h")
    assert [log(identity) for identity in claims] == [["set"], ["set", "a"]]


def test_beside_an_infinite_one_the_other_deadlines_of_an_instance_come_due(claims, toa_clock):
    change(claims[0], "b = 'infinity'")
    toa_clock.advance("2h")
    assert (log(claims[0]), Failure.objects.count()) == (["set", "a"], 0)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("toa_delay", "wake_at"),
        ("toa_delay", "due_at"),
        ("toa_delivery", "created_at"),
        ("toa_pulse", "wake_at"),
        ("toa_schedule", "due_at"),
    ],
)
def test_stored_work_cannot_have_one(toa_clock, table, column):
    toa.delay("components.tallies.report", {"input": {}}, interval="1h", overdue=None)
    toa.call("components.tallies.create", {"name": "first"})
    with connection.cursor() as cursor:
        for value in ("infinity", "-infinity", "20000-01-01", "0044-03-15 BC"):
            with pytest.raises(IntegrityError, match=f"{table}_readable"), transaction.atomic():
                cursor.execute(f"UPDATE {table} SET {column} = %s", [value])
