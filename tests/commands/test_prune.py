"""`manage.py toa prune`: what was settled long ago goes, in bounded steps; pending and failed never."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext

import toa as api
from tests.commands.saying import toa
from toa import tasks
from toa.cadence import upkeep as upkeeping
from toa.cadence.actions import pruning
from toa.cadence.actions.pruning import STEP, prune
from toa.cadence.upkeep import EVERY_S, PAUSE_S, Upkeep
from toa.core.clock import to_datetime
from toa.models import Delay, Failure, History, Lock, Once

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def now(toa_clock):
    return to_datetime(toa_clock.now)


def settled(at, number=1, call=None):
    rows = [
        History(call=call or uuid4(), source="delay", endpoint="a.b.c", outcome="made", due_at=at, at=at, lateness_ms=0)
        for _ in range(number)
    ]
    return History.objects.bulk_create(rows)


def test_O7_what_is_kept_for_longer_than_there_is_time_is_kept(now):
    settled(now - 30 * DAY)
    assert toa("prune", "--days", 10**12, "--json").data["history"] == 0
    assert History.objects.count() == 1


def test_O7_history_older_than_its_retention_goes_and_younger_stays(now, settings):
    settings.TOA = {**settings.TOA, "HISTORY_DAYS": 30}
    settled(now - 31 * DAY, number=3)
    settled(now - 30 * DAY - timedelta(milliseconds=1))
    kept = settled(now - 30 * DAY) + settled(now - DAY)
    assert toa("prune", "--json").data == {"history": 4, "revisions": 0, "once": 0, "locks": 0, "runs": 0}
    assert set(History.objects.values_list("id", flat=True)) == {one.id for one in kept}
    assert toa("prune").text == "history 0, revisions 0, once 0, locks 0, runs 0\n"
    assert toa("prune", "--days", 7, "--json").data["history"] == 1


def test_O7_pending_and_failed_never_go_nor_the_history_of_a_failure_that_waits(now, toa_clock):
    pending = api.delay("components.tallies.report", {"input": {}}, at=toa_clock.now, overdue=None)
    old = now - 400 * DAY
    Delay.objects.update(due_at=old, wake_at=old, created_at=old)
    failing = uuid4()
    failure = Failure.objects.create(
        call=failing, source="delay", endpoint="a.b.c", error="no", attempts=3, due_at=old, at=old, row={}
    )
    settled(old, call=failing)
    settled(old)
    assert toa("prune", "--json").data["history"] == 1
    assert Delay.objects.get().id == UUID(pending)
    assert (Failure.objects.count(), History.objects.get().call) == (1, failing)
    failure.delete()
    assert toa("prune", "--json").data["history"] == 1


def test_O7_it_goes_in_bounded_steps(now):
    settled(now - 90 * DAY, number=250)
    settled(now - 80 * DAY, number=5)
    with CaptureQueriesContext(connection) as sent:
        steps = list(prune(30, step=100))
    assert [step.rows for step in steps] == [100, 100, 55]
    deletes = [one["sql"] for one in sent.captured_queries if "DELETE FROM toa_history" in one["sql"]]
    assert len(deletes) == 3
    assert all("LIMIT 100" in sql for sql in deletes)
    assert STEP == 1000
    assert History.objects.count() == 0


def test_O7_a_step_is_served_by_the_index_and_begins_behind_the_one_before(now):
    settled(now - 90 * DAY, number=300)
    settled(now, number=3000)
    with CaptureQueriesContext(connection) as sent:
        list(prune(30, step=200))
    statements = [one["sql"] for one in sent.captured_queries if "DELETE FROM toa_history" in one["sql"]]
    assert "d.at >= '-infinity'" in statements[0]
    assert f"d.at >= '{now - 90 * DAY:%Y-%m-%d}" in statements[1]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE toa_history")
        cursor.execute(f"EXPLAIN {statements[0]}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Scan using toa_history_at" in plan, plan


def test_remembered_replies_go_when_their_time_is_over_whatever_the_retention(now):
    for name, expires in (("a", now - timedelta(milliseconds=1)), ("b", now), ("c", now + DAY)):
        Once.objects.create(digest=name, endpoint="a.b.c", fingerprint="f", reply=None, expires_at=expires)
    assert toa("prune", "--json").data["once"] == 1
    assert set(Once.objects.values_list("digest", flat=True)) == {"b", "c"}


def test_locks_of_processes_that_died_go_with_the_history(now):
    for key, until in (("old", now - 31 * DAY), ("lapsed", now - DAY), ("held", now + DAY)):
        Lock.objects.create(key=key, token=uuid4(), holder="a.b.c", taken_at=until - DAY, until=until)
    assert toa("prune", "--json").data["locks"] == 1
    assert set(Lock.objects.values_list("key", flat=True)) == {"lapsed", "held"}


@pytest.mark.parametrize("days", [0, -1, 1.5, "30", None, True])
def test_a_retention_that_is_no_number_of_days_is_refused(now, settings, days):
    settings.TOA = {**settings.TOA, "HISTORY_DAYS": days}
    settled(now - 900 * DAY)
    with pytest.raises(ImproperlyConfigured, match="HISTORY_DAYS"):
        toa("prune")
    assert History.objects.count() == 1


def test_O7_serving_processes_prune_by_themselves_a_small_step_at_a_time(now, settings):
    settled(now - 31 * DAY, number=upkeeping.STEP + 10)
    settled(now - DAY)
    moment = [0.0]
    upkeep = Upkeep(lambda: moment[0])

    def left(after):
        moment[0] += after
        upkeep.turn()
        return History.objects.count()

    assert [left(0.0), left(PAUSE_S / 2), left(PAUSE_S / 2)] == [11, 11, 1]
    settled(now - 31 * DAY)
    assert [left(PAUSE_S), left(EVERY_S - 0.5), left(0.5)] == [2, 2, 1]
    settings.TOA = {**settings.TOA, "HISTORY_DAYS": 0}
    settled(now - 900 * DAY)
    assert left(EVERY_S) == 2, "kept for ever"


def test_O7_each_tick_is_a_turn_of_it(now, monkeypatch):
    monkeypatch.setattr(tasks, "serve", lambda: None)
    monkeypatch.setattr(tasks, "_upkeep", Upkeep())
    settled(now - 31 * DAY)
    tasks.tick()
    assert History.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_O7_what_the_database_refuses_is_left_for_later(now, monkeypatch):
    moment = [0.0]
    upkeep = Upkeep(lambda: moment[0])
    settled(now - 31 * DAY)
    with monkeypatch.context() as patch:
        patch.setattr(pruning, "_HISTORY", "SELECT 1 / 0, %s, %s, %s")
        upkeep.turn()
    moment[0] += EVERY_S
    upkeep.turn()
    assert History.objects.count() == 0
